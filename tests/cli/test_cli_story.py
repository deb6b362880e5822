"""The whole story by commands: simulate, fit, transform, evaluate, certify, report, and the demo."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import unmix as library
from unmix import tables

FIT = ("--n-components", 3, "--max-iter", 12, "--n-restarts", 2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("story")


@pytest.fixture
def data(folder, unmix_json):
    path = folder / "data.npz"
    if not path.exists():
        unmix_json("simulate", "--n", 3, "--d-x", 6, "--n-samples", 200, "--out", path)
    return path


@pytest.fixture
def model(folder, data, unmix_json):
    path = folder / "model"
    if not path.exists():
        unmix_json("fit", data, *FIT, "--out", path)
    return path


def test_simulate_writes_what_the_library_makes(data):
    made = library.data.sparse_mixing(200, 3, 6, profile="tall", random_state=0)
    with np.load(data) as stored:
        np.testing.assert_array_equal(stored["x"], made.x)
        np.testing.assert_array_equal(stored["z"], made.z)
        np.testing.assert_array_equal(stored["structure"], made.structure.support)


def test_simulate_takes_a_structure(tmp_path, unmix_json):
    wanted = library.structure.ring(3)
    wanted.write(tmp_path / "mask.csv")
    document = unmix_json(
        "simulate", "--structure", tmp_path / "mask.csv", "--n-samples", 50, "--out", tmp_path / "d.npz"
    )
    np.testing.assert_array_equal(document["structure"], wanted.support.astype(int))


def test_fit_saves_a_model_and_leaves_no_checkpoint(folder, data, unmix_json):
    document = unmix_json("fit", data, *FIT, "--out", folder / "other")
    fitted = library.load(folder / "other")
    np.testing.assert_array_equal(document["structure"], fitted.structure_.support.astype(int))
    assert document["method"] == "DiverseDictionaryLearning" and len(document["restarts"]) == 2
    assert not (folder / "other.checkpoint").exists()


@pytest.mark.parametrize(("method", "name"), [("ae", "Autoencoder"), ("vae", "BetaVAE")])
def test_fit_with_other_methods(method, name, folder, data, unmix_json):
    line = ("fit", data, "--n-components", 2, "--max-iter", 5, "--method", method)
    document = unmix_json(*line, "--out", folder / method)
    assert document["method"] == name and document["n_components"] == 2


@pytest.mark.parametrize("suffix", ["csv", "npy", "npz", "parquet"])
def test_transform_writes_the_latents(suffix, folder, data, model, unmix_json):
    path = folder / f"z.{suffix}"
    assert unmix_json("transform", model, data, "--out", path) == {
        "out": str(path),
        "n_samples": 200,
        "n_components": 3,
        "n_empty": 0,
    }
    expected = library.load(model).transform(tables.read(data).values)
    np.testing.assert_allclose(tables.read(path, keys=("z",)).values, expected, rtol=1e-6)


def test_evaluate_and_certify_what_was_fitted(folder, data, model, unmix_json):
    unmix_json("transform", model, data, "--force", "--out", folder / "z.csv")
    scores = unmix_json("evaluate", data, folder / "z.csv", "--x", data)
    assert 0 < scores["mcc"]["value"] <= 1 and scores["mcc"]["raw"] > 0
    structure = library.load(model).structure_
    if structure.support.any(0).all():
        assert len(unmix_json("certify", model)["levels"]) == 3


def test_report_knows_the_truth_of_simulated_data(folder, data, model, unmix_json):
    document = unmix_json(
        "report", model, "--data", data, "--title", "A <b> title", "--out", folder / "r.html"
    )
    html = (folder / "r.html").read_text(encoding="utf-8")
    assert document["bytes"] == len(html.encode())
    assert "A &lt;b&gt; title" in html and "How close to the truth?" in html


def test_report_on_data_alone(folder, data, model, unmix):
    assert unmix("report", model, "--data", f"{data}:x", "--out", folder / "alone.html").code == 0
    assert "How close to the truth?" not in (folder / "alone.html").read_text(encoding="utf-8")


def test_columns_are_found_by_name(folder, data, unmix, unmix_json):
    x = tables.read(data).values
    names = ["a", "b", "c", "d", "e", "f"]
    tables.write(folder / "named.csv", x, names)
    unmix_json("fit", folder / "named.csv", *FIT, "--out", folder / "named")
    unmix_json("transform", folder / "named", folder / "named.csv", "--out", folder / "straight.npy")
    tables.write(folder / "turned.csv", np.column_stack([x[:, ::-1], x[:, 0]]), [*names[::-1], "extra"])
    unmix_json("transform", folder / "named", folder / "turned.csv", "--out", folder / "turned.npy")
    np.testing.assert_array_equal(np.load(folder / "straight.npy"), np.load(folder / "turned.npy"))
    tables.write(folder / "lacking.csv", x[:, 1:], names[1:])
    result = unmix("transform", folder / "named", folder / "lacking.csv", "--out", folder / "no.npy")
    assert result.code == 2 and "lacks 'a'" in result.err and not (folder / "no.npy").exists()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["fit", "{data}", "--n-components", "0", "--out", "m"], "n_components"),
        (["fit", "{data}", "--n-components", "99", "--out", "m"], "n_components"),
        (["fit", "{data}", "--n-components", "2", "--device", "tpu", "--out", "m"], "device"),
        (
            ["fit", "{data}", "--n-components", "2", "--method", "ae", "--weight", "1", "--out", "m"],
            "--weight",
        ),
        (["simulate", "--noise", "-1", "--out", "d.npz"], "noise"),
        (["simulate", "--n-samples", "0", "--out", "d.npz"], "n_samples"),
        (["transform", "{broken}", "{data}", "--out", "z.csv"], "broken"),
        (["transform", "{model}", "{narrow}", "--out", "z.csv"], "features"),
        (["report", "{model}", "--data", "{narrow}", "--out", "r.html"], "features"),
    ],
)
def test_bad_input_to_models(line, words, data, model, tmp_path, refused):
    (tmp_path / "broken").write_bytes(b"no model")
    np.save(tmp_path / "narrow.npy", np.ones((4, 2)))
    refused(tmp_path, line, words, data=data, model=model)


def start(*arguments):
    command = [sys.executable, "-c", "from unmix.cli import main; main()", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(path, child):
    for _ in range(600):
        if path.exists() or child.poll() is not None:
            return
        time.sleep(0.05)


def straight(line, folder, unmix_json):
    """Fit once without a stop, for both ways of stopping."""
    if not (folder / "straight.json").exists():
        (folder / "straight.json").write_text(json.dumps(unmix_json(*line, folder / "straight")))
    return json.loads((folder / "straight.json").read_text())


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize("how", [pytest.param(signal.SIGKILL, marks=pytest.mark.slow), signal.SIGINT])
def test_a_stopped_fit_goes_on_by_the_same_command(how, folder, data, tmp_path, unmix_json):
    line = ("fit", data, "--n-components", 3, "--max-iter", 120, "--n-restarts", 1, "--out")
    child = start(*line, tmp_path / "model")
    wait_for(tmp_path / "model.checkpoint" / "round-0" / "checkpoint.safetensors", child)
    child.send_signal(how)
    out, err = child.communicate(timeout=60)
    if how == signal.SIGINT:
        assert (child.returncode, out) == (130, "")
        assert err.splitlines()[-1].startswith("unmix: interrupted")  # before it, a plan on a slow machine
        command = shlex.join(["unmix", *map(str, line), str(tmp_path / "model")])
        assert err.endswith(f". To go on: {command}\n")
    assert not (tmp_path / "model").exists() and (tmp_path / "model.checkpoint").exists()
    resumed = unmix_json(*line, tmp_path / "model")
    assert resumed["history"] == straight(line, folder, unmix_json)["history"]
    assert not (tmp_path / "model.checkpoint").exists()


def test_demo_tells_the_story(tmp_path, unmix):
    result = unmix("demo", "--quick", "--out", tmp_path / "demo")
    assert result.code == 0, result.err
    assert result.out.strip().splitlines()[-2].endswith(str(tmp_path / "demo" / "report.html"))
    assert result.out.strip().splitlines()[-1].endswith(str(tmp_path / "demo" / "explorer.html"))
    written = sorted(path.name for path in (tmp_path / "demo").iterdir())
    assert written == ["data.npz", "explorer.html", "model", "report.html"]
    assert "rotation" in result.out
    assert result.out.index("4. The verdict:") < result.out.index("5. The truth")
    page = (tmp_path / "demo" / "report.html").read_text(encoding="utf-8")
    headline = next(line for line in result.out.splitlines() if line.endswith(("trusted.", "'quick'.")))
    assert page.index(headline[:-1].replace("'", "&#39;")) < page.index("How close to the truth?")


def test_demo_for_programs(tmp_path, unmix_json):
    document = unmix_json("demo", "--quick", "--out", tmp_path / "demo")
    assert {"report", "explorer", "fit", "trust", "scores"} == document.keys()
    assert document["trust"]["effort"] == "quick" and len(document["trust"]["probability"]) == 5
    assert json.dumps(document["scores"]["mcc"]["raw"])
