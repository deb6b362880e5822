"""Sparse autoencoders in the layouts of other programs: read by `load_sae`, written by `save_sae`."""

import os
import secrets
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ._foreign_read import READERS, Parts, unit_parts
from ._foreign_write import WRITERS, is_unit
from ._sparse_autoencoder import SparseAutoencoder
from ._storage import load

LAYOUTS = ("unmix", *READERS)


def load_sae(path: str | os.PathLike[str], *, unit: bool = False) -> SparseAutoencoder:
    """Read a sparse autoencoder of SAELens, sparsify, dictionary_learning, Gemma Scope, or of ours.

    The layout is told by the files. Nothing is unpickled: of torch files only weights are read.

    Parameters
    ----------
    path : path-like
        The folder, or one of its files: `cfg.json` with `sae_weights.safetensors` (SAELens) or
        `sae.safetensors` (sparsify), `ae.pt` (dictionary_learning), `params.npz` (Gemma Scope), or a file
        that `save` wrote.
    unit : bool
        Give rows of the dictionary unit length, and codes their length. By default codes are those that the
        other program computes. Refused for "topk", where it would change which features are kept.

    Returns
    -------
    SparseAutoencoder
        Fitted; `firing_` and `max_activation_` are None where the files do not tell.

    Examples
    --------
    >>> import tempfile
    >>> X = np.random.default_rng(0).laplace(size=(200, 5))
    >>> model = SparseAutoencoder(8, k=2, max_iter=2, batch_size=50, random_state=0).fit(X)
    >>> folder = save_sae(model, f"{tempfile.mkdtemp()}/sae", layout="sae_lens")
    >>> sorted(file.name for file in folder.iterdir())
    ['cfg.json', 'sae_weights.safetensors', 'sparsity.safetensors']
    >>> bool(abs(load_sae(folder).transform(X) - model.transform(X)).max() < 1e-6)
    True
    """
    place = Path(path)
    if not place.exists():
        raise ValueError(f"`path` must be a file or folder that exists, got {str(path)!r}. Check the path.")
    layout, folder = layout_of(place)
    if layout == "unmix":
        return _ours(load(place), place)
    parts = READERS[layout][0](folder)
    if unit and parts.activation == "topk" and not is_unit(parts.dictionary):
        raise ValueError(
            "`unit` must be False for 'topk' with rows of other lengths: other features would win."
        )
    return model_of(unit_parts(parts) if unit else parts)


def layout_of(place: Path) -> tuple[str, Path]:
    """Tell the layout by its files, and return it with the folder that holds them."""
    folder = place if place.is_dir() else place.parent
    wanted = None if place.is_dir() else place.name
    for layout, (_, files) in READERS.items():
        if all((folder / file).is_file() for file in files) and (wanted is None or wanted in _names(files)):
            return layout, folder
    if place.is_file():
        return "unmix", folder
    inner = sorted(child for child in folder.iterdir() if child.is_dir() and _is_sae(child))
    if len(inner) == 1:
        return layout_of(inner[0])
    held = ", ".join(child.name for child in inner)
    advice = f"Name one of its folders: {held}." if inner else "Check the folder."
    raise ValueError(
        "`path` must hold the files of SAELens, sparsify, dictionary_learning or Gemma Scope, got "
        f"{str(place)!r}. {advice}"
    )


def _is_sae(folder: Path) -> bool:
    return any(all((folder / file).is_file() for file in files) for _, files in READERS.values())


def _names(files: tuple[str, ...]) -> tuple[str, ...]:
    return (*files, "config.json") if "ae.pt" in files else files


def _ours(model: Any, place: Path) -> SparseAutoencoder:
    found = getattr(model, "input", model)
    if not isinstance(found, SparseAutoencoder):
        raise ValueError(
            f"`path` must hold a sparse autoencoder, {str(place)!r} holds {type(model).__name__}."
        )
    return found


def model_of(parts: Parts) -> SparseAutoencoder:
    """Return a fitted estimator with these arrays."""
    m, d = parts.dictionary.shape
    model = SparseAutoencoder(m, activation=parts.activation, k=min(parts.k or 32, m))
    arrays = {
        "dictionary_": parts.dictionary,
        "encoder_weight_": parts.encoder,
        "encoder_bias_": parts.encoder_bias,
        "bias_": parts.bias,
    }
    for name, array in arrays.items():
        setattr(model, name, np.ascontiguousarray(array, dtype=np.float32))
    kept = parts.threshold
    model.threshold_ = np.asarray(kept, dtype=np.float32) if np.ndim(kept) else kept
    model.mean_, model.scale_ = model.bias_.astype(np.float64), 1.0
    model.n_features_in_, model.n_tokens_seen_, model.n_iter_ = d, 0, 0
    model.firing_, model.max_activation_ = parts.firing, None
    model.model_name_, model.site_ = parts.model_name, parts.site
    return model


def parts_of(model: Any) -> Parts:
    """Return the arrays of a fitted estimator."""
    names = ("encoder_weight_", "encoder_bias_", "dictionary_", "bias_")
    encoder, encoder_bias, dictionary, bias = (np.asarray(getattr(model, n), np.float32) for n in names)
    return Parts(
        model.activation,
        encoder,
        encoder_bias,
        dictionary,
        bias,
        k=model.k,
        threshold=model.threshold_,
        firing=model.firing_,
        model_name=getattr(model, "model_name_", None),
        site=getattr(model, "site_", None),
    )


def save_sae(model: Any, path: str | os.PathLike[str], *, layout: str) -> Path:
    """Write a sparse autoencoder in the layout of another program.

    Parameters
    ----------
    model : SparseAutoencoder
        Fitted.
    path : path-like
        The folder to make, whole or not at all; for "unmix" the file.
    layout : {"sae_lens", "sparsify", "dictionary_learning", "gemma_scope", "unmix"}
        A layout that could not give the same codes is refused: "topk" has no place in Gemma Scope's, and
        sparsify knows no thresholds.

    Returns
    -------
    pathlib.Path

    Examples
    --------
    >>> import tempfile
    >>> X = np.random.default_rng(0).laplace(size=(200, 5))
    >>> model = SparseAutoencoder(8, k=2, max_iter=2, batch_size=50, random_state=0).fit(X)
    >>> save_sae(model, f"{tempfile.mkdtemp()}/sae", layout="gemma_scope")
    Traceback (most recent call last):
    ...
    ValueError: `layout` must hold the activation 'topk', got 'gemma_scope'. Use sae_lens, sparsify, ...
    """
    if layout not in LAYOUTS:
        raise ValueError(f"`layout` must be one of {', '.join(LAYOUTS)}, got {layout!r}.")
    if layout == "unmix":
        return model.save(path)
    able = [name for name, (kinds, _) in WRITERS.items() if model.activation in kinds]
    if layout not in able:
        raise ValueError(
            f"`layout` must hold the activation {model.activation!r}, got {layout!r}. Use {', '.join(able)}."
        )
    return _whole_folder(Path(path), lambda folder: WRITERS[layout][1](parts_of(model), folder))


def _whole_folder(target: Path, write: Callable[[Path], None]) -> Path:
    """Write a folder beside the target and rename it: it is there in full or not at all."""
    if target.exists():
        raise ValueError(
            f"`path` must not exist yet, got {str(target)!r}. Remove it, or choose another name."
        )
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
    temporary.mkdir(parents=True)
    try:
        write(temporary)
        os.replace(temporary, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return target
