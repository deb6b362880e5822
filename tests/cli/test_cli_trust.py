"""One verdict: `trust`, `fit`, `report`, `certify --data`, `compare` and Python give the same number."""

import json
import shutil

import numpy as np
import pytest

import unmix as library
from models import verdict as verdict_on
from pages import Page
from unmix import tables
from unmix.cli._verdict import evidence
from unmix.data import multi_domain, sparse_mixing

FIT = ("--n-components", 3, "--max-iter", 3, "--n-restarts", 1, "--seed", 5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Data of two kinds: without domains, and with a column that names them."""
    folder = tmp_path_factory.mktemp("trust")
    np.save(folder / "plain.npy", sparse_mixing(160, n_latents=3, n_observed=6, random_state=0).x)
    moving = multi_domain(240, 3, n_domains=3, random_state=0)
    names = [*(f"x{k}" for k in range(6)), "batch"]
    tables.write(folder / "moving.csv", np.column_stack([moving.x, moving.u]), names)
    return folder


DDL, CGVAE = ("ddl", "plain.npy", ()), ("cgvae", "moving.csv", ("--domains", "batch"))


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize(
    ("method", "name", "domains", "effort"),
    [
        (*DDL, "quick"),
        (*CGVAE, "none"),
        pytest.param(*DDL, "none", marks=pytest.mark.slow),
        pytest.param(*CGVAE, "quick", marks=pytest.mark.slow),
    ],
    ids=["ddl quick", "cgvae none", "ddl none", "cgvae quick"],
)
def test_every_place_shows_the_same_verdict(method, name, domains, effort, folder, unmix_json):
    data, model, page = folder / name, folder / method, folder / f"{method}-{effort}.html"
    line = (*domains, "--effort", effort)
    told = {
        "fit": unmix_json("fit", data, "--method", method, *FIT, *line, "--force", "--out", model)["trust"],
        "trust": unmix_json("trust", model, data, *line),
        "report": unmix_json("report", model, "--data", data, *line, "--out", page)["trust"],
        "certify": unmix_json("certify", model, "--data", data, *line)["trust"],
    }
    table = tables.read(data).values
    labels = {"domains": table[:, 6]} if domains else {}
    fitted = library.load(model)
    found = library.trust(fitted, table[:, :6], effort=effort, **labels)
    if effort == "none":
        library.report.write(folder / "python.html", model=fitted, data=data, **labels)
        assert (folder / "python.html").read_text(encoding="utf-8") == page.read_text(encoding="utf-8")
    for place, verdict in told.items():
        assert verdict["probability"] == found.probability.tolist(), place
        assert verdict["verdicts"] == list(found.verdicts) and verdict["reasons"] == list(found.reasons)
        assert verdict["headline"] == found.headline and verdict["effort"] == effort
    text = Page(page.read_text(encoding="utf-8")).text
    assert found.headline in text
    for probability in found.probability:
        assert f"{probability:.2f} probability" in text


PLAIN = ("ae", "vae", "bioae", "qlae", "vqvae", "pdgmm", "slots", "ica", "sparse-basis")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of fits that are too short
@pytest.mark.parametrize("method", [*PLAIN, "ivae"])
def test_every_method_has_one_verdict_in_every_place(method, folder, unmix_json):
    data, domains = (
        (folder / "moving.csv", ("--domains", "batch")) if method == "ivae" else (folder / "plain.npy", ())
    )
    model, other, page = folder / f"{method}-one", folder / f"{method}-two", folder / f"{method}-one.html"
    line = ("--effort", "none", *domains)
    size = ("--n-components", 3, "--seed", 5)
    settings = [] if method in ("ica", "sparse-basis") else ["--max-iter", 3]
    told = {
        "fit": unmix_json("fit", data, "--method", method, *size, *settings, *line, "--out", model)["trust"]
    }
    shutil.copytree(model, other) if model.is_dir() else shutil.copy(model, other)
    told["trust"] = unmix_json("trust", model, data, *line)
    told["report"] = unmix_json("report", model, "--data", data, *line, "--out", page)["trust"]
    told["certify"] = unmix_json("certify", model, "--data", data, *line)["trust"]
    told["compare"] = unmix_json("compare", model, other, "--data", data, *line)["trust"][model.name]
    told["explore"] = unmix_json("explore", model, "--data", data, *line, "--out", folder / f"{method}.html")[
        "trust"
    ]
    table = tables.read(data).values
    labels = {"domains": table[:, 6]} if domains else {}
    found = library.trust(library.load(model), table[:, :6], effort="none", **labels)
    for place, verdict in told.items():
        assert verdict["probability"] == found.probability.tolist(), place
        assert verdict["reasons"] == list(found.reasons) and verdict["headline"] == found.headline, place
    assert found.headline in Page(page.read_text(encoding="utf-8")).text
    if found.kind == "none":
        assert set(found.verdicts) == {"no"}


@pytest.fixture
def model(folder, unmix_json):
    path = folder / "model"
    if not path.exists():
        unmix_json("fit", folder / "plain.npy", *FIT, "--out", path)
    return path


def test_a_person_reads_headline_latents_and_evidence(model, folder, unmix):
    result = unmix("trust", model, folder / "plain.npy")
    found = library.trust(library.load(model), np.load(folder / "plain.npy"), effort="quick")
    assert result.code == 0 and result.out.startswith(found.headline)
    for line in (
        *found.reasons,
        *(f"- {item.name}: {item.figures(0)[0]}" for item in found.evidence if item.checked),
    ):
        assert line in result.out
    assert "(noise " in result.out


def test_latents_that_are_not_printed_are_counted_also_where_some_are_alike():
    line = evidence(verdict_on(*[1.0] * 20, *[2.0] * 10))[-1]
    assert line.count("(noise") == 24 and line.endswith(", 6 more")


@pytest.mark.parametrize("suffix", ["html", "json", "txt"])
def test_the_verdict_is_written_by_suffix(suffix, model, folder, unmix):
    out = folder / f"verdict.{suffix}"
    result = unmix("trust", model, folder / "plain.npy", "--effort", "none", "--out", out)
    assert result.code == 0 and result.out.endswith(f"Written: {out}\n")
    headline, text = result.out.splitlines()[0].rstrip("."), out.read_text(encoding="utf-8")
    if suffix == "json":
        assert json.loads(text)["headline"] == headline
    elif suffix == "html":
        assert headline in Page(text).text
    else:
        assert result.out.startswith(text)


def test_a_fit_says_not_checked_and_how_to_check(folder, unmix):
    out = folder / "fresh"
    result = unmix("fit", folder / "plain.npy", *FIT, "--out", out)
    assert result.code == 0 and "identified" not in result.out and ": yes" not in result.out
    command = f"To check: unmix trust {out} {folder / 'plain.npy'} --effort quick"
    assert (command in result.out) == (": not checked (" in result.out)


def test_an_autoencoder_is_never_trusted_by_any_command(folder, unmix, unmix_json):
    data, out, page = folder / "plain.npy", folder / "ae", folder / "ae.html"
    line = ("--method", "ae", "--n-components", 3, "--max-iter", 3, "--effort", "full", "--report", page)
    told = unmix("fit", data, *line, "--out", out)
    assert told.code == 0 and "None of 3 latents are trusted" in told.out and "To check" not in told.out
    assert 'class="verdict stop"' in page.read_text(encoding="utf-8")
    assert unmix_json("certify", out, "--data", data)["trust"]["verdicts"] == ["no"] * 3


def test_domains_that_are_missing_are_asked_for_and_cost_no_page(folder, unmix):
    line = ("--method", "cgvae", *FIT, "--domains", "batch", "--out", folder / "moved")
    assert unmix("fit", folder / "moving.csv", *line).code == 0
    result = unmix("trust", folder / "moved", folder / "moving.csv")
    assert result.code == 2 and "`domains` must be the labels that CGVAE was fitted with" in result.err
    page = folder / "moved.html"
    result = unmix("report", folder / "moved", "--data", folder / "moving.csv", "--out", page)
    assert result.code == 0 and "no verdict" in result.err
    assert "Not checked" in Page(page.read_text(encoding="utf-8")).text


def test_rows_too_few_to_judge_cost_no_fit(tmp_path, unmix):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(15, 4)))
    line = ("--method", "ae", "--n-components", 2, "--max-iter", 1, "--out", tmp_path / "model")
    result = unmix("fit", tmp_path / "x.npy", *line)
    assert result.code == 0 and "at least 20 rows" in result.err and (tmp_path / "model").exists()
