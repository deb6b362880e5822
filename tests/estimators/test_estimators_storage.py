import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import unmix
from unmix import Autoencoder, DiverseDictionaryLearning
from unmix.nn import mlp
from unmix.training import History, warm_up

X = np.random.default_rng(0).normal(size=(60, 3))
SMALL = {"max_iter": 2, "random_state": 0}


def double_mlp(n_in, n_out):
    return mlp(n_in, n_out, hidden=(8, 8))


def same_after(model, path, **options):
    again = unmix.load(model.save(path), **options)
    assert np.array_equal(again.transform(X), model.transform(X))
    assert again.structure_ == model.structure_ and again.structure_.margin == model.structure_.margin
    assert again.restarts_ == model.restarts_ and again.history_.terms == model.history_.terms
    return again


def test_schedules_and_partials_come_back(tmp_path):
    model = DiverseDictionaryLearning(2, weight=warm_up(0.1, 5), encoder=partial(mlp, hidden=(4,)), **SMALL)
    again = same_after(model.fit(X), tmp_path / "model")
    assert again.weight(5) == 0.1 and again.encoder.keywords == {"hidden": (4,)}


def test_own_functions_must_be_trusted_by_the_reader(tmp_path):
    model = Autoencoder(2, encoder=double_mlp, **SMALL).fit(X)
    same_after(model, tmp_path / "model", trusted=[double_mlp])
    with pytest.raises(ValueError, match=r"`trusted` must hold the function '.*double_mlp'"):
        unmix.load(tmp_path / "model")


def test_a_function_without_a_name_is_refused_when_saving(tmp_path):
    model = DiverseDictionaryLearning(2, penalty=lambda decoder, z: z.abs().sum() / len(z), **SMALL).fit(X)
    with pytest.raises(TypeError, match="`penalty` must be plain data or a named function"):
        model.save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_names_in_a_file_reach_no_other_function(tmp_path):
    from unmix.estimators._settings import decode

    for name in ("os:system", "builtins:eval", "unmix._files:atomic_write"):
        with pytest.raises(ValueError, match="`trusted` must hold"):
            decode({"function": name}, ())


def test_every_cut_and_every_flipped_byte_is_noticed(tmp_path):
    path = Autoencoder(2, **SMALL).fit(X).save(tmp_path / "model")
    whole = path.read_bytes()
    broken = tmp_path / "broken"
    for cut in (0, 1, 7, 100, len(whole) // 2, len(whole) - 1):
        broken.write_bytes(whole[:cut])
        with pytest.raises(ValueError, match="`path` must be a model written by `save`"):
            unmix.load(broken)
    for place in np.linspace(len(whole) // 3, len(whole) - 1, 12).astype(int):
        changed = bytearray(whole)
        changed[place] ^= 1
        broken.write_bytes(bytes(changed))
        with pytest.raises(ValueError, match="`path` must"):
            unmix.load(broken)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ValueError, match="is no file"):
        unmix.load(tmp_path / "nothing")


def test_the_header_holds_no_code(tmp_path):
    from safetensors import safe_open

    path = DiverseDictionaryLearning(2, **SMALL).fit(X).save(tmp_path / "model")
    with safe_open(str(path), framework="np") as file:
        header = json.loads(file.metadata()["unmix"])
    assert header["class"] == "DiverseDictionaryLearning"
    assert header["settings"]["penalty"]["partial"] == {
        "function": "unmix.penalties._sparsity:dependency_sparsity"
    }


OLD = Path(__file__).with_name("format_1")  # written before histories were stored as tensors


@pytest.mark.parametrize("name", ["autoencoder", "dictionary", "fast_ica"])
def test_models_of_the_first_format_are_still_read(name):
    model = unmix.load(OLD / f"{name}.safetensors")
    assert np.array_equal(model.transform(X), np.load(OLD / "codes.npz")[name])
    if name != "fast_ica":
        assert model.history_.n_steps == 3 and len(model.history_.objective) == 3
        assert model.history_.steps == [0, 1, 2]


def test_a_history_of_a_million_steps_stays_small(tmp_path):
    model, rng = Autoencoder(2, **SMALL).fit(X), np.random.default_rng(0)
    terms = {f"term {k}": rng.normal(size=1_000_000).tolist() for k in range(5)}
    model.history_ = History(terms, 1_000_000, 1.0, "finished", {"multiplier": terms["term 0"]})
    path = model.save(tmp_path / "model")
    assert path.stat().st_size < 20e6
    again = unmix.load(path).history_
    assert again.n_steps == 1_000_000 and again.steps[:2] == [0, 10] and again.steps[-1] == 999_999
    for name, series in terms.items():
        assert again.terms[name] == [series[step] for step in again.steps]
    assert again.extras["multiplier"] == again.terms["term 0"]


def test_a_model_of_nan_is_neither_saved_nor_loaded(tmp_path, monkeypatch):
    ica, network = unmix.FastICA(random_state=0).fit(X), Autoencoder(2, **SMALL).fit(X)
    ica.components_[0, 0] = np.nan
    network.encoder_.get_parameter(next(iter(dict(network.encoder_.named_parameters())))).data.fill_(np.inf)
    for model, name in ((ica, "components"), (network, "encoder")):
        with pytest.raises(ValueError, match=f"`model` must be finite, its '{name}"):
            model.save(tmp_path / "model")
        assert not (tmp_path / "model").exists()
    monkeypatch.setattr("unmix.estimators._storage._check_finite", lambda *_: None)
    ica.save(tmp_path / "model")  # as an earlier version did
    monkeypatch.undo()
    with pytest.raises(ValueError, match=r"holds NaN or infinity\. Its fit diverged"):
        unmix.load(tmp_path / "model")
