"""`unmix activations` and `unmix convert`: files in, files out, one line where something is wrong."""

import json

import numpy as np
import pytest

from unmix.data import read_activations
from unmix.estimators import SparseAutoencoder, load_sae


@pytest.fixture
def x():
    return np.random.default_rng(0).laplace(size=(120, 5)).astype(np.float32)


@pytest.fixture
def model(x, tmp_path):
    fitted = SparseAutoencoder(9, k=2, max_iter=2, batch_size=40, random_state=0).fit(x)
    fitted.save(tmp_path / "model")
    return fitted


def test_an_array_becomes_a_store_and_the_mask_is_told(unmix, x, tmp_path):
    x[7] *= 1000
    np.save(tmp_path / "x.npy", x)
    done = unmix("activations", tmp_path / "x.npy", "--out", tmp_path / "store")
    assert done.code == 0 and done.err == ""
    assert "Masked: 1 rows (0.83%)" in done.out and "Participation ratio" in done.out and "gamma" in done.out
    assert read_activations(tmp_path / "store").shape == (119, 5)
    again = unmix("activations", tmp_path / "x.npy", "--out", tmp_path / "store", "--json")
    told = json.loads(again.out)
    assert told["n_kept"] == 119 and told["summary"]["masked_variance"] > 0.9 and told["dtype"] == "float16"
    loose = unmix(
        "activations", tmp_path / "x.npy", "--out", tmp_path / "loose", "--mask-norm", "0", "--json"
    )
    assert json.loads(loose.out)["n_kept"] == 120


def test_models_are_converted_there_and_back(unmix, model, x, tmp_path):
    steps = [
        ("model", "a", []),
        ("a", "b", ["--to", "sparsify"]),
        ("b", "c", ["--to", "dictionary_learning"]),
    ]
    for source, target, more in steps:
        done = unmix("convert", tmp_path / source, tmp_path / target, *more)
        assert done.code == 0 and "Largest difference of codes" in done.out
    done = unmix("convert", tmp_path / "c", "--out", tmp_path / "back", "--json")
    told = json.loads(done.out)
    assert told["layout"] == "unmix" and told["max_difference"] < 1e-6 and told["n_components"] == 9
    assert (tmp_path / "a" / "sae_weights.safetensors").is_file()
    assert abs(load_sae(tmp_path / "back").transform(x) - model.transform(x)).max() < 1e-6
    forced = unmix("convert", tmp_path / "model", tmp_path / "a", "--force")
    assert forced.code == 0


@pytest.mark.parametrize(
    "line, words",
    [
        (["convert", "model"], "`--out` must name one place"),
        (["convert", "model", "out", "--to", "gemma_scope"], "`layout` must hold the activation 'topk'"),
        (["convert", "nothing", "out"], "that exists"),
        (["convert", "model", "model"], "exists. Add --force"),
        (["convert", "x.npy", "out"], "must be a model written by `save`"),
        (["activations", "x.npy", "--site", "layers.0", "--out", "out"], "`--model` must be given"),
        (["activations", "x.npy", "--model", "none", "--out", "out"], "`--site` must be given"),
        (["activations", "x.npy", "--mask-norm", "-1", "--out", "out"], "`--mask-norm` must be"),
        (["activations", "x.npy", "--dtype", "int8", "--out", "out"], "`dtype` must be one of"),
        (
            ["activations", "no.txt", "--model", "m", "--site", "layers.0", "--out", "out"],
            "`TEXT` must be a file",
        ),
        (
            ["activations", "x.npy", "--model", "m", "--site", "layers.0", "--out", "out"],
            "`model` must be a folder",
        ),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, list) else None,
)
def test_what_is_wrong_is_said_in_one_line(refused, model, x, tmp_path, line, words):
    np.save(tmp_path / "x.npy", x)
    refused(tmp_path, line, words)
