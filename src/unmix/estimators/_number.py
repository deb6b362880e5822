"""`n_components="auto"`: the number of latents that a table supports, where they end."""

import os
from typing import Any

import numpy as np
from sklearn.utils import check_array

from unmix.rows import Rows, is_dask
from unmix.solvers.number import Number, find_number

from . import _images, _streams
from ._tables import check_varies, plain

AUTO = "auto"
_READ = 20_000  # rows of a table larger than memory


def is_auto(n_components: Any) -> bool:
    """Whether the number of latents is to be found.

    >>> is_auto("auto"), is_auto(3), is_auto(None)
    (True, False, False)
    """
    return isinstance(n_components, str) and n_components == AUTO


def found_number(X: Any) -> int:
    """Find the number of latents of a table, as `n_components="auto"` does.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features), or path
        Of a table larger than memory 20,000 rows are read, spread over it.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        Where nothing stops, or where the variables have nothing in common; `unmix.choose` returns instead.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> found_number(rng.laplace(size=(400, 1)) * [1.0, 2.0, 3.0] + 0.1 * rng.normal(size=(400, 3)))
    1
    """
    if is_dask(X) or _images.is_images(X):
        kind = "images" if _images.is_images(X) else "Dask collections"
        raise ValueError(f"`n_components` must be an integer for {kind}, got 'auto'. Name the number.")
    values = check_array(_rows(X), dtype=np.float64, ensure_min_samples=10, input_name="X")
    check_varies(values.std(0), np.abs(values).max(0))
    found = find_number(values)
    if found.n_latents is None:
        raise ValueError(f"`n_components` must be an integer for this table, got 'auto'. {_way_out(found)}")
    return found.n_latents


def _way_out(found: Number) -> str:
    if not found.n_supported:
        return f"{found} Look for more rows, or for variables that have something in common."
    return f"{found} Ask for as many as you want to look at; `unmix.choose` draws what each number costs."


def _rows(X: Any) -> Any:
    """Return an array; of a table that is read in blocks, rows spread over it."""
    if not isinstance(X, str | os.PathLike | Rows):
        return plain(X)
    rows = _streams.opened(X)
    return np.concatenate([np.asarray(block) for block in rows.every(-(-rows.n_rows // _READ))])
