"""The data of a trial, however they were given: arrays, data frames, tensors, images, files."""

import os
from contextlib import suppress
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from unmix._findings import Findings, ability, findings_of
from unmix.data import read_activations
from unmix.estimators._domain_labels import labels_of
from unmix.rows import ActivationStore, Rows, file_rows
from unmix.tables import features_of, listed

from ._argument import DICTIONARY, NONE, argument_for

LEAST = 20
PICTURES = 10_000  # of images that are rendered when they are asked for: every k-th of more
MOST = 200_000  # rows: every k-th of more, which are read block by block where they are in a file
_BLOCK = 50_000
_SCALERS = ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler")  # of scikit-learn, by column


def behind_scalers(model: Any, X: Any) -> tuple[Any, Any]:
    """Return the last step of a pipeline that scales columns first, and what reaches it; else what is given.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from unmix.estimators import FastICA
    >>> X = np.random.default_rng(0).laplace(size=(50, 2)) * 7
    >>> last, scaled = behind_scalers(make_pipeline(StandardScaler(), FastICA(2)).fit(X), X)
    >>> type(last).__name__, scaled.std(0).round(3).tolist()
    ('FastICA', [1.0, 1.0])
    """
    steps = [step for _, step in getattr(model, "steps", ())]
    scaled = len(steps) > 1 and all(type(step).__name__ in _SCALERS for step in steps[:-1])
    if not scaled or isinstance(X, str | os.PathLike | Rows | ActivationStore):
        return model, X
    return steps[-1], model[:-1].transform(X)


def checked(model: Any, X: Any, domains: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """Check the data before anything is done with them; return the rows and the domain of each."""
    if ability(model, "transform") is None:
        raise TypeError(f"`model` must have `transform`, got {type(model).__name__}. Pass a fitted model.")
    if ability(model, "fit") is not None:
        check_is_fitted(model)
    told = findings_of(model)
    if argument_for(model) is DICTIONARY and isinstance(X, str | os.PathLike):
        X = read_activations(X)  # as the commands do: without rows of another size
    x, n_rows, stride = _rows(told, X)
    x = _numeric(x)
    if len(x) < LEAST:
        raise ValueError(f"`X` must have at least {LEAST} rows to be halved, got {len(x)}. Collect more.")
    if x.ndim == 2:
        x = _finite(x, told.n_features_in)
    return x, _labels(model, domains, n_rows, stride)


def _numeric(x: np.ndarray) -> np.ndarray:
    """Check that the data are a table or images, and numbers."""
    what = "`X` must be a numeric table (n_samples, n_features) or images"
    if x.ndim not in (2, 4):
        raise ValueError(f"{what}, got shape {x.shape}. Flatten it.")
    with suppress(TypeError, ValueError):  # said below
        x = x.astype(np.float64) if x.dtype.kind == "O" else x
    if x.dtype.kind not in "fiub":
        raise ValueError(f"{what}, got {x.dtype}. Pass numbers.")
    return x


def _finite(x: np.ndarray, n_features: int | None) -> np.ndarray:
    """Check that a table has the columns of the fit, and numbers in them, before a refit finds out."""
    if n_features is not None and x.shape[1] != n_features:
        raise ValueError(
            f"`X` must have the {n_features} columns of the fit, got {x.shape[1]}. Pass the same data."
        )
    if not np.isfinite(x).all():
        raise ValueError("`X` must be finite, got nan or inf. Leave out the rows that have them.")
    if (x[0] == x[-1]).all() and (x == x[0]).all():
        raise ValueError(f"`X` must vary, got one row {len(x)} times. Pass the data of the fit.")
    return x.astype(np.float64, copy=False)


def _rows(told: Findings, X: Any) -> tuple[np.ndarray, int, int]:
    """Return rows as an array, of how many they are, and that every how many-th was taken."""
    if hasattr(X, "rendered"):
        stride = max(1, -(-len(X) // PICTURES))
        return np.asarray(X[::stride]), len(X), stride
    if isinstance(X, ActivationStore):
        X = X.rows(_BLOCK)
    X = X if isinstance(X, Rows) else features_of(X)
    table = file_rows(X, lambda n_columns: _BLOCK) if isinstance(X, str | os.PathLike) else X
    names = table.names if isinstance(table, Rows) else getattr(X, "columns", None)
    _check_names(told.feature_names_in, names)
    if not isinstance(table, Rows):
        whole = np.asarray(X.detach().cpu() if hasattr(X, "detach") else X)
        if not whole.ndim:
            got = type(X).__name__
            raise ValueError(f"`X` must be a numeric table, images or a path, got {got}. Pass a dense array.")
        stride = max(1, -(-len(whole) // MOST)) if whole.ndim == 2 else 1
        return whole[::stride], len(whole), stride
    stride = max(1, -(-table.n_rows // MOST))
    found = np.concatenate([np.asarray(block) for block in table.every(stride)])
    return found, table.n_rows, stride


def _check_names(fitted: Any, given: Any) -> None:
    """Check that columns which have names have those of the fit."""
    if fitted is None or given is None or list(fitted) == list(given):
        return
    lost, new = _beyond(fitted, given), _beyond(given, fitted)
    if not lost and not new:
        order = f"{listed(list(fitted))}, got {listed(list(given))}"
        raise ValueError(f"`X` must have the feature names in the order of the fit, {order}. Reorder them.")
    told = [f"{word} {listed(names)}" for word, names in (("without", lost), ("with", new)) if names]
    raise ValueError(
        f"`X` must have the feature names of the fit, got columns {' and '.join(told)}. Pass the same ones."
    )


def _beyond(names: Any, others: Any) -> list[Any]:
    known = set(others)
    return [name for name in names if name not in known]


def _labels(model: Any, domains: Any, n_rows: int, stride: int) -> np.ndarray | None:
    """Return the label of each row; None where no link looks at them, so that they change nothing."""
    name, of_use = type(model).__name__, argument_for(model) is not NONE
    needed = of_use and getattr(model, "needs_domains", False)
    if domains is None and needed:
        raise ValueError(f"`domains` must be the labels that {name} was fitted with, got None. Pass them.")
    if domains is None:
        return None
    if np.shape(domains) != (n_rows,):
        raise ValueError(
            f"`domains` must have shape ({n_rows},), got {np.shape(domains)}. Give one label per row."
        )
    if needed:
        return labels_of(domains)[::stride]
    return _numbers(domains, name)[::stride] if of_use and hasattr(model, "classes_") else None


def _numbers(labels: Any, name: str) -> np.ndarray:
    """Return the numbers of components, as text or not."""
    found = np.asarray(labels)
    try:
        return found.astype(np.float64) if found.dtype.kind in "OSU" else found
    except (TypeError, ValueError):
        raise ValueError(
            f"`domains` must hold numbers, as in the fit of {name}, got {found.dtype}. Pass the same ones."
        ) from None
