"""Nothing is overwritten without `--force`, and that is said before any work is done."""

import numpy as np
import pytest

from unmix.cli import _demo
from unmix.cli._alone import claim, holding

EVERY = [
    (["simulate"], "a.npz"),
    (["fit", "x.npy", "--n-components", "2"], "a.model"),
    (["transform", "model", "x.npy"], "a.csv"),
    (["trust", "model", "x.npy"], "a.html"),
    (["certify", "mask.csv"], "a.json"),
    (["evaluate", "x.npy", "x.npy"], "a.csv"),
    (["compare", "x.npy", "y.npy"], "a.html"),
    (["report", "model", "--data", "x.npy"], "a.html"),
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x = np.random.default_rng(0).laplace(size=(60, 3))
    np.save("x.npy", x)
    np.save("y.npy", -x)
    (tmp_path / "mask.csv").write_text("1,0\n1,1\n0,1\n")
    return tmp_path


@pytest.mark.parametrize(("line", "name"), EVERY, ids=[line[0] for line, _ in EVERY])
def test_what_exists_is_refused_by_every_command(line, name, folder, unmix):
    (folder / name).write_text("mine")
    result = unmix(*line, "--out", name)  # models that are not there are not looked for: it comes first
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"unmix: error: `--out` must be a new file, '{name}' exists. Add --force")
    assert result.err.count("\n") == 1 and (folder / name).read_text() == "mine"


@pytest.mark.parametrize(
    ("line", "name"), [each for each in EVERY if each[0][0] in ("simulate", "certify", "evaluate", "compare")]
)
def test_with_force_it_is_replaced(line, name, folder, unmix):
    (folder / name).write_text("mine")
    small = ("--n-samples", 50) if line[0] == "simulate" else ()
    assert unmix(*line, *small, "--out", name, "--force").code == 0
    assert (folder / name).read_bytes() != b"mine"


def test_a_document_with_a_place_for_results_keeps_the_rest(folder, unmix):
    (folder / "results").mkdir()
    (folder / "R.md").write_text("before\n<!-- results -->\nold\n<!-- /results -->\nafter\n")
    (folder / "other.md").write_text("mine")
    assert unmix("report", "results", "--out", "R.md").code == 0
    text = (folder / "R.md").read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    assert unmix("report", "results", "--out", "other.md").code == 2
    assert (folder / "other.md").read_text() == "mine"


def test_the_page_in_a_folder_of_results_is_its_own_and_one_named_is_not(folder, unmix):
    (folder / "results").mkdir()
    (folder / "results" / "report.html").write_text("an older page")
    assert "must hold results" in unmix("report", "results").err  # it would have been written
    assert "must be a new file" in unmix("report", "results", "--out", "results/report.html").err


def test_a_demo_writes_over_its_own_files_and_no_others(folder, unmix, monkeypatch):
    reached = []

    def fit(*_):
        reached.append(True)
        raise ValueError("far enough")

    monkeypatch.setattr(_demo, "_fit", fit)
    (folder / "demo").mkdir()
    (folder / "demo" / "model").write_text("mine")
    assert "must be a new file" in unmix("demo", "--quick", "--out", "demo").err and not reached
    assert "far enough" in unmix("demo", "--quick", "--out", "demo", "--force").err
    assert "far enough" in unmix("demo", "--quick", "--out", "demo").err  # its own data are there
    assert "must be a new file" in unmix("demo", "--quick", "--seed", 1, "--out", "demo").err
    assert len(reached) == 2


def test_processes_of_one_fit_do_not_refuse_each_other(tmp_path, monkeypatch):
    with holding():
        claim(tmp_path / "model")
        monkeypatch.setenv("WORLD_SIZE", "2")
        monkeypatch.setenv("RANK", "1")
        claim(tmp_path / "model")
        monkeypatch.setenv("RANK", "0")
        with pytest.raises(ValueError, match="two commands at once"):
            claim(tmp_path / "model")
