"""What lies around is neither run nor removed, and what names hold does not reach the terminal."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from unmix._files import atomic_write

EVIL = "a\x1b[2Jb\x9b31m\u202ec"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each not in ("", os.getcwd())])
    np.save("x.npy", np.random.default_rng(0).laplace(size=(60, 3)))
    return tmp_path


def test_only_a_named_method_is_imported_from_the_folder_and_behind_what_is_installed(here, unmix):
    (here / "mine.py").write_text("from sklearn.decomposition import PCA as Mine\n")
    (here / "scipy.py").write_text("raise SystemExit('run')\n")
    assert unmix("reproduce", "--list").code == 0 and str(here) not in sys.path
    assert unmix("reproduce", "ddl.table4", "--dry-run").code == 0 and str(here) not in sys.path
    named = unmix("reproduce", "ddl.table4", "--method", "mine:Mine", "--dry-run")
    assert named.code == 0 and sys.path[-1] == str(here)
    assert "the method " in named.err and "_pca.py" in named.err


def test_as_a_module_the_command_does_not_import_from_the_folder_either(here):
    for name in ("numpy", "typer", "scipy"):
        (here / f"{name}.py").write_text("raise SystemExit('run')\n")
    known = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    line = [sys.executable, "-m", "unmix", "--version"]
    found = subprocess.run(line, env=known, cwd=here, capture_output=True, text=True)
    assert found.returncode == 0 and "run" not in found.stderr, found.stderr


OWN = (
    "from unmix.experiments import Cell\nCELLS = (Cell('a', 'b'),)\n"
    "def run(cell, seed, budget):\n    return {'mcc': 1.0}\n"
)


@pytest.fixture
def own(here):
    """A folder with a table of one's own, which is not known to later tests."""
    (here / "own_table.py").write_text(OWN)
    yield here
    sys.modules.pop("own_table", None)


@pytest.mark.parametrize("where", ["processes", "dask"])
def test_workers_do_not_import_from_the_folder_either(where, own):
    if where == "dask":
        pytest.importorskip("distributed")
    for name in ("socket", "random", "tempfile", "numpy"):
        (own / f"{name}.py").write_text(f"open('ran_{name}', 'w').close()\n")
    known = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    line = [sys.executable, "-m", "unmix", "reproduce", "own_table", "--seeds", "1", "--executor", where]
    found = subprocess.run(line, env=known, cwd=own, capture_output=True, text=True, timeout=120)
    assert found.returncode == 0, found.stderr
    assert not list(own.glob("ran_*"))


@pytest.mark.parametrize("before", [None, "", "1"])
def test_what_is_set_for_workers_is_set_back(before, own, unmix, monkeypatch):
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    if before is not None:
        monkeypatch.setenv("PYTHONSAFEPATH", before)
    assert unmix("reproduce", "own_table", "--seeds", 1, "--out", own / "results").code == 0
    assert os.environ.get("PYTHONSAFEPATH") == before


def test_a_table_of_ones_own_is_imported_and_said(own, unmix):
    found = unmix("reproduce", "own_table", "--seeds", 1, "--dry-run")
    assert found.code == 0 and "own_table is taken from" in found.err and str(own) in found.err


@pytest.mark.parametrize(
    "line",
    [
        ("fit", "x.npy", "--n-components", 2, "--method", "ica", "--out", "pipe"),
        ("simulate", "--n-samples", 50, "--out", "pipe.npz"),
        ("evaluate", "x.npy", "x.npy", "--out", "pipe.csv"),
    ],
    ids=lambda line: line[0],
)
def test_a_pipe_is_never_replaced_by_a_file(line, here, unmix):
    os.mkfifo(line[-1])
    result = unmix(*line, "--force")
    assert (result.code, result.out) == (2, "") and "must be a regular file" in result.err
    assert not (here / line[-1]).is_file() and len(list(here.iterdir())) == 2


@pytest.mark.parametrize("force", [(), ("--force",)])
@pytest.mark.parametrize("to", ["link.npz", "/nowhere/x.npz"], ids=["itself", "nothing"])
def test_a_link_that_leads_nowhere_is_not_replaced(to, force, here, unmix):
    os.symlink(to, "link.npz")
    result = unmix("simulate", "--n-samples", 50, "--out", "link.npz", *force)
    assert (result.code, result.out) == (2, "") and "a link to nothing" in result.err
    assert os.readlink("link.npz") == to


@pytest.mark.parametrize("kind", ["pipe", "file"])
@pytest.mark.parametrize(
    "line",
    [
        ("reproduce", "floor.scores", "--budget", "smoke", "--out", "there"),
        ("activations", "x.npy", "--out", "there"),
        ("demo", "--out", "there"),
    ],
    ids=lambda line: line[0],
)
def test_what_is_no_folder_is_refused_before_any_work(line, kind, here, unmix):
    os.mkfifo("there") if kind == "pipe" else (here / "there").write_text("mine")
    result = unmix(*line)
    assert (result.code, result.out) == (2, "") and "`--out` must be a folder" in result.err
    assert len(list(here.iterdir())) == 2 and (kind == "pipe" or (here / "there").read_text() == "mine")


def test_writing_refuses_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="a device or a pipe"):
        atomic_write(tmp_path / "pipe", "text")


@pytest.mark.parametrize("fresh", [(), ("--fresh",)])
def test_a_folder_of_the_users_own_is_no_checkpoint(fresh, here, unmix):
    (here / "m.checkpoint").mkdir()
    (here / "m.checkpoint" / "thesis.txt").write_text("years")
    result = unmix("fit", "x.npy", "--n-components", 2, "--method", "ae", "--out", "m", *fresh)
    assert result.code == 2 and "holds 'thesis.txt', which is not ours" in result.err
    assert (here / "m.checkpoint" / "thesis.txt").read_text() == "years"


def test_a_checkpoint_goes_when_its_fit_is_done(here, unmix):
    from unmix.cli._models import checkpoint_beside, forget_checkpoint

    rounds = here / "m.checkpoint" / "round-0"
    rounds.mkdir(parents=True)
    for path in (rounds.parent / "settings.json", rounds / "checkpoint.safetensors"):
        path.write_text("{}")
    (rounds / ".checkpoint.0a1b2c.safetensors").write_text("half")
    forget_checkpoint(checkpoint_beside(here / "m"))
    assert not (here / "m.checkpoint").exists()


def test_control_characters_are_shown_and_not_obeyed(here, unmix):
    (here / "x.csv").write_text(
        f"{EVIL},v,w\n" + "".join(f"{i % 7},{i * i % 11},{i % 5}\n" for i in range(60))
    )
    result = unmix("fit", "x.csv", "--n-components", 2, "--method", "ica", "--out", "m", "--effort", "none")
    printed = result.out + result.err + unmix("fit", f"{EVIL}.csv", "--out", "n").err
    assert result.code == 0 and r"a\x1b[2Jb\x9b31m\u202ec" in printed
    assert not {"\x1b", "\x9b", "\u202e"} & set(printed)


def test_json_holds_no_control_characters_and_the_same_names(here, unmix_json, unmix):
    (here / "x.csv").write_text(
        f"{EVIL},v,w\n" + "".join(f"{i % 7},{i * i % 11},{i % 5}\n" for i in range(60))
    )
    line = ("fit", "x.csv", "--n-components", 2, "--method", "ica", "--effort", "none")
    assert json.dumps(EVIL)[1:-1] in json.dumps(unmix_json(*line, "--out", "m"))
    assert not {"\x1b", "\x9b", "\u202e"} & set(unmix(*line, "--out", "n", "--json").out)
