"""Saving and loading fitted estimators: one safetensors file with a JSON header, never pickle."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_safetensors
from torch import Tensor

from unmix._files import atomic_write
from unmix._version import __version__
from unmix.objectives import Objective
from unmix.structure import Structure
from unmix.training import History

from ._autoencoder import Autoencoder
from ._beta_vae import BetaVAE
from ._cg_vae import CGVAE
from ._diverse_dictionary import DiverseDictionaryLearning
from ._fast_ica import FastICA
from ._ivae import IVAE
from ._labelled import LabelledSparseAutoencoder
from ._latent_estimator import LatentEstimator
from ._pdgmm import PDGMM
from ._plain_storage import fitted_tensors, fitted_values, restore_fitted
from ._settings import decode, storable
from ._slot_autoencoder import SlotAutoencoder
from ._sparse_basis import SparseBasis
from ._vade import VaDE

FORMAT = "unmix-estimator-2"
READABLE = ("unmix-estimator-1", FORMAT)  # the first held the whole history in its header
MAX_ROWS = 100_000  # of a history
CLASSES: tuple[type[LatentEstimator], ...] = (
    Autoencoder,
    BetaVAE,
    CGVAE,
    DiverseDictionaryLearning,
    IVAE,
    LabelledSparseAutoencoder,
    PDGMM,
    SlotAutoencoder,
    VaDE,
)
_KINDS = ("mean_", "scale_", "image_shape_", "bytes_")  # of tables, or of images
_PLAIN_HISTORY = ("n_steps", "seconds", "stopped")
PLAIN: tuple[type, ...] = (FastICA, SparseBasis)  # without networks: fitted attributes are all there is


def save(estimator: Any, path: str | os.PathLike[str]) -> Path:
    """Write a fitted estimator to one file, whole or not at all.

    Functions among the settings (network factories, penalties) are stored by name.
    """
    plain = isinstance(estimator, PLAIN)
    tensors = fitted_tensors(estimator) if plain else _tensors(estimator)
    header = {
        "format": FORMAT,
        "version": __version__,
        "class": type(estimator).__name__,
        "settings": {name: storable(name, value) for name, value in estimator.get_params(deep=False).items()},
    } | ({"fitted": fitted_values(estimator)} if plain else _training(estimator))
    text = json.dumps(header)
    data = to_safetensors(tensors, {"unmix": text, "sha256": _digest(tensors, text)})
    return atomic_write(Path(path), data)


def _training(estimator: LatentEstimator) -> dict[str, Any]:
    """Return what the training of networks left behind."""
    structure, history = getattr(estimator, "structure_", None), estimator.history_
    return {
        "n_features_in": estimator.n_features_in_,
        "n_iter": estimator.n_iter_,
        "feature_names_in": _names(estimator),
        "restarts": [repr(score) for score in estimator.restarts_],
        "margin": None if structure is None or structure.margin is None else repr(structure.margin),
        "history": {"terms": list(history.terms), "extras": list(history.extras)}
        | {name: getattr(history, name) for name in _PLAIN_HISTORY},
    }


def load(path: str | os.PathLike[str], *, trusted: Iterable[Callable[..., Any]] = ()) -> Any:
    """Load an estimator that `save` wrote.

    Nothing in the file is executed: functions are stored by name, and only those of `unmix.nn` and
    `unmix.penalties` are looked up.

    Parameters
    ----------
    path : path-like
    trusted : iterable of callables
        Your own functions that the model was built with (network factories, penalties).

    Returns
    -------
    fitted estimator

    Examples
    --------
    >>> import tempfile, unmix
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> model = unmix.Autoencoder(2, max_iter=2, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = unmix.load(model.save(f"{folder}/model"))
    >>> bool(np.array_equal(again.transform(X), model.transform(X)))
    True
    """
    header, tensors = _read(Path(path))
    try:
        estimator = _restore(header, tensors, tuple(trusted))
    except (KeyError, TypeError, AttributeError, RuntimeError, IndexError) as error:
        raise ValueError(
            f"`path` must be a model written by `save`, {str(path)!r} does not fit together ({error})."
        ) from error
    return estimator


def _restore(header: dict[str, Any], tensors: dict[str, Tensor], trusted: tuple[Any, ...]) -> Any:
    kind: Any = {cls.__name__: cls for cls in (*CLASSES, *PLAIN)}[header["class"]]
    estimator = kind(**{name: decode(value, trusted) for name, value in header["settings"].items()})
    if kind in PLAIN:
        return restore_fitted(estimator, header["fitted"], tensors)
    estimator.n_features_in_, estimator.n_iter_ = int(header["n_features_in"]), int(header["n_iter"])
    if header["feature_names_in"] is not None:
        estimator.feature_names_in_ = np.array(header["feature_names_in"], dtype=object)
    for name in (*_KINDS, *estimator._fitted_arrays):
        if name in tensors:
            setattr(estimator, name, tensors[name].numpy())
    margin = None if header["margin"] is None else float(header["margin"])
    if "structure" in tensors:
        estimator.structure_ = Structure(tensors["structure"].numpy(), margin=margin)
    estimator.restarts_ = tuple(float(score) for score in header["restarts"])
    estimator.history_ = _history(header["history"], tensors)
    _restore_networks(estimator, tensors)
    return estimator


def _restore_networks(estimator: Any, tensors: dict[str, Tensor]) -> None:
    """Build the networks again from their factories and give them their weights."""
    with torch.random.fork_rng(devices=[]):
        built = estimator._networks(estimator._shape)
    objective = Objective(built.encoder, built.decoder, estimator.n_components)
    weights = {name: t for name, t in tensors.items() if name.startswith(("encoder.", "decoder."))}
    precision = estimator._fitted_part.PRECISION
    objective.to(precision).requires_grad_(False).load_state_dict(weights)
    estimator.encoder_, estimator.decoder_ = objective.encoder.eval(), objective.decoder.eval()


def _tensors(estimator: LatentEstimator) -> dict[str, Tensor]:
    arrays = {name: torch.from_numpy(getattr(estimator, name).copy()) for name in estimator._kept}
    networks = estimator._objective_.state_dict()
    found = getattr(estimator, "structure_", None)
    structure = {} if found is None else {"structure": torch.from_numpy(found.support.copy())}
    history = _history_tensors(estimator.history_.thinned(MAX_ROWS))
    return {name: t.contiguous() for name, t in (arrays | networks | structure | history).items()}


def _names(estimator: Any) -> list[str] | None:
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _history_tensors(history: History) -> dict[str, Tensor]:
    """Return the recorded steps as "history", and each series as "history.<name>"."""
    series = history.terms | history.extras
    return {"history": torch.tensor(history.steps, dtype=torch.int64)} | {
        f"history.{name}": torch.tensor(values, dtype=torch.float64) for name, values in series.items()
    }


def _history(record: dict[str, Any], tensors: dict[str, Tensor]) -> History:
    plain = {name: record[name] for name in _PLAIN_HISTORY}
    if isinstance(record["terms"], dict):
        return History(record["terms"], **plain)
    terms, extras = (
        {name: tensors[f"history.{name}"].tolist() for name in record[part]} for part in ("terms", "extras")
    )
    return History(terms, **plain, extras=extras, steps=tensors["history"].tolist())


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Read header and tensors, and refuse what is not whole."""
    if not path.is_file():
        raise ValueError(f"`path` must be a model written by `save`, {str(path)!r} is no file. Check it.")
    try:
        with safe_open(str(path), framework="pt") as file:
            metadata = file.metadata() or {}
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no iterator)
    except (SafetensorError, OSError, ValueError) as error:
        raise ValueError(
            f"`path` must be a model written by `save`, {str(path)!r} is truncated or another kind of file "
            f"({error}). Save the model again."
        ) from error
    text = metadata.get("unmix", "")
    if not text or metadata.get("sha256") != _digest(tensors, text):
        raise ValueError(
            f"`path` must be a model written by `save`, {str(path)!r} is another file or was changed since "
            "it was written (its checksum does not agree). Save the model again."
        )
    header = json.loads(text)
    if header.get("format") not in READABLE:
        raise ValueError(
            f"`path` must hold a format among {READABLE}, got {header.get('format')!r}. Load it with the "
            "version of unmix that wrote it."
        )
    return header, tensors


def _digest(tensors: dict[str, Tensor], text: str) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        digest.update(f"{name} {tensors[name].dtype} {tuple(tensors[name].shape)}".encode())
        digest.update(tensors[name].numpy().tobytes())
    return digest.hexdigest()
