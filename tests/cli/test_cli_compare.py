"""`unmix compare`: every format, the same numbers as the library, and every way to hold it wrong."""

import json
import subprocess
import sys

import numpy as np
import pytest
from safetensors.numpy import save_file

from unmix import tables
from unmix.cli import _compare, _output
from unmix.metrics import align, replicate


@pytest.fixture
def runs(tmp_path):
    rng = np.random.default_rng(0)
    z = rng.laplace(size=(300, 3))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    np.save(tmp_path / "run1.npy", z)
    np.save(tmp_path / "run2.npy", z @ turn)
    return tmp_path


def test_the_document_holds_what_the_library_returns(runs, unmix_json):
    document = unmix_json("compare", runs / "run1.npy", runs / "run2.npy")
    found = align(np.load(runs / "run1.npy"), np.load(runs / "run2.npy")).to_dict()
    assert {name: document[name] for name in found} == json.loads(json.dumps(found))
    assert {"permutation", "rigid", "linear", "ica", "efficiency", "diameter"} <= document.keys()
    assert document["rigid"] < 1e-12 < 0.05 < document["permutation"]
    assert document["agreement"] == "rotation, removed by ICA"
    assert document["certificate"]["holds"] is True


def test_a_person_gets_a_table_a_sentence_and_a_page(runs, unmix):
    result = unmix("compare", runs / "run1.npy", runs / "run2.npy", "--out", runs / "r.html")
    assert result.code == 0 and result.err == ""
    for words in ("permutation", "predict the mean", "ICA efficiency: 100%", "agree up to a rotation"):
        assert words in result.out
    assert f"Report: {runs / 'r.html'}" in result.out
    assert "once ICA has removed a rotation" in (runs / "r.html").read_text()
    assert "run1.npy" in (runs / "r.html").read_text()


@pytest.mark.parametrize("suffix", ["npz", "csv", "parquet", "safetensors"])
def test_every_format_gives_the_same_numbers(suffix, runs, unmix_json):
    if suffix == "safetensors":
        save_file({"z": np.load(runs / "run2.npy")}, runs / "run2.safetensors")
    else:
        tables.write(runs / f"run2.{suffix}", np.load(runs / "run2.npy"), key="z_hat")
    expected = unmix_json("compare", runs / "run1.npy", runs / "run2.npy")
    document = unmix_json("compare", runs / "run1.npy", runs / f"run2.{suffix}")
    assert document["permutation"] == pytest.approx(expected["permutation"], rel=1e-12)


def test_many_runs_are_compared_latent_by_latent(runs, unmix, unmix_json):
    z, other = np.load(runs / "run1.npy"), np.load(runs / "run2.npy")
    (runs / "run3").mkdir()
    for k, part in enumerate(np.array_split(-z[:, ::-1], 2)):
        np.save(runs / "run3" / f"{k}.npy", part)
    line = ["compare", runs / "run1.npy", runs / "run2.npy", runs / "run3"]
    document = unmix_json(*line)
    expected = replicate([z, other, -z[:, ::-1]], names=["run1.npy", "run2.npy", "run3"])
    assert document["replication"] == json.loads(json.dumps(expected.to_dict()))
    assert [entry["alone_in"] for entry in document["replication"]["latents"]] == expected.n_alone.tolist()
    assert "permutation" not in document  # maps are between two runs
    result = unmix(*line, "--out", runs / "many.html")
    assert result.code == 0 and result.err == ""
    for words in ("Of 3 latents of run1.npy", "Agreement is not identification", "subspace", "rotated"):
        assert words in result.out and words in (runs / "many.html").read_text()


def test_two_runs_have_the_list_beside_the_maps(runs, unmix, unmix_json):
    line = ["compare", runs / "run1.npy", runs / "run2.npy", "--threshold", "0.5", "--held-out", "0.5"]
    document = unmix_json(*line)
    arrays = [np.load(runs / f"run{k}.npy") for k in (1, 2)]
    expected = replicate(arrays, names=["run1.npy", "run2.npy"], threshold=0.5, held_out=0.5)
    assert document["replication"] == json.loads(json.dumps(expected.to_dict()))
    assert "Agreement is not identification" in unmix(*line, "--out", runs / "r.html").out
    assert "Latent by latent" in (runs / "r.html").read_text()


def test_wide_or_long_runs_are_read_in_blocks_and_get_the_list_alone(runs, unmix_json, unmix, monkeypatch):
    monkeypatch.setattr(_compare, "_ENTRIES", 1000)
    monkeypatch.setattr(_compare, "_whole", None)  # would fail if called
    document = unmix_json("compare", runs / "run1.npy", runs / "run2.npy")
    assert "permutation" not in document and document["replication"]["n_rows"] == 300
    assert unmix("compare", runs / "run1.npy", runs / "run2.npy", "--out", runs / "r.html").code == 0
    assert "Which latents replicate?" in (runs / "r.html").read_text()


def test_runs_of_one_name_in_two_folders_are_told_apart(runs, unmix_json):
    for folder in ("a", "b"):
        (runs / folder).mkdir()
        np.save(runs / folder / "z.npy", np.load(runs / "run1.npy"))
    paths = [str(runs / "a" / "z.npy"), str(runs / "b" / "z.npy")]
    assert unmix_json("compare", *paths)["replication"]["names"] == paths


@pytest.mark.parametrize("terminal", [True, False])
def test_a_bar_is_shown_to_people_only(terminal, monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR" if terminal else "NO_COLOR", "1")
    with _output.progress("Comparing") as moved:
        moved(0.5)
    assert ("Comparing" in capsys.readouterr().err) == terminal


def test_options_reach_the_library(runs, unmix_json):
    first, second = np.load(runs / "run1.npy"), np.load(runs / "run2.npy")
    document = unmix_json(
        "compare", runs / "run1.npy", runs / "run2.npy", "--held-out", "0.2", "--scale", "--seed", "3"
    )
    found = align(first, second, held_out=0.2, scale=True, random_state=3)
    assert document["n_scored"] == 60 and document["permutation"] == found.permutation


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["{run1}", "{short}"], "as many rows"),
        (["{run1}", "gone.npy"], "gone.npy"),
        (["{run1}", "{broken}"], "whole safetensors file"),
        (["{run1}", "{pickled}"], "without pickled objects"),
        (["{run1}", "{constant}"], "`constant.npy` must vary"),
        (["{run1}", "{run2}", "{infinite}"], "`infinite.npy` must be finite, got inf in row 4, column 1"),
        (["{run1}", "{run2}", "{short}"], "as many rows"),
        (["{run1}", "{run2}", "{empty}"], "`empty` must be a folder of NPY"),
        (["{run1}", "{run2}", "--threshold", "2"], "`threshold` must be a correlation"),
        (["{run1}", "{run2}", "--held-out", "1.5"], "`held_out` must be a share"),
        (["{run1}", "{run2}", "--out", "r.txt"], "must end in .html"),
        (["{run1}", "{run2}", "--out", "no/such/r.html"], "Make the folder first"),
        (["{run1}"], "at least two runs, got 1"),
        ([], "Missing argument"),
    ],
)
def test_bad_input_ends_with_two_and_one_line(line, words, runs, refused):
    np.save(runs / "short.npy", np.ones((299, 3)))
    np.save(runs / "constant.npy", np.ones((300, 3)))
    np.save(runs / "pickled.npy", np.array([[{}]], dtype=object))
    np.save(runs / "infinite.npy", np.where(np.arange(900).reshape(300, 3) == 13, np.inf, 1.0))
    (runs / "empty").mkdir()
    save_file({"z": np.ones((300, 3))}, runs / "broken.safetensors")
    (runs / "broken.safetensors").write_bytes((runs / "broken.safetensors").read_bytes()[:500])
    refused(runs, ["compare", *line], words)


def test_comparing_needs_no_torch(runs):
    code = (
        "import sys; from unmix.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "finally: assert 'torch' not in sys.modules"
    )
    line = ["compare", str(runs / "run1.npy"), str(runs / "run2.npy"), "--json"]
    done = subprocess.run([sys.executable, "-c", code, *line], check=True, capture_output=True, timeout=60)
    assert json.loads(done.stdout)["agreement"].startswith("rotation")
