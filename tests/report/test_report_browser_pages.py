"""Every page in a browser: hostile names stay text, nobody is kept out, tables sort, long ones are folded."""

import numpy as np
import pytest

import unmix
from browsing import MARKS, chromium, faults, tab
from models import image_model
from unmix import report
from unmix.cli import main
from unmix.deconfound import evaluate
from unmix.experiments import Store
from unmix.metrics import replicate, replicate_features

pytestmark = [*MARKS, pytest.mark.filterwarnings("ignore:constrained_layout")]  # names longer than pictures
HOSTILE = (
    "</script><script>document.title='taken'</script>",
    '"><img src=x onerror="document.title=\'taken\'">',
    "<svg onload=document.title='taken'>",
    "{{ 7 * 7 }} {% raw %} ${document.title='taken'}",
    '=HYPERLINK("http://evil.example","go")',
    "javascript:document.title='taken'",
    "a\u2028b\u202eevil\u202c <!-- --> ]]>",
    "&lt;b&gt;already&amp;escaped",
    "../../etc/passwd\\..\\x",
    "'; DROP TABLE latents; --",
    '"><meta http-equiv=refresh content="0;url=http://evil.example"><form action=http://evil.example>',
)


def _named(k):
    return f"{HOSTILE[k % len(HOSTILE)]}{'' if k < len(HOSTILE) else k}"


def _table(folder):
    rng = np.random.default_rng(0)
    x = rng.laplace(size=(300, 4)) @ rng.normal(size=(4, 12))
    frame = pytest.importorskip("pandas").DataFrame(x, columns=[_named(k) for k in range(12)])
    model, other = (unmix.FastICA(4, random_state=seed).fit(frame) for seed in range(2))
    beside = {
        "metadata": {_named(k): np.where(x[:, k - 20] > 0, _named(k + 1), "b") for k in range(20, 23)},
        "ids": [_named(k) for k in range(300)],
        "groups": {_named(5): [_named(0), _named(1), _named(2)]},
    }
    told = {"title": _named(0), **beside}
    report.explore(folder / "explorer.html", model=model, data=frame, others={_named(1): other}, **told)
    report.write(folder / "report.html", model=model, data=frame, trust="quick", notes=_named(1), **told)
    return model.transform(frame), other.transform(frame), frame


def _record(table, row, value, **changes):
    cell = {"row": row, "column": row, "value": "mcc", "better": "higher", "precision": 0.005, "paper": 0.8}
    made = {"key": f"{table}-{value:.3f}", "experiment": table, "settings": {"method": row}, "seed": 0}
    told = {"budget": "laptop", "code": "0", "values": {"mcc": value}, "error": None, "seconds": 1.0}
    cells = [cell | {"spread": 0.01, "source": row, "place": 0}]
    return made | told | {"cells": cells, "title": table, "command": "unmix"} | changes


def _results(folder):
    store = Store(folder / "stored")
    for k, words in enumerate(HOSTILE):
        told = {"command": words, "data": words, "code": words}
        store.write(_record("some.table2", words, 0.5 + 0.01 * k, title=_named(0), **told))
        table = f"{words}.figure2"[-60:].replace("/", "")  # part of a file's name too
        store.write(_record(table, words, 0.5, title=words, **told))
    report.results(folder / "results.html", store.folder, title=_named(0), notes=_named(1))


class Tokens:
    """Activations of tokens that look like markup."""

    def __init__(self, x):
        self.x, self.kept = x, np.arange(len(x))
        self.token_ids, self.document = np.arange(len(x)) % len(HOSTILE), np.arange(len(x)) // 50

    def __len__(self):
        return len(self.x)

    def take(self, start, stop):
        return self.x[start:stop]

    def text(self, tokens):
        return [HOSTILE[token] for token in np.ravel(tokens)]


def _features(folder):
    x = np.random.default_rng(0).laplace(size=(200, 6)).astype(np.float32)
    model = unmix.SparseAutoencoder(10, k=2, max_iter=3, batch_size=100, random_state=0).fit(x)
    report.features(folder / "features.html", model, Tokens(x), title=_named(0), notes=_named(1))
    report.explore(folder / "explorer-text.html", model=model, data=Tokens(x), trust=None, title=_named(0))


def _images(folder):
    model, x = image_model()
    known = {"ids": [_named(k)[:28] for k in range(len(x))], "title": _named(0)}  # long ones fill pictures
    report.show(folder / "show", model=model, data=x, notes=_named(1), latents=[0], n=2, n_steps=3, **known)
    (folder / "show" / "index.html").rename(folder / "show.html")
    report.explore(folder / "explorer-images.html", model=model, data=x, **known)


def _choice(folder):
    rng = np.random.default_rng(0)
    x = rng.laplace(size=(200, 2)) @ rng.normal(size=(2, 5)) + 0.1 * rng.normal(size=(200, 5))
    report.choice(folder / "choose.html", unmix.choose(x, most=2), title=_named(0), notes=_named(1))


def _answers(folder):
    """Write what commands write of a table with such names: the verdict, the certificate, the scores."""
    rng = np.random.default_rng(0)
    frame = pytest.importorskip("pandas").DataFrame(
        rng.laplace(size=(300, 4)) @ rng.normal(size=(4, 12)), columns=[_named(k) for k in range(12)]
    )
    frame.to_csv(folder / "table.csv", index=False)
    frame.iloc[:, :3].to_csv(folder / "z.csv", index=False)
    table, model, z = (str(folder / name) for name in ("table.csv", "model", "z.csv"))
    for line in (
        ("fit", table, "--method", "ica", "--n-components", "4", "--out", model),
        ("trust", model, table, "--effort", "none", "--out", str(folder / "trust.html")),
        ("certify", model, "--data", table, "--out", str(folder / "answer.html")),
        ("evaluate", z, z, "--x", table, "--out", str(folder / "scores.html")),
    ):
        with pytest.raises(SystemExit, match=r"^0$"):
            main(list(line))
    atoms = rng.normal(size=(9, 30))
    found = replicate_features([atoms, atoms[::-1]], names=[_named(1), _named(2)])
    report.feature_replication(folder / "feature_replication.html", found, title=_named(0), notes=_named(1))


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    z, other, frame = _table(folder)
    told = {"title": _named(0), "notes": _named(1)}
    report.compare(folder / "compare.html", z, other, names=(_named(2), _named(3)), **told)
    report.replication(
        folder / "replication.html", replicate([z, other], names=[_named(2), _named(3)]), **told
    )
    plates = {_named(4): np.array([_named(k) for k in range(5)])[np.arange(300) % 5]}
    scored = evaluate(frame.to_numpy(), plates, batch=[_named(4)], methods=["base", "anchored"])
    report.deconfounding(folder / "deconfound.html", scored, source=_named(5), **told)
    for make in (_results, _features, _images, _choice, _answers):
        make(folder)
    return folder


@pytest.fixture(scope="module")
def browser():
    with chromium() as opened:
        yield opened


NAMES = (
    "explorer",
    "explorer-text",
    "explorer-images",
    "report",
    "show",
    "features",
    "choose",
    "compare",
    "replication",
    "deconfound",
    "results",
    "feature_replication",
)
OWN_TITLE = ("trust", "answer", "scores")


@pytest.mark.parametrize("name", [*NAMES, *OWN_TITLE])
def test_hostile_words_are_text_and_nobody_is_kept_out(browser, pages, name):
    for scheme, width in (("light", 1300), ("dark", 390)):
        with tab(browser, (pages / f"{name}.html").as_uri(), width=width, color_scheme=scheme) as page:
            if name.startswith("explorer"):
                page.wait_for_selector("html[data-drawn]")
            assert (page.title() == page.inner_text("h1") == HOSTILE[0]) == (name in NAMES)
            assert "taken" not in page.title() or name in NAMES
            assert page.query_selector("img[src=x], svg[onload], form, meta[http-equiv=refresh]") is None
            assert page.query_selector("[onerror], [onload], a[href^=javascript]") is None
            shown = page.evaluate("document.body.textContent")
            least = {"explorer": 4, "scores": 0}  # scores show no names
            assert sum(words in shown for words in HOSTILE) >= least.get(name, 1)
            assert faults(page) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width


SPOILED = """() => {
  const main = document.querySelector("main");
  const add = (tag, more = {}) => {
    const made = Object.assign(document.createElement(tag), more);
    main.append(made);
    return made;
  };
  document.documentElement.lang = "";
  add("button"); add("img"); add("h5", {textContent: "deep"}); add("p", {tabIndex: 3});
  add("p", {textContent: "pale"}).style.color = "#ccc";
  add("p", {id: "twice"}); add("p", {id: "twice"});
  add("section").setAttribute("aria-labelledby", "nowhere");
}"""


def test_the_check_for_access_can_fail(browser, pages):
    with tab(browser, (pages / "replication.html").as_uri()) as page:
        assert faults(page) == []
        page.evaluate(SPOILED)
        found = " ".join(faults(page))
    for rule in (
        "no language",
        "without a name",
        "skipped level",
        "contrast",
        "used twice",
        "forced",
        "not there",
    ):
        assert rule in found, rule


def test_sections_have_links_and_tables_sort(browser, pages):
    with tab(browser, (pages / "report.html").as_uri()) as page:
        links = page.eval_on_selector_all(".sections a", "all => all.map(each => each.getAttribute('href'))")
        assert len(links) >= 3 and all(page.query_selector(link) is not None for link in links)
        page.click(f".sections a[href='{links[-1]}']")
        assert page.evaluate("location.hash") == links[-1] and page.evaluate("scrollY") > 0
        column = "[...document.querySelectorAll('.heat')].at(-1).tBodies[0].rows"
        before = page.evaluate(f"[...{column}].map(row => row.cells[1].textContent)")
        page.evaluate(
            "[...document.querySelectorAll('.heat')].at(-1).tHead.rows[0].cells[1].querySelector('button').click()"
        )
        after = page.evaluate(f"[...{column}].map(row => row.cells[1].textContent)")
        assert sorted(before) == sorted(after) and len(before) > 2
        assert page.query_selector("th[aria-sort=ascending]") is not None
        assert page.query_selector(".histogram rect title") is not None  # values under the pointer
        assert page.query_selector("svg .tip title") is not None


def test_results_open_folded_and_a_link_unfolds_them(browser, tmp_path):
    store = Store(tmp_path / "stored")
    for table in range(45):  # as many as there are
        for line in range(40):
            store.write(_record(f"some.table{table}", f"method {line}", 0.5 + 0.01 * line))
    path = report.results(tmp_path / "results.html", store.folder)
    for width in (1300, 390):
        with tab(browser, path.as_uri(), width=width) as page:
            assert page.evaluate("document.documentElement.scrollHeight") < 5000
    with tab(browser, path.as_uri() + "#some-table7-laptop") as page:
        assert page.eval_on_selector_all("details[open]", "all => all.map(each => each.id)") == [
            "some-table7-laptop"
        ]
        ours = "#some-table7-laptop tbody tr:first-child td:nth-child(5)"
        page.click("#some-table7-laptop th:nth-child(5) button")
        least = page.inner_text(ours)
        page.click("#some-table7-laptop th:nth-child(5) button")
        assert float(least.split()[0]) < float(page.inner_text(ours).split()[0])
        page.fill("#filter", "some.table12 method 3")
        assert page.locator("details.table:visible").count() == 1 and page.is_visible(
            "#some-table12-laptop tbody tr:not([hidden])"
        )
