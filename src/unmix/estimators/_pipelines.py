"""Saving and loading whatever was fitted: one estimator, or a pipeline of them in one file."""

import json
import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.pipeline import Pipeline
from torch import Tensor

from unmix._untrusted import as_object, parse_json, whole
from unmix.rows import use_safetensors
from unmix.training import read_sealed, write_sealed

from ._kept import Kept
from ._storage import load as load_one

_KEY, _FORMAT = "unmix-pipeline", 1


def save(model: Any, path: str | os.PathLike[str]) -> Path:
    """Write a fitted estimator, or a pipeline of estimators, to one file, without pickle.

    Parameters
    ----------
    model : fitted estimator of unmix, or scikit-learn Pipeline of such
    path : path-like

    Returns
    -------
    Path
        The file written; `unmix.load` reads it.

    Examples
    --------
    >>> import unmix
    >>> from sklearn.pipeline import make_pipeline
    >>> X = np.random.default_rng(0).normal(size=(200, 3)) ** 3
    >>> both = make_pipeline(unmix.Autoencoder(2, max_iter=2, random_state=0), unmix.FastICA(2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = load(save(both.fit(X), f"{folder}/model"))
    >>> bool(np.array_equal(again.transform(X), both.transform(X)))
    True
    """
    if isinstance(model, Kept):
        return model.save(path)
    steps = getattr(model, "steps", None)
    foreign = [step for _, step in steps or [] if not isinstance(step, Kept)]
    if not steps or foreign:
        kind = type(foreign[0] if foreign else model).__name__
        raise TypeError(
            f"`model` must be an estimator of unmix or a pipeline of such, got {kind}. Save what is of unmix."
        )
    with tempfile.TemporaryDirectory() as folder:
        files = [step.save(Path(folder) / str(k)) for k, (_, step) in enumerate(steps)]
        tensors = {str(k): _bytes(file.read_bytes()) for k, file in enumerate(files)}
    header = {"format": _FORMAT, "steps": [name for name, _ in steps]}
    return write_sealed(Path(path), _KEY, json.dumps(header), tensors)


def load(path: str | os.PathLike[str], *, trusted: Iterable[Callable[..., Any]] = ()) -> Any:
    """Load an estimator or a pipeline that `save` wrote.

    Nothing in the file is executed: functions are stored by name, and only those of `unmix.nn`,
    `unmix.penalties` and `unmix.training` are looked up.

    Parameters
    ----------
    path : path-like
    trusted : iterable of callables
        Your own functions that the model was built with (network factories, penalties).

    Returns
    -------
    fitted estimator or Pipeline

    Examples
    --------
    >>> import unmix
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> model = unmix.Autoencoder(2, max_iter=2, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = unmix.load(model.save(f"{folder}/model"))
    >>> bool(np.array_equal(again.transform(X), model.transform(X)))
    True
    """
    trusted = tuple(trusted)
    if not _is_pipeline(Path(path)):
        return load_one(path, trusted=trusted)
    names, tensors = _read(Path(path))
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / str(k) for k in range(len(names))]
        for k, file in enumerate(files):
            file.write_bytes(tensors[str(k)].numpy().tobytes())
        steps = [load_one(file, trusted=trusted) for file in files]
    pipeline = Pipeline(list(zip(names, steps, strict=True)))
    with whole(path, "pipeline written by `save`, whose steps fit together"):
        pipeline[1:].transform(np.zeros((2, steps[0]._n_features_out), dtype=np.float32))
    return pipeline


def _is_pipeline(path: Path) -> bool:
    """Whether a file says that it holds a pipeline; what is wrong with others is told when they are read."""
    try:
        return path.is_file() and _KEY in use_safetensors(path, lambda file: file.metadata() or {}, "pt")
    except ValueError:
        return False


def _read(path: Path) -> tuple[list[str], dict[str, Tensor]]:
    try:
        text, tensors = read_sealed(path, _KEY)
        header = as_object(parse_json(text, path.name), path.name)
        if header["format"] != _FORMAT:
            raise ValueError(f"its format is {header['format']}, this version reads {_FORMAT}")
        names = [str(name) for name in header["steps"]]
        if set(tensors) != {str(k) for k in range(len(names))}:
            raise ValueError("its steps are not all there")
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"`path` must be a model written by `save`, got {str(path)!r} ({error}). Save the model again."
        ) from error
    return names, tensors


def _bytes(content: bytes) -> Tensor:
    return torch.from_numpy(np.frombuffer(content, dtype=np.uint8).copy())
