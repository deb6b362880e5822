"""Nothing is overwritten without `--force`, and that is said before any work is done."""

import numpy as np
import pytest

from unmix.experiments import Store

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
    Store(folder / "results")
    (folder / "results").mkdir(exist_ok=True)
    (folder / "R.md").write_text("before\n<!-- results -->\nold\n<!-- /results -->\nafter\n")
    (folder / "other.md").write_text("mine")
    assert unmix("report", "results", "--out", "R.md").code == 0
    text = (folder / "R.md").read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    assert unmix("report", "results", "--out", "other.md").code == 2
    assert (folder / "other.md").read_text() == "mine"


def test_the_page_of_a_folder_of_results_is_written_again(folder, unmix):
    (folder / "results").mkdir()
    for _ in range(2):
        assert unmix("report", "results").code == 0


def test_a_demo_writes_over_its_own_files_and_no_others(folder, unmix, monkeypatch):
    from unmix.cli import _demo

    reached = []
    monkeypatch.setattr(
        _demo, "_fit", lambda *_: reached.append(True) or (_ for _ in ()).throw(ValueError("here"))
    )
    (folder / "demo").mkdir()
    (folder / "demo" / "model").write_text("mine")
    assert "must be a new file" in unmix("demo", "--quick", "--out", "demo").err and not reached
    assert "must be a new file" not in unmix("demo", "--quick", "--out", "demo", "--force").err and reached
    assert "must be a new file" not in unmix("demo", "--quick", "--out", "demo").err  # its own data are there
    assert "must be a new file" in unmix("demo", "--quick", "--seed", 1, "--out", "demo").err
    assert len(reached) == 2
