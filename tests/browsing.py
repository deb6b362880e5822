"""A real browser for tests: Debian's Chromium, driven by playwright; skipped where there is none."""

import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
)
MARKS = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
ACCESSIBILITY = Path(__file__).with_name("accessibility.js").read_text(encoding="utf-8")


@contextmanager
def chromium():
    """Start a browser."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield opened
        opened.close()


@contextmanager
def tab(browser, address, *, width=1300, height=900, wait="html", **how):
    """Open an address, and at the end refuse whatever the page complained about or asked others for."""
    context = browser.new_context(viewport={"width": width, "height": height}, accept_downloads=True, **how)
    page, said = context.new_page(), []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: (said.append(f"dialog {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda request: said.append(request.url) if _leaves(request.url) else None)
    page.goto(address)
    page.wait_for_selector(wait)
    yield page
    context.close()
    assert said == []


def _leaves(url):
    return not url.startswith(("file:", "data:", "blob:", "http://127.0.0.1:"))


def faults(page):
    """Return what keeps people from this page."""
    return page.evaluate(ACCESSIBILITY)
