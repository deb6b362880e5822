"""Sparse autoencoders of other programs: files of their layouts are read right, and ours are read by them."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

import unmix
from unmix.estimators import SparseAutoencoder, load_sae, save_sae

LAYOUTS = ("sae_lens", "sparsify", "dictionary_learning", "gemma_scope", "unmix")
HOLD = {  # which layouts hold which activation
    "topk": ("sae_lens", "sparsify", "dictionary_learning", "unmix"),
    "batch_topk": ("sae_lens", "dictionary_learning", "gemma_scope", "unmix"),
    "jumprelu": ("sae_lens", "dictionary_learning", "gemma_scope", "unmix"),
    "relu": LAYOUTS,
}
D, M, K = 5, 9, 3


@pytest.fixture(scope="module")
def x():
    return np.random.default_rng(0).laplace(size=(200, D)).astype(np.float32) + 2


@pytest.fixture(scope="module")
def models(x):
    settings = {"k": K, "max_iter": 5, "batch_size": 50, "sparsity": 0.05, "random_state": 0}
    return {kind: SparseAutoencoder(M, activation=kind, **settings).fit(x) for kind in HOLD}


def off(first, second, x):
    return abs(first.transform(x) - second.transform(x)).max()


@pytest.mark.parametrize("kind", HOLD)
def test_every_pair_of_layouts_round_trips_to_equal_codes(kind, models, x, tmp_path):
    model = models[kind]
    assert model.transform(x).nnz > 0
    for first, second in product(HOLD[kind], repeat=2):
        once = load_sae(save_sae(model, tmp_path / f"{first}-{second}-1", layout=first))
        if second not in HOLD[once.activation]:
            continue
        twice = load_sae(save_sae(once, tmp_path / f"{first}-{second}-2", layout=second))
        back = load_sae(save_sae(twice, tmp_path / f"{first}-{second}-3", layout=first))
        for found in (once, twice, back):
            assert off(found, model, x) < 1e-5
            np.testing.assert_allclose(
                found.inverse_transform(found.transform(x)),
                model.inverse_transform(model.transform(x)),
                atol=1e-5,
            )


@pytest.mark.parametrize("layout", ["sae_lens", "sparsify", "dictionary_learning", "gemma_scope"])
def test_who_may_read_one_file_may_read_all(layout, models, tmp_path):
    folder = save_sae(models["relu"], tmp_path / "sae", layout=layout)
    (tmp_path / "other").write_text("")
    modes = {
        file.stat().st_mode & 0o777 for file in (*folder.rglob("*"), tmp_path / "other") if file.is_file()
    }
    assert len(modes) == 1


@pytest.mark.parametrize("first, second", list(product(LAYOUTS, repeat=2)))
def test_every_pair_holds_a_common_activation(first, second):
    assert any(first in able and second in able for able in HOLD.values())


@pytest.mark.parametrize(
    "kind, layout", [("topk", "gemma_scope"), ("batch_topk", "sparsify"), ("jumprelu", "sparsify")]
)
def test_a_layout_that_would_give_other_codes_is_refused(kind, layout, models, tmp_path):
    with pytest.raises(ValueError, match=f"`layout` must hold the activation '{kind}'"):
        save_sae(models[kind], tmp_path / "sae", layout=layout)
    assert not (tmp_path / "sae").exists()


# files as the other programs write them, from random weights, beside what those programs compute of x


def drawn(seed=3):
    rng = np.random.default_rng(seed)
    shapes = {"E": (M, D), "e": (M,), "D": (M, D), "b": (D,), "t": (M,)}
    arrays = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    return arrays | {"t": np.abs(arrays["t"]).astype(np.float32)}


def top(a, k):
    least = np.sort(a, axis=1)[:, -k][:, None]
    return np.where(a >= least, np.maximum(a, 0), 0)


def sae_lens(folder, kind, *, centre=True, rescale=False, **more):
    w = drawn()
    arrays = {"W_enc": w["E"].T, "b_enc": w["e"], "W_dec": w["D"], "b_dec": w["b"]}
    arrays |= {"threshold": w["t"]} if kind == "jumprelu" else {}
    save_file({k: np.ascontiguousarray(v) for k, v in arrays.items()}, folder / "sae_weights.safetensors")
    config = {"architecture": kind, "d_in": D, "d_sae": M, "dtype": "float32", "apply_b_dec_to_input": centre}
    config |= {"normalize_activations": "none", "k": K, "rescale_acts_by_decoder_norm": rescale}
    config |= {"metadata": {"sae_lens_version": "6.1.0", "model_name": "tiny", "hook_name": "blocks.0"}}
    (folder / "cfg.json").write_text(json.dumps(config | more))


def sae_lens_codes(x, kind, *, centre=True, rescale=False):
    w = drawn()
    a = (x - w["b"] * centre) @ w["E"].T + w["e"]
    a = a * np.linalg.norm(w["D"], axis=1) if rescale else a
    if kind == "topk":
        return top(a, K)
    return np.where(a > (w["t"] if kind == "jumprelu" else 0), np.maximum(a, 0), 0)


@pytest.mark.parametrize("kind", ["standard", "topk", "jumprelu"])
@pytest.mark.parametrize("centre", [True, False], ids=["centred", "plain"])
def test_sae_lens_is_read(kind, centre, x, tmp_path):
    sae_lens(tmp_path, kind, centre=centre)
    model = load_sae(tmp_path)
    np.testing.assert_allclose(
        model.transform(x).toarray(), sae_lens_codes(x, kind, centre=centre), atol=1e-5
    )
    assert (model.model_name_, model.site_) == ("tiny", "blocks.0")
    w = drawn()
    codes = model.transform(x).toarray()
    np.testing.assert_allclose(model.inverse_transform(codes), codes @ w["D"] + w["b"], atol=1e-4)


def test_sae_lens_rescaled_by_the_decoder_gets_unit_rows(x, tmp_path):
    sae_lens(tmp_path, "topk", rescale=True)
    model = load_sae(tmp_path)
    np.testing.assert_allclose(np.linalg.norm(model.dictionary_, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(
        model.transform(x).toarray(), sae_lens_codes(x, "topk", rescale=True), atol=1e-5
    )


def test_sae_lens_before_version_6_is_read(x, tmp_path):
    sae_lens(tmp_path, "standard")
    old = {
        "d_in": D,
        "d_sae": M,
        "activation_fn_str": "topk",
        "activation_fn_kwargs": {"k": K},
        "hook_name": "h",
    }
    (tmp_path / "cfg.json").write_text(json.dumps(old))
    model = load_sae(tmp_path / "cfg.json")
    assert model.activation == "topk" and model.k == K and model.site_ == "h"


def test_unit_rows_on_demand_keep_the_reconstruction(x, tmp_path):
    sae_lens(tmp_path, "jumprelu")
    plain, unit = load_sae(tmp_path), load_sae(tmp_path, unit=True)
    np.testing.assert_allclose(np.linalg.norm(unit.dictionary_, axis=1), 1, atol=1e-5)
    made = [model.inverse_transform(model.transform(x)) for model in (plain, unit)]
    np.testing.assert_allclose(made[0], made[1], atol=1e-4)
    assert (abs(plain.transform(x)) > 0).nnz == (abs(unit.transform(x)) > 0).nnz
    sae_lens(tmp_path, "topk")
    with pytest.raises(ValueError, match="`unit` must be False for 'topk'"):
        load_sae(tmp_path, unit=True)


def test_sparsify_is_read(x, tmp_path):
    w = drawn()
    layer = tmp_path / "layers.3"
    layer.mkdir()
    arrays = {"encoder.weight": w["E"], "encoder.bias": w["e"], "W_dec": w["D"], "b_dec": w["b"]}
    save_file(arrays, layer / "sae.safetensors")
    config = {"expansion_factor": 2, "num_latents": M, "k": K, "d_in": D, "activation": "topk"}
    (layer / "cfg.json").write_text(json.dumps(config))
    expected = top((x - w["b"]) @ w["E"].T + w["e"], K)
    for place in (layer, tmp_path):
        np.testing.assert_allclose(load_sae(place).transform(x).toarray(), expected, atol=1e-5)
    for wrong, words in (
        ({"num_latents": 8}, "says num_latents=8, the weights have 9"),
        ({"skip_connection": True}, "a transcoder"),
        ({"activation": "groupmax"}, "must hold the activation 'topk'"),
        ({"k": 99}, "must hold k from 1 to 9"),
    ):
        (layer / "cfg.json").write_text(json.dumps(config | wrong))
        with pytest.raises(ValueError, match=words):
            load_sae(layer)


@pytest.mark.parametrize(
    "name", ["AutoEncoder", "AutoEncoderNew", "AutoEncoderTopK", "BatchTopKSAE", "JumpReluAutoEncoder"]
)
@pytest.mark.parametrize("told", [True, False], ids=["with config", "without"])
def test_dictionary_learning_is_read(name, told, x, tmp_path):
    w = {key: torch.from_numpy(value) for key, value in drawn().items()}
    linear = {"encoder.weight": w["E"], "encoder.bias": w["e"], "decoder.weight": w["D"].T.contiguous()}
    a = (x - drawn()["b"]) @ drawn()["E"].T + drawn()["e"]
    if name == "JumpReluAutoEncoder":
        state = {"W_enc": w["E"].T, "b_enc": w["e"], "W_dec": w["D"], "b_dec": w["b"], "threshold": w["t"]}
        a = x @ drawn()["E"].T + drawn()["e"]
        expected = np.where(a > drawn()["t"], np.maximum(a, 0), 0)
    elif name == "AutoEncoderNew":
        state = linear | {"decoder.bias": w["b"]}
        expected = np.maximum(x @ drawn()["E"].T + drawn()["e"], 0)
    elif name == "AutoEncoder":
        state, expected = linear | {"bias": w["b"]}, np.maximum(a, 0)
    else:
        least = -1.0 if name == "AutoEncoderTopK" else 0.7
        more = {"b_dec": w["b"], "k": torch.tensor(K, dtype=torch.int), "threshold": torch.tensor(least)}
        state = linear | more
        expected = top(a, K) if least < 0 else np.where(a > least, a, 0)
    torch.save(state, tmp_path / "ae.pt")
    if told:
        config = {"dict_class": name, "activation_dim": D, "dict_size": M, "k": K}
        (tmp_path / "config.json").write_text(json.dumps({"trainer": config}))
    np.testing.assert_allclose(load_sae(tmp_path).transform(x).toarray(), expected, atol=1e-5)


def test_gemma_scope_is_read(x, tmp_path):
    w = drawn()
    np.savez(
        tmp_path / "params.npz", W_enc=w["E"].T, b_enc=w["e"], W_dec=w["D"], b_dec=w["b"], threshold=w["t"]
    )
    a = x @ w["E"].T + w["e"]
    for place in (tmp_path, tmp_path / "params.npz"):
        found = load_sae(place).transform(x).toarray()
        np.testing.assert_allclose(found, np.where(a > w["t"], np.maximum(a, 0), 0), atol=1e-5)


# what is wrong is named


def test_a_configuration_that_disagrees_with_its_weights_is_named(tmp_path):
    sae_lens(tmp_path, "topk", d_sae=10)
    with pytest.raises(ValueError, match="says d_sae=10, the weights have 9"):
        load_sae(tmp_path)
    for more, words in (
        ({"architecture": "gated"}, "must hold the architecture standard, topk, jumprelu, .* holds 'gated'"),
        ({"normalize_activations": "layer_norm"}, "asks for 'layer_norm'"),
    ):
        sae_lens(tmp_path, "topk", **more)
        with pytest.raises(ValueError, match=words):
            load_sae(tmp_path)


class Evil:
    def __reduce__(self):
        return (Path("/tmp/unmix-was-here").touch, ())


def test_nothing_is_unpickled(tmp_path):
    torch.save({"encoder.weight": Evil()}, tmp_path / "ae.pt")
    with pytest.raises(ValueError, match="torch file of weights only"):
        load_sae(tmp_path)
    (tmp_path / "ae.pt").unlink()
    np.savez(tmp_path / "params.npz", W_enc=np.array([Evil()], dtype=object))
    with pytest.raises(ValueError, match="without pickled objects"):
        load_sae(tmp_path)
    assert not Path("/tmp/unmix-was-here").exists()


def test_broken_files_and_odd_places_are_named(models, tmp_path, x):
    folder = save_sae(models["topk"], tmp_path / "sae", layout="sae_lens")
    with pytest.raises(ValueError, match="`path` must not exist yet"):
        save_sae(models["topk"], folder, layout="sae_lens")
    weights = folder / "sae_weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-7])
    with pytest.raises(ValueError, match="whole safetensors file"):
        load_sae(folder)
    with pytest.raises(ValueError, match="file or folder that exists"):
        load_sae(tmp_path / "nothing")
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(ValueError, match="must hold the files of SAELens"):
        load_sae(empty)
    for name in ("layers.0", "layers.1"):
        save_sae(models["topk"], empty / name, layout="sparsify")
    with pytest.raises(ValueError, match=r"Name one of its folders: layers\.0, layers\.1"):
        load_sae(empty)
    other = unmix.FastICA(random_state=0).fit(x).save(tmp_path / "ica")
    with pytest.raises(ValueError, match=r"must hold a sparse autoencoder, .* holds FastICA"):
        load_sae(other)
    with pytest.raises(ValueError, match="`layout` must be one of"):
        save_sae(models["topk"], tmp_path / "x", layout="onnx")
    sae_lens(tmp_path, "standard")
    broken = {**{k: v for k, v in drawn().items()}}
    broken["D"][0, 0] = np.nan
    arrays = {"W_enc": broken["E"].T.copy(), "b_enc": broken["e"], "W_dec": broken["D"], "b_dec": broken["b"]}
    save_file(arrays, tmp_path / "sae_weights.safetensors")
    with pytest.raises(ValueError, match="finite weights"):
        load_sae(tmp_path / "cfg.json")


# the other programs read ours; extra `sae-peers`


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", HOLD)
def test_sae_lens_reads_ours(kind, models, x, tmp_path):
    peer = pytest.importorskip("sae_lens")
    theirs = peer.SAE.load_from_disk(str(save_sae(models[kind], tmp_path / "sae", layout="sae_lens")))
    codes = theirs.encode(torch.from_numpy(x)).detach().numpy()
    np.testing.assert_allclose(codes, models[kind].transform(x).toarray(), atol=1e-5)
    theirs.save_model(tmp_path / "back")
    assert off(load_sae(tmp_path / "back"), models[kind], x) < 1e-5


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["batch_topk", "jumprelu", "relu"])
def test_sae_lens_reads_ours_of_gemma_scope(kind, models, x, tmp_path, monkeypatch):
    peer = pytest.importorskip("sae_lens")
    loaders = pytest.importorskip("sae_lens.loading.pretrained_sae_loaders")
    file = save_sae(models[kind], tmp_path / "sae", layout="gemma_scope") / "params.npz"
    monkeypatch.setattr(loaders, "hf_hub_download", lambda **asked: str(file))
    place = "google/gemma-scope-2b-pt-res", "layer_20/width_16k/average_l0_71"
    sizes = {"d_in": D, "d_sae": M}  # by name it knows those of Gemma
    told, weights, _ = loaders.gemma_2_sae_huggingface_loader(*place, cfg_overrides=sizes)
    theirs = peer.SAE.from_dict(loaders.handle_config_defaulting(told))
    theirs.process_state_dict_for_loading(weights)
    theirs.load_state_dict(weights)
    codes = theirs.encode(torch.from_numpy(x)).detach().numpy()
    np.testing.assert_allclose(codes, models[kind].transform(x).toarray(), atol=1e-5)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["topk", "relu"])
def test_sparsify_reads_ours(kind, models, x, tmp_path):
    peer = pytest.importorskip("sparsify")
    theirs = peer.SparseCoder.load_from_disk(str(save_sae(models[kind], tmp_path / "sae", layout="sparsify")))
    found = theirs.encode(torch.from_numpy(x))
    codes = np.zeros((len(x), M), dtype=np.float32)
    np.put_along_axis(codes, found.top_indices.numpy(), found.top_acts.detach().numpy(), 1)
    np.testing.assert_allclose(codes, models[kind].transform(x).toarray(), atol=1e-5)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "kind, module, name",
    [
        ("relu", "dictionary", "AutoEncoder"),
        ("jumprelu", "dictionary", "JumpReluAutoEncoder"),
        ("topk", "trainers.top_k", "AutoEncoderTopK"),
        ("batch_topk", "trainers.batch_top_k", "BatchTopKSAE"),
    ],
)
def test_dictionary_learning_reads_ours(kind, module, name, models, x, tmp_path):
    peer = pytest.importorskip(f"dictionary_learning.{module}", exc_type=ImportError)
    folder = save_sae(models[kind], tmp_path / "sae", layout="dictionary_learning")
    theirs = getattr(peer, name).from_pretrained(folder / "ae.pt")
    codes = theirs.encode(torch.from_numpy(x)).detach().numpy()
    np.testing.assert_allclose(codes, models[kind].transform(x).toarray(), atol=1e-5)
    torch.save(theirs.state_dict(), folder / "ae.pt")
    assert off(load_sae(folder), models[kind], x) < 1e-5
