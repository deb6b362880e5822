"""Files as other programs write sparse autoencoders, from one form: arrays, and an activation."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save

from ._foreign_read import Parts, uncentred


def is_unit(dictionary: np.ndarray) -> bool:
    """Whether rows have unit length."""
    return bool(np.allclose(np.linalg.norm(dictionary, axis=1), 1, atol=1e-3))


def _json(folder: Path, name: str, content: dict[str, Any]) -> None:
    (folder / name).write_text(json.dumps(content, indent=1), encoding="utf-8")


def _contiguous(**arrays: np.ndarray) -> dict[str, np.ndarray]:
    return {name: np.array(array, dtype=np.float32, order="C") for name, array in arrays.items()}


def _tensors(file: Path, **arrays: np.ndarray) -> None:
    """Write a file that others may read as they may read its folder; safetensors' own is for its owner."""
    file.write_bytes(save(_contiguous(**arrays)))


def _every(parts: Parts) -> np.ndarray:
    """Return a threshold for each feature."""
    return np.broadcast_to(
        np.float32(0 if parts.threshold is None else parts.threshold), len(parts.dictionary)
    )


def _write_sae_lens(parts: Parts, folder: Path) -> None:
    m, d = parts.dictionary.shape
    kind = {"relu": "standard", "topk": "topk"}.get(parts.activation, "jumprelu")
    arrays = {"W_enc": parts.encoder.T, "b_enc": parts.encoder_bias}
    arrays |= {"W_dec": parts.dictionary, "b_dec": parts.bias}
    arrays |= {"threshold": _every(parts)} if kind == "jumprelu" else {}
    _tensors(folder / "sae_weights.safetensors", **arrays)
    if parts.firing is not None:
        _tensors(folder / "sparsity.safetensors", sparsity=np.log10(parts.firing + 1e-10))
    config = {
        "architecture": kind,
        "d_in": d,
        "d_sae": m,
        "dtype": "float32",
        "device": "cpu",
        "apply_b_dec_to_input": True,
        "normalize_activations": "none",
        "reshape_activations": "none",
    }
    config |= {"k": int(parts.k or 0), "rescale_acts_by_decoder_norm": False} if kind == "topk" else {}
    told = {"model_name": parts.model_name, "hook_name": parts.site}
    # from version 6 on the names of model and hook are kept
    _json(folder, "cfg.json", config | {"metadata": {"sae_lens_version": "6.0.0"} | told})


def _write_sparsify(parts: Parts, folder: Path) -> None:
    m, d = parts.dictionary.shape
    arrays = {"encoder.weight": parts.encoder, "encoder.bias": parts.encoder_bias}
    arrays |= {"W_dec": parts.dictionary, "b_dec": parts.bias}
    _tensors(folder / "sae.safetensors", **arrays)
    config = {
        "activation": "topk",
        "expansion_factor": max(1, m // d),
        "normalize_decoder": is_unit(parts.dictionary),
        "num_latents": m,
        "k": m if parts.activation == "relu" else int(parts.k or 0),
        "multi_topk": False,
        "skip_connection": False,
        "transcode": False,
        "d_in": d,
    }
    _json(folder, "cfg.json", config)


def _write_dictionary_learning(parts: Parts, folder: Path) -> None:
    kinds = {
        "relu": "AutoEncoder",
        "topk": "AutoEncoderTopK",
        "batch_topk": "BatchTopKSAE",
        "jumprelu": "JumpReluAutoEncoder",
    }
    (m, d), kind = parts.dictionary.shape, kinds[parts.activation]
    if kind == "JumpReluAutoEncoder":
        read = uncentred(parts)
        arrays = _contiguous(
            W_enc=read.encoder.T,
            b_enc=read.encoder_bias,
            W_dec=read.dictionary,
            b_dec=read.bias,
            threshold=_every(parts),
        )
    else:
        arrays = _contiguous(**{"encoder.weight": parts.encoder, "encoder.bias": parts.encoder_bias})
        arrays |= _contiguous(**{"decoder.weight": parts.dictionary.T})
        arrays |= _contiguous(**{"bias" if kind == "AutoEncoder" else "b_dec": parts.bias})
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    if kind in ("AutoEncoderTopK", "BatchTopKSAE"):
        least = -1.0 if parts.threshold is None else float(parts.threshold)
        tensors |= {"k": torch.tensor(int(parts.k or 0), dtype=torch.int), "threshold": torch.tensor(least)}
    torch.save(tensors, folder / "ae.pt")
    told = {"dict_class": kind, "activation_dim": d, "dict_size": m}
    told |= {"k": int(parts.k or 0)} if kind in ("AutoEncoderTopK", "BatchTopKSAE") else {}
    told |= {"lm_name": parts.model_name, "submodule_name": parts.site}
    _json(folder, "config.json", {"trainer": told})


def _write_gemma_scope(parts: Parts, folder: Path) -> None:
    read = uncentred(parts)
    arrays = {
        "W_enc": read.encoder.T,
        "b_enc": read.encoder_bias,
        "W_dec": read.dictionary,
        "b_dec": read.bias,
    }
    np.savez(folder / "params.npz", **_contiguous(**arrays, threshold=_every(parts)))  # type: ignore[arg-type]


WRITERS: dict[str, tuple[tuple[str, ...], Callable[[Parts, Path], None]]] = {
    "sae_lens": (("topk", "batch_topk", "jumprelu", "relu"), _write_sae_lens),
    "sparsify": (("topk", "relu"), _write_sparsify),
    "dictionary_learning": (("topk", "batch_topk", "jumprelu", "relu"), _write_dictionary_learning),
    "gemma_scope": (("batch_topk", "jumprelu", "relu"), _write_gemma_scope),
}
