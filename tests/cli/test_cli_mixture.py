"""Mixtures by commands: simulate, fit with a causal graph, report."""

import numpy as np
import pytest

import unmix as library

FIT = ("--method", "pdgmm", "--n-components", 3, "--max-iter", 4, "--n-restarts", 1)
SIMULATE = ("simulate", "--kind", "mixture", "--n", 3, "--n-layers", 1)
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("mixture")


@pytest.fixture
def data(folder, unmix_json):
    path = folder / "data.npz"
    if not path.exists():
        unmix_json(*SIMULATE, "--n-samples", 1500, "--mask-size", 2, "--out", path)
    return path


def test_simulate_writes_the_mixture_that_the_library_makes(data):
    made = library.data.degenerate_mixture(1500, 3, n_layers=1, mask_size=2, random_state=0)
    with np.load(data) as stored:
        for name in ("x", "z", "labels", "masks", "graph", "unrotated"):
            np.testing.assert_array_equal(stored[name], getattr(made, name))


def test_simulate_says_what_it_made(tmp_path, unmix, unmix_json):
    line = ("simulate", "--kind", "mixture", "--profile", "hard", "--mask-size", 0.4, "--delta", 2)
    line += ("--theta", 30, "--graph-degree", 2, "--components", "masked", "--n-samples", 50)
    document = unmix_json(*line, "--out", tmp_path / "d.npz")
    made = library.data.degenerate_mixture(
        50, 5, profile="hard", mask_size=0.4, delta=2.0, theta=30.0, graph_degree=2, random_state=0
    )
    np.testing.assert_array_equal(document["masks"], made.masks.astype(int))
    np.testing.assert_array_equal(document["graph"], made.graph.astype(int))
    told = unmix(*line, "--force", "--out", tmp_path / "d.npz").out
    assert "rotated by 30 degrees" in told and "50 samples of 5 variables" in told


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (("--kind", "mixture", "--profile", "tall"), "`--profile` must be one of paper, hard, linear"),
        (("--profile", "hard"), "`--profile` must be one of tall, square, dense"),
        (("--delta", "1"), "`--delta` must be left out for --kind sparse"),
        (("--kind", "mixture", "--latents", "normal"), "`--latents` must be left out"),
        (("--kind", "mixture", "--components", "odd"), "`components` must be one of"),
    ],
)
def test_options_of_the_other_kind_are_refused(line, words, tmp_path, unmix):
    result = unmix("simulate", *line, "--out", tmp_path / "d.npz")
    assert result.code == 2 and words in result.err and not list(tmp_path.iterdir())


def test_fit_draws_the_causal_graph_into_the_report(folder, data, unmix_json):
    document = unmix_json("fit", data, *FIT, "--causal", "--out", folder / "model")
    model = library.load(folder / "model")
    x = np.load(data)["x"]
    expected = library.estimators.causal_graph(model.transform(x), active=model.activity(x))
    np.testing.assert_array_equal(document["graph"], expected)
    assert document["report"] == str(folder / "model.html") and document["masks"] == model.masks_.tolist()
    assert document["found"] == model.found_.tolist() and document["flags"] == list(model.flags_)
    page = (folder / "model.html").read_text(encoding="utf-8")
    for words in (
        "Which latent causes which",
        "structural Hamming distance",
        "The same tests on the true latents",
    ):
        assert words in page
    assert "In which samples each latent is active" in page and "with an F1 of" in page


def test_a_graph_that_cannot_be_found_costs_no_fit(folder, unmix, unmix_json):
    unmix_json(*SIMULATE, "--n-samples", 600, "--mask-size", 1, "--out", folder / "one.npz")
    result = unmix(
        "fit", folder / "one.npz", *FIT, "--causal", "--report", folder / "r.html", "--out", folder / "m"
    )
    assert (
        result.code == 0 and "no causal graph" in result.err and f"Report: {folder / 'r.html'}" in result.out
    )
    assert "latents have a clear value of rest" in result.out
    assert (folder / "m").exists() and "Which latent causes which" not in (folder / "r.html").read_text()


def test_a_missing_extra_is_named_before_any_work(data, tmp_path, unmix, monkeypatch):
    monkeypatch.setattr("unmix.cli._fit.find_spec", lambda name: None)
    result = unmix("fit", data, *FIT, "--causal", "--out", tmp_path / "model")
    assert result.code == 1 and "unmix[causal]" in result.err and not list(tmp_path.iterdir())


def test_a_report_that_cannot_be_written_is_refused_before_any_work(data, tmp_path, unmix):
    result = unmix("fit", data, *FIT, "--report", tmp_path / "r.txt", "--out", tmp_path / "model")
    assert result.code == 2 and ".html" in result.err and not list(tmp_path.iterdir())
