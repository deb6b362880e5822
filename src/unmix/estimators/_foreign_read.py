"""Files of other programs that hold sparse autoencoders, read into one form: arrays, and an activation.

Nothing is unpickled: torch files are read by weights only, NPZ files without objects.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from unmix._untrusted import npz_array, npz_names, opened_npz, read_object, whole
from unmix.rows import keys_of, read_tensor


@dataclass(frozen=True, eq=False)
class Parts:
    """A sparse autoencoder: z = act(E (x - b) + e), reconstructed as D^T z + b; rows are features."""

    activation: str
    encoder: np.ndarray
    encoder_bias: np.ndarray
    dictionary: np.ndarray
    bias: np.ndarray
    k: int | None = None
    threshold: Any = None
    firing: np.ndarray | None = None
    model_name: str | None = None
    site: str | None = None


def read_sae_lens(folder: Path) -> Parts:
    """Read `cfg.json` and `sae_weights.safetensors` of SAELens."""
    config = read_object(folder / "cfg.json")
    config = config | {"k": config.get("k", (config.get("activation_fn_kwargs") or {}).get("k"))}
    arrays = _safetensors(folder / "sae_weights.safetensors")
    kind = _architecture(config, folder)
    _need(arrays, ("W_enc", "b_enc", "W_dec", "b_dec", *(["threshold"] * (kind == "jumprelu"))), folder)
    _agree(folder, arrays["W_dec"].shape, d_sae=config.get("d_sae"), d_in=config.get("d_in"))
    parts = _checked(
        folder,
        Parts(
            kind,
            arrays["W_enc"].T,
            arrays["b_enc"],
            arrays["W_dec"],
            arrays["b_dec"],
            k=config["k"],
            threshold=arrays.get("threshold") if kind == "jumprelu" else None,
            firing=_sparsity(folder / "sparsity.safetensors"),
            **_origin(config.get("metadata") or config),
        ),
    )
    if kind == "topk" and config.get("rescale_acts_by_decoder_norm"):
        parts = unit_parts(parts)
    return parts if config.get("apply_b_dec_to_input", True) else centred(parts)


def _architecture(config: dict[str, Any], folder: Path) -> str:
    """Return the activation, and refuse what would give other codes."""
    named = config.get("architecture", "standard")
    named = "topk" if config.get("activation_fn", config.get("activation_fn_str")) == "topk" else named
    kinds = {"standard": "relu", "topk": "topk", "jumprelu": "jumprelu"}
    if named not in kinds:
        raise ValueError(
            f"`path` must hold the architecture {', '.join(kinds)}, {str(folder)!r} holds {named!r}."
        )
    scaling = config.get("normalize_activations")
    if scaling not in (None, False, "none", "expected_average_only_in"):
        raise ValueError(
            f"`path` must hold an SAE whose inputs are not normalised by row, {str(folder)!r} asks for "
            f"{scaling!r}. Normalise the activations first, and set normalize_activations to 'none'."
        )
    return kinds[named]


def _origin(known: dict[str, Any]) -> dict[str, Any]:
    return {"model_name": known.get("model_name"), "site": known.get("hook_name")}


def _sparsity(file: Path) -> np.ndarray | None:
    """Read how often features fire, which SAELens keeps as logarithms."""
    return np.power(10.0, _safetensors(file)["sparsity"]) if file.is_file() else None


def read_sparsify(folder: Path) -> Parts:
    """Read `cfg.json` and `sae.safetensors` of sparsify."""
    config, arrays = read_object(folder / "cfg.json"), _safetensors(folder / "sae.safetensors")
    for name in ("transcode", "skip_connection"):
        if config.get(name):
            raise ValueError(f"`path` must hold an autoencoder, {str(folder)!r} has {name}: a transcoder.")
    if config.get("activation", "topk") != "topk":
        raise ValueError(
            f"`path` must hold the activation 'topk', {str(folder)!r} has {config['activation']!r}."
        )
    _need(arrays, ("encoder.weight", "encoder.bias", "W_dec", "b_dec"), folder)
    wanted = config.get("num_latents") or config["d_in"] * config.get("expansion_factor", 32)
    _agree(folder, arrays["W_dec"].shape, num_latents=wanted, d_in=config["d_in"])
    kind = "relu" if config["k"] == wanted else "topk"  # all positive features are kept
    encoder = arrays["encoder.weight"], arrays["encoder.bias"]
    return _checked(folder, Parts(kind, *encoder, arrays["W_dec"], arrays["b_dec"], k=config["k"]))


def read_dictionary_learning(folder: Path) -> Parts:
    """Read `ae.pt` and `config.json` of dictionary_learning; a torch file, of which only weights are read."""
    arrays = _torch_file(folder / "ae.pt")
    told = (
        read_object(folder / "config.json").get("trainer", {}) if (folder / "config.json").is_file() else {}
    )
    kind = told.get("dict_class") or _kind_of(arrays)
    if kind not in _DICTIONARIES:
        raise ValueError(
            f"`path` must hold one of {', '.join(_DICTIONARIES)}, {str(folder)!r} holds a {kind}."
        )
    _need(arrays, _DICTIONARIES[kind], folder)
    parts = _checked(folder, _of_dictionary(kind, arrays, told.get("k")))
    _agree(
        folder,
        parts.dictionary.shape,
        dict_size=told.get("dict_size"),
        activation_dim=told.get("activation_dim"),
    )
    if told.get("k") is not None and "k" in arrays:
        _same(folder, "k", told["k"], int(arrays["k"]))
    return centred(parts) if kind in ("JumpReluAutoEncoder", "AutoEncoderNew") else parts


_LINEAR = ("encoder.weight", "encoder.bias", "decoder.weight")
_PLAIN = ("W_enc", "b_enc", "W_dec", "b_dec", "threshold")
_DICTIONARIES: dict[str, tuple[str, ...]] = {
    "AutoEncoder": (*_LINEAR, "bias"),
    "AutoEncoderNew": (*_LINEAR, "decoder.bias"),
    "AutoEncoderTopK": (*_LINEAR, "b_dec"),
    "BatchTopKSAE": (*_LINEAR, "b_dec", "threshold"),
    "MatryoshkaBatchTopKSAE": _PLAIN,
    "JumpReluAutoEncoder": _PLAIN,
}


def _kind_of(arrays: dict[str, np.ndarray]) -> str:
    """Tell the class from what a file without a configuration holds."""
    if "W_enc" in arrays:
        return "JumpReluAutoEncoder" if arrays["threshold"].ndim else "MatryoshkaBatchTopKSAE"
    if "b_dec" in arrays:
        trained = "threshold" in arrays and float(arrays["threshold"]) >= 0
        return "BatchTopKSAE" if trained else "AutoEncoderTopK"
    return "AutoEncoder" if "bias" in arrays else "AutoEncoderNew"


def _of_dictionary(kind: str, arrays: dict[str, np.ndarray], k: int | None) -> Parts:
    k = int(arrays["k"]) if "k" in arrays else k
    if _DICTIONARIES[kind] == _PLAIN:
        activation = "jumprelu" if arrays["threshold"].ndim else "batch_topk"
        return Parts(
            activation,
            arrays["W_enc"].T,
            arrays["b_enc"],
            arrays["W_dec"],
            arrays["b_dec"],
            k=k,
            threshold=_threshold(arrays["threshold"]),
        )
    activation = {"AutoEncoderTopK": "topk", "BatchTopKSAE": "batch_topk"}.get(kind, "relu")
    return Parts(
        activation,
        arrays["encoder.weight"],
        arrays["encoder.bias"],
        arrays["decoder.weight"].T,
        arrays[_DICTIONARIES[kind][3]],
        k=k,
        threshold=_threshold(arrays["threshold"]) if activation == "batch_topk" else None,
    )


def _threshold(found: np.ndarray) -> Any:
    return found if found.ndim else max(0.0, float(found))


def read_gemma_scope(folder: Path) -> Parts:
    """Read `params.npz` of Gemma Scope, whose encoder does not subtract the bias of the decoder."""
    file = folder / "params.npz"
    with opened_npz(file) as stored:
        arrays = {name: npz_array(stored, name) for name in npz_names(stored)}
    _need(arrays, _PLAIN, folder)
    kind = "jumprelu" if np.any(arrays["threshold"] > 0) else "relu"
    threshold = arrays["threshold"] if kind == "jumprelu" else None
    arrays = {name: array.astype(np.float32) for name, array in arrays.items()}
    parts = Parts(
        kind, arrays["W_enc"].T, arrays["b_enc"], arrays["W_dec"], arrays["b_dec"], threshold=threshold
    )
    return centred(_checked(folder, parts))


READERS = {
    "sae_lens": (read_sae_lens, ("cfg.json", "sae_weights.safetensors")),
    "sparsify": (read_sparsify, ("cfg.json", "sae.safetensors")),
    "dictionary_learning": (read_dictionary_learning, ("ae.pt",)),
    "gemma_scope": (read_gemma_scope, ("params.npz",)),
}


def centred(parts: Parts) -> Parts:
    """Let an encoder that reads x read x - b instead: E x + e = E (x - b) + (e + E b)."""
    return _shifted(parts, 1.0)


def uncentred(parts: Parts) -> Parts:
    """Undo `centred`, for layouts whose encoder reads x."""
    return _shifted(parts, -1.0)


def _shifted(parts: Parts, sign: float) -> Parts:
    moved = parts.encoder.astype(np.float64) @ parts.bias.astype(np.float64)
    return replace(parts, encoder_bias=(parts.encoder_bias + sign * moved).astype(np.float32))


def unit_parts(parts: Parts) -> Parts:
    """Give rows of the dictionary unit length, and the codes their length."""
    length = np.maximum(np.linalg.norm(parts.dictionary, axis=1), 1e-30)
    threshold = None if parts.threshold is None else np.asarray(parts.threshold) * length
    return replace(
        parts,
        dictionary=parts.dictionary / length[:, None],
        encoder=parts.encoder * length[:, None],
        encoder_bias=parts.encoder_bias * length,
        threshold=threshold,
    )


def _safetensors(file: Path) -> dict[str, np.ndarray]:
    if not file.is_file():
        raise ValueError(f"`path` must hold {file.name!r}, {str(file.parent)!r} has none. Check the folder.")
    return {name: np.asarray(read_tensor(file, name), dtype=np.float32) for name in keys_of(file)}


def _torch_file(file: Path) -> dict[str, np.ndarray]:
    with whole(file, "torch file of weights only"):
        found = torch.load(file, map_location="cpu", weights_only=True)
    if not isinstance(found, dict) or not all(torch.is_tensor(value) for value in found.values()):
        raise ValueError(f"`path` must hold a dict of tensors, {str(file)!r} holds something else.")
    return {name: _array(value) for name, value in found.items()}


def _array(value: torch.Tensor) -> np.ndarray:
    return (value.float() if value.is_floating_point() else value).numpy()


def _need(arrays: dict[str, np.ndarray], names: Any, folder: Path) -> None:
    missing = [name for name in names if name not in arrays]
    if missing:
        raise ValueError(
            f"`path` must hold {', '.join(missing)}, the weights in {str(folder)!r} are {sorted(arrays)}."
        )


def _agree(folder: Path, shape: tuple[int, ...], **told: int | None) -> None:
    """Compare the sizes that a configuration tells with those of the weights."""
    for (name, said), size in zip(told.items(), shape, strict=True):
        if said is not None:
            _same(folder, name, said, size)


def _same(folder: Path, name: str, said: Any, found: Any) -> None:
    if int(said) != int(found):
        raise ValueError(
            f"`path` must hold a configuration that agrees with its weights, {str(folder)!r} says "
            f"{name}={said}, the weights have {found}."
        )


def _checked(folder: Path, parts: Parts) -> Parts:
    """Compare the shapes of all arrays, and refuse what is not finite."""
    m, d = parts.dictionary.shape
    wanted = {"encoder": (m, d), "encoder_bias": (m,), "bias": (d,)}
    arrays = {name: getattr(parts, name) for name in (*wanted, "dictionary")}
    if np.ndim(parts.threshold):
        wanted["threshold"], arrays["threshold"] = (m,), np.asarray(parts.threshold)
    for name, shape in wanted.items():
        if arrays[name].shape != shape:
            raise ValueError(
                f"`path` must hold weights that fit together, in {str(folder)!r} the array {name} "
                f"has shape {arrays[name].shape} beside a dictionary of {(m, d)}; {shape} was expected."
            )
    bad = [name for name, array in arrays.items() if not np.isfinite(array).all()]
    if bad:
        raise ValueError(f"`path` must hold finite weights, {str(folder)!r} has NaN or infinity in {bad}.")
    if parts.activation == "topk" and not (parts.k and 0 < int(parts.k) <= m):
        raise ValueError(f"`path` must hold k from 1 to {m}, {str(folder)!r} says k={parts.k}.")
    return parts
