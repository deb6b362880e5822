"""The documentation as a site: pages that are made, links that are checked, how it opens from a folder."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SITE = ROOT / "site"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
PHONE = {"width": 390, "height": 844}


def script(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def pages():
    pytest.importorskip("mkdocs")
    return script(ROOT / "docs" / "pages.py")


def test_links_that_lead_nowhere_and_requests_are_found(tmp_path):
    good = '<h1 id="top">A</h1><a href="b.html#there"></a><a href="https://a.org"></a><a href="#top"></a>'
    (tmp_path / "a.html").write_text(good)
    (tmp_path / "b.html").write_text('<p id="there">B</p>')
    assert script(ROOT / "tools" / "links.py").faults(tmp_path) == []
    bad = '<a href="none.html"></a><a href="a.html#none"></a><img src="//example.org/x.png"><img src="x.png">'
    (tmp_path / "b.html").write_text(f'<p id="there">{bad}</p>')
    found = script(ROOT / "tools" / "links.py").faults(tmp_path)
    assert [line.partition(": ")[2] for line in found] == [
        "fetches //example.org/x.png",
        "no file for none.html",
        "no heading for a.html#none",
        "no file for x.png",
    ]
    tool = [sys.executable, str(ROOT / "tools" / "links.py"), str(tmp_path)]
    done = subprocess.run(tool, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.endswith("4 faults\n")


def test_a_notebook_becomes_a_page_with_its_output_and_pictures(pages):
    cells = [
        {"cell_type": "markdown", "source": ["# A title\n", "\n", "Words."]},
        {
            "cell_type": "code",
            "source": ["!unmix --version"],
            "outputs": [{"output_type": "stream", "text": ["0.2.0\n"]}, {"data": {"image/png": "AAAA"}}],
        },
    ]
    (picture, content), (name, page) = pages.tutorial("01_x", {"cells": cells})
    assert (picture, content) == ("01_x-1-1.png", b"\0\0\0") and name == "01_x.md"
    assert page.startswith('# A title\n\n<p class="notebook"><a href="01_x.ipynb" download>')
    assert "```bash\nunmix --version\n```" in page and "``` { .text .output }\n0.2.0\n```" in page
    assert page.endswith(f"]({picture})")


def test_names_become_pages_of_their_own_that_differ_without_capitals(pages):
    text = "# A\n\nWords.\n\n::: unmix.metrics.dci\n\n::: unmix.metrics.DCI\n    options:\n      x: 1\n"
    made = dict(pages.named_pages("metrics", text))
    assert set(made) == {"dci", "DCI-class"}
    assert made["DCI-class"].endswith(
        "::: unmix.metrics.DCI\n    options:\n      x: 1\n      heading_level: 1\n"
    )
    listed = pages.listed("metrics", text)
    assert ":::" not in listed and "| [`DCI`](metrics/DCI-class.md) |" in listed
    assert "Words.\n\n| Name | What it is |\n|---|---|\n| [`dci`](metrics/dci.md) | " in listed


def test_links_to_notebooks_lead_to_their_pages(pages):
    assert (
        pages.NOTEBOOK.sub(r"\1.md)", "[a](tutorials/01_own_table.ipynb)") == "[a](tutorials/01_own_table.md)"
    )
    assert pages.NOTEBOOK.sub(r"\1.md)", "[a](other.ipynb)") == "[a](other.ipynb)"


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None or not (SITE / "index.html").is_file():
        pytest.skip("needs chromium, and the site that `make docs` builds")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


@pytest.mark.slow
def test_the_site_can_be_searched_from_a_folder(browser):
    page = browser.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((SITE / "index.html").as_uri())
    page.click("input.md-search__input")
    page.keyboard.type("rotation floor", delay=50)
    page.wait_for_selector(".md-search-result__item", timeout=120_000)
    assert "matching documents" in page.inner_text(".md-search-result__meta")
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:", "about:"))] == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_no_page_is_wider_than_a_phone_and_pages_of_the_api_are_a_few_screens(browser):
    page, said = browser.new_page(viewport=PHONE), []
    page.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    for path in sorted(SITE.glob("*.html")) + sorted(SITE.glob("tutorials/*.html")):
        if path.name != "404.html":
            page.goto(path.as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], path.name
    page.set_viewport_size({"width": 1280, "height": 900})
    for path in sorted(SITE.glob("api/**/*.html"), key=lambda path: -path.stat().st_size)[:20]:
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollHeight") < 8 * 900, path.name
    assert said == []
