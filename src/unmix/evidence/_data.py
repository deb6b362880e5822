"""The data of a trial, however they were given: arrays, data frames, tensors, images, files."""

import os
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from unmix._findings import Findings, ability, findings_of
from unmix.rows import ActivationStore, Rows, file_rows
from unmix.tables import features_of

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
    x, stride = _rows(told, X)
    if x.ndim not in (2, 4) or x.dtype.kind not in "fiub":
        raise ValueError(
            f"`X` must be a numeric table (n_samples, n_features) or images, got shape {x.shape}. Flatten it."
        )
    if len(x) < LEAST:
        raise ValueError(f"`X` must have at least {LEAST} rows to be halved, got {len(x)}. Collect more.")
    if x.ndim == 2:
        x = _finite(x, told.n_features_in)
    return x, _labels(model, domains, len(x), stride)


def _finite(x: np.ndarray, n_features: int | None) -> np.ndarray:
    """Check that a table has the columns of the fit, and numbers in them, before a refit finds out."""
    if n_features is not None and x.shape[1] != n_features:
        raise ValueError(
            f"`X` must have the {n_features} columns of the fit, got {x.shape[1]}. Pass the same data."
        )
    if not np.isfinite(x).all():
        raise ValueError("`X` must be finite, got nan or inf. Leave out the rows that have them.")
    return x.astype(np.float64, copy=False)


def _rows(told: Findings, X: Any) -> tuple[np.ndarray, int]:
    """Return the rows as an array, and that every how many-th was taken."""
    if hasattr(X, "rendered"):
        stride = max(1, -(-len(X) // PICTURES))
        return np.asarray(X[::stride]), stride
    if isinstance(X, ActivationStore):
        X = X.rows(_BLOCK)
    X = X if isinstance(X, Rows) else features_of(X)
    table = file_rows(X, lambda n_columns: _BLOCK) if isinstance(X, str | os.PathLike) else X
    names = table.names if isinstance(table, Rows) else getattr(X, "columns", None)
    _check_names(told.feature_names_in, names)
    if not isinstance(table, Rows):
        whole = np.asarray(X.detach().cpu() if hasattr(X, "detach") else X)
        stride = max(1, -(-len(whole) // MOST)) if whole.ndim == 2 else 1
        return whole[::stride], stride
    stride = max(1, -(-table.n_rows // MOST))
    return np.concatenate([np.asarray(block) for block in table.every(stride)]), stride


def _check_names(fitted: Any, given: Any) -> None:
    if fitted is not None and given is not None and list(fitted) != list(given):
        raise ValueError(f"`X` must have the feature names {list(fitted)}, got {list(given)}. Reorder them.")


def _labels(model: Any, domains: Any, n_rows: int, stride: int) -> np.ndarray | None:
    """Return the label of each row; None where the model was fitted without, so that they change nothing."""
    needed = getattr(model, "needs_domains", False)
    if domains is None and needed:
        name = type(model).__name__
        raise ValueError(f"`domains` must be the labels that {name} was fitted with, got None. Pass them.")
    labels = None if domains is None else np.asarray(domains)[::stride]
    if labels is not None and labels.shape != (n_rows,):
        raise ValueError(
            f"`domains` must have shape ({n_rows},), got {labels.shape}. Give one label per row."
        )
    return labels if needed or hasattr(model, "classes_") else None
