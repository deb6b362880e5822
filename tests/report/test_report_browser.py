"""The explorer in a browser, by what a person would see; skipped where there is no Chromium."""

import numpy as np
import pytest

import unmix
from browsing import MARKS, chromium, faults, tab
from unmix.report import explore

pytestmark = MARKS
DRAWN = "html[data-drawn]"
NAMES = (
    "ER_<b>size</b>",
    "ER_shape",
    "RNA_size",
    "RNA_shape",
    "Mito_size",
    "Mito_shape",
    "DNA_size",
    "DNA_shape",
)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    rng = np.random.default_rng(0)
    z = rng.laplace(size=(600, 4))
    z[:300, 1] += 3
    x = z @ rng.normal(size=(4, 8)) + 0.05 * rng.normal(size=(600, 8))
    frame = pytest.importorskip("pandas").DataFrame(x, columns=NAMES)
    model, other = unmix.FastICA(4, random_state=0).fit(frame), unmix.FastICA(3, random_state=1).fit(frame)
    beside = {
        "metadata": {"batch": ["first"] * 300 + ["<i>second</i>"] * 300},
        "ids": [f"well {k}" for k in range(600)],
    }
    path = tmp_path_factory.mktemp("explorer") / "explorer.html"
    explore(path, model=model, data=frame, others={"second run": other}, trust="quick", **beside)
    return path, model, frame


@pytest.fixture(scope="module")
def browser():
    with chromium() as opened:
        yield opened


@pytest.fixture
def page(browser, written):
    with tab(browser, written[0].as_uri(), wait=DRAWN) as opened:
        yield opened


def _drawn(page):
    return int(page.get_attribute("html", "data-drawn"))


def _after(page, action):
    """Do something, and wait until the page shows what came of it."""
    before = _drawn(page)
    action()
    page.wait_for_function(f"Number(document.documentElement.dataset.drawn) > {before}")


def test_the_most_trusted_latent_is_the_first_line(page, written):
    _, model, frame = written
    chance = unmix.trust(model, frame, effort="quick").probability
    _after(page, lambda: page.click("th[data-key=trust] button"))
    first = page.inner_text("#list tbody tr:first-child th")
    assert chance[int(first[1:])] == pytest.approx(chance.max(), abs=0.005)


def test_its_strongest_variable_stands_first_as_text(page, written):
    _, model, frame = written
    named = unmix.describe(model, frame).latents
    for k in range(4):
        _after(page, lambda k=k: page.click(f"#list tr[data-latent='{k}'] button"))
        assert page.inner_text("#view .moves tr:first-child th") == named[k].variables[0].name
    assert page.query_selector("#explorer b, #explorer i:not(.key i)") is None  # names are text


def test_its_most_active_example_is_named(page, written):
    _, model, frame = written
    codes = model.transform(frame)
    _after(page, lambda: page.click("#list tr[data-latent='2'] button"))
    assert page.inner_text("#examples tbody tr:first-child th") == f"well {codes[:, 2].argmax()}"


def test_a_latent_that_differs_between_batches_is_found(page):
    page.fill("#filter", "batch")
    lines = page.query_selector_all("#list tbody tr")
    assert 1 <= len(lines) < 4
    _after(page, lambda: lines[0].query_selector("button").click())
    _after(page, lambda: page.select_option("#by", "batch"))
    assert "Between levels of batch" in page.inner_text("#view") and "<i>second</i>" in page.inner_text(
        "#view"
    )


def test_latents_without_a_counterpart_are_listed(page):
    told = page.inner_text("#runs .unmatched")
    left = len(page.query_selector_all("#runs tr[data-status=alone]"))
    assert "Without a counterpart" in told and left <= 3
    assert len(page.query_selector_all("#runs tbody tr")) >= 4


def test_what_is_selected_can_be_saved(page, written):
    box = page.query_selector("#points").bounding_box()
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.2 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 0.7 * box["height"], steps=4)
    _after(page, page.mouse.up)
    page.wait_for_function("document.getElementById('count').textContent.includes('are selected')")
    n = int(page.inner_text("#count").split()[0].replace(",", ""))
    with page.expect_download() as download:
        page.click("#save-csv")
    lines = download.value.path().read_text(encoding="utf-8").splitlines()
    assert 0 < n < 600 and len(lines) == n + 1
    assert lines[0] == "id,batch,z0,z1,z2,z3" and lines[1].startswith("well ")


def test_the_address_holds_what_is_shown(page, browser):
    _after(page, lambda: page.click("#list tr[data-latent='3'] button"))
    _after(page, lambda: page.select_option("#axis-x", "ER_shape"))
    again = browser.new_page()
    again.goto(page.url)
    again.wait_for_selector("html[data-drawn]")
    assert again.inner_text("#latent-title").startswith("z3")
    assert again.input_value("#axis-x") == "ER_shape"
    again.close()


def test_keys_go_through_the_latents(page):
    first = page.inner_text("#latent-title")
    _after(page, lambda: page.keyboard.press("j"))
    assert page.inner_text("#latent-title") != first
    _after(page, lambda: page.keyboard.press("k"))
    assert page.inner_text("#latent-title") == first
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "filter"


def test_pictures_are_saved_as_png_and_svg(page):
    with page.expect_download() as download:
        page.click("#save-png")
    assert download.value.path().read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    with page.expect_download() as download:
        page.click("#save-svg")
    text = download.value.path().read_text(encoding="utf-8")
    shown = page.inner_text("#latent-title").partition(":")[0]
    assert text.startswith("<svg") and text.count("<rect") > 10
    assert download.value.suggested_filename == f"{shown}.svg"


def test_a_part_of_the_map_filters_examples_and_histogram(page):
    _after(page, lambda: page.click("button[data-map='map 1']"))
    assert page.input_value("#axis-x") == "map 1"
    _after(page, lambda: _typed(page, 0, 1.0))
    left = page.query_selector_all("#examples tbody tr:first-child th")
    shown = page.evaluate("selection.count")
    assert 0 < shown < 600 and f"Of the {shown} rows" in page.inner_text("#examples")
    places = page.evaluate(
        "(async () => { const c = await column(named.get('map 1')); return valueAt(c, "
        f"Number('{left[0].inner_text()}'.split(' ')[1])); }})()"
    )
    assert places >= 1.0 and page.query_selector("#view svg.plot rect.all") is not None
    _after(page, lambda: page.keyboard.press("Escape"))
    assert "All 600 rows" in page.inner_text("#count")


def _typed(page, bound, value):
    page.fill(f"[data-bound='{bound}']", str(value))
    page.dispatch_event(f"[data-bound='{bound}']", "change")


def test_matched_latents_of_two_runs_are_drawn_against_each_other(page):
    _after(page, lambda: page.click("#runs tr[data-status=alone] button.link[aria-label^=Draw]"))
    assert page.input_value("#axis-y").startswith("second run z")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1300, 390])
def test_nothing_keeps_people_out_and_phones_do_not_scroll_sideways(browser, written, scheme, width):
    with tab(browser, written[0].as_uri(), width=width, wait=DRAWN, color_scheme=scheme) as opened:
        assert faults(opened) == []
        assert opened.evaluate("document.documentElement.scrollWidth") <= width


def test_keys_alone_reach_everything_in_the_order_it_is_read(page):
    """Tab goes through the controls from the top of the page, and the list opens a latent by Enter."""
    order = []
    for _ in range(12):
        page.keyboard.press("Tab")
        order.append(page.evaluate("document.activeElement.id || document.activeElement.textContent"))
    assert order[:2] == ["filter", "verdict"] and "Trust" in order
    page.focus("#list tbody tr:last-child button")
    name = page.inner_text("#list tbody tr:last-child th")
    _after(page, lambda: page.keyboard.press("Enter"))
    assert page.inner_text("#latent-title").startswith(name)
