"""The explorer as files and answers: what is in the page, what is not, and whom the server answers."""

import http.client
import json
import re
import threading
import urllib.error
import urllib.request

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import unmix
from unmix.report import explore, explorer
from unmix.report.explorer import Server
from unmix.report.explorer._columns import categories, metadata_column, numbers
from unmix.report.explorer._page import as_json

HOSTILE = (
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "=cmd|' /C calc'!A0",
    "\u2028",
)


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    z = rng.laplace(size=(400, 3))
    z[:200, 1] += 2
    x = z @ rng.normal(size=(3, 6)) + 0.05 * rng.normal(size=(400, 6))
    model = unmix.FastICA(3, random_state=0).fit(x)
    known = {
        "metadata": {"batch": ["a"] * 200 + ["b"] * 200, "dose": rng.normal(size=400)},
        "ids": [f"well {i}" for i in range(400)],
    }
    return model, x, known


def _about(page: str) -> dict:
    return json.loads(re.search(r'id="about">(.*?)</script>', page, re.S).group(1))


@given(arrays(np.float64, st.integers(1, 30), elements=st.floats(-1e6, 1e6)))
def test_numbers_come_back_to_a_step_of_their_range(values):
    for dtype, steps in ((np.uint16, 65534), (np.uint8, 254)):
        column = numbers("a", "latent", values, dtype=dtype)
        step = (column.high - column.low) / steps
        assert np.abs(column.values - values).max() <= 0.51 * step


def test_missing_values_stay_missing():
    assert np.isnan(numbers("a", "latent", [1.0, np.nan, np.inf]).values).tolist() == [False, True, True]
    assert categories("b", "metadata", ["x", None, "", float("nan")]).places.tolist() == [
        0,
        65535,
        65535,
        65535,
    ]


def test_rare_levels_are_one_and_many_numbers_stay_numbers():
    column = categories("plate", "metadata", [f"p{k}" for k in range(30)])
    assert len(column.levels) == 25 and column.levels[-1] == "6 others"
    assert metadata_column("dose", np.linspace(0, 1, 50)).levels == ()
    assert metadata_column("week", np.arange(50) % 3).levels == ("0", "1", "2")


@given(st.text())
def test_no_text_ends_the_script_that_holds_it(text):
    written = str(as_json({"name": text}))
    assert "<" not in written and json.loads(written) == {"name": text}


def test_the_page_holds_every_row_and_its_verdict(fitted, tmp_path):
    model, x, known = fitted
    trust = unmix.trust(model, x, effort="quick", random_state=0)
    page = explore(tmp_path / "e.html", model=model, data=x, trust=trust, **known).read_text()
    about = _about(page)
    assert [card["p"] for card in about["latents"]] == pytest.approx(trust.probability.tolist())
    assert about["headline"] == trust.headline
    assert len(re.findall("data-column>", page)) == len(about["columns"]) == 3 + 2 + 2 + 6
    codes = explorer(model=model, data=x, trust=trust, **known).columns[0].values
    assert np.abs(codes - model.transform(x)[:, 0]).max() < 1e-3


def test_latents_are_sorted_by_trust_and_related_to_columns(fitted):
    model, x, known = fitted
    about = explorer(model=model, data=x, trust="quick", **known).about
    assert sorted(card["place"] for card in about["latents"]) == [0, 1, 2]
    assert sum("batch" in [each["column"] for each in card["related"]] for card in about["latents"]) >= 1


def test_other_runs_are_matched(fitted):
    model, x, known = fitted
    fewer = unmix.FastICA(2, random_state=1).fit(x)
    run = explorer(model=model, data=x, others={"fewer": fewer}, **known).about["runs"][0]
    assert run["name"] == "fewer" and len(run["pairs"]) == 3 and len(run["latents"]) == 2
    matched = {pair["partner"] for pair in run["pairs"] if pair["status"] == "alone"}
    assert matched | set(run["unmatched"]) == {0, 1}


def test_a_file_keeps_to_its_budget_and_says_what_it_left_out(fitted, monkeypatch):
    from unmix.report.explorer import _tables

    model, x, known = fitted
    monkeypatch.setattr(_tables, "BUDGET", 4000)
    found = explorer(model=model, data=x, **known)
    assert sum(column.places.nbytes for column in found.columns) <= 4000
    assert found.n_rows < 400 and "rows every" in found.about["notes"][0]
    assert explorer(model=model, data=x, whole=True, **known).n_rows == 400


def test_hostile_names_are_text_everywhere(fitted, tmp_path):
    _, x, _ = fitted
    named = unmix.FastICA(3, random_state=0).fit(x)
    beside = {"metadata": {HOSTILE[0]: [HOSTILE[1]] * 200 + ["b"] * 200}, "ids": [HOSTILE[2]] * 400}
    page = explore(tmp_path / "e.html", model=named, data=x, title=HOSTILE[0], **beside).read_text()
    assert "<script>alert" not in page and "<img" not in page
    assert _about(page)["title"] == HOSTILE[0]


def test_images_bring_pictures_and_latents_that_move():
    data = unmix.data.shapes3d(60, size=16, random_state=0)
    model = unmix.Autoencoder(2, max_iter=1, random_state=0).fit(data.images[:])
    found = explorer(model=model, data=data)
    assert found.about["kind"] == "images" and found.about["sheet"]["src"].startswith("data:image/png")
    assert all(card["strip"] is None or len(card["strip"]["at"]) == 11 for card in found.about["latents"])
    assert [column.name for column in found.columns if column.role == "metadata"] == list(data.names)


def test_activations_bring_features():
    x = np.random.default_rng(0).laplace(size=(300, 6))
    model = unmix.SparseAutoencoder(8, k=2, max_iter=2, batch_size=50, random_state=0).fit(x)
    found = explorer(model=model, data=x)
    assert len(found.about["latents"]) == 8 and found.columns[0].name == "feature 0"


def test_other_models_of_images_are_refused():
    data = unmix.data.shapes3d(20, size=16, random_state=0)
    model = unmix.Autoencoder(2, max_iter=1, random_state=0).fit(data.images[:])
    with pytest.raises(ValueError, match="`others` must be left out"):
        explorer(model=model, data=data, others={"a": model})


@pytest.fixture(scope="module")
def server(fitted):
    model, x, known = fitted
    with Server(explorer(model=model, data=x, whole=True, **known)) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield served
        served.shutdown()


def _asked(address: str) -> bytes:
    with urllib.request.urlopen(address, timeout=10) as answer:
        return answer.read()


def test_a_server_answers_with_page_columns_and_names(server):
    page = _asked(server.address).decode()
    assert (
        "data-column" not in page.split('id="rows"')[1].split("<script>")[0] and "connect-src 'self'" in page
    )
    column = np.frombuffer(_asked(server.address + "column/0"), "<u2")
    assert (column == server.explorer.columns[0].places).all()
    assert json.loads(_asked(server.address + "rows?at=3,5"))["ids"] == ["well 3", "well 5"]


@pytest.mark.parametrize(
    "path",
    [
        "",
        "x/",
        "../etc/passwd",
        "{word}/column/99",
        "{word}/rows?at=999999",
        "{word}/rows?at=a",
        "{word}/else",
    ],
)
def test_a_server_refuses_what_it_does_not_know(server, path):
    root = f"http://127.0.0.1:{server.server_port}/"
    with pytest.raises(urllib.error.HTTPError, match=r"40[34]"):
        _asked(root + path.format(word=server.word))


def test_a_server_refuses_other_names_of_the_host(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    connection.request("GET", f"/{server.word}/", headers={"Host": "evil.example"})
    assert connection.getresponse().status == 403
    connection.close()
