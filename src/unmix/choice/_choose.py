"""`choose`: from a table to the number of its latents and the estimators it could support."""

import time
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_array

from unmix.solvers.number import MOST, find_number
from unmix.tables import features_of

from ._agreement import agreement, numbers_around
from ._checks import blocks, differing, non_gaussian, resting, sparse
from ._choice import Choice
from ._material import Material

Tell = Callable[[str], Any]
_LEAST_ROWS = 50


def choose(
    X: Any, *, domains: Any = None, most: int = MOST, random_state: int = 0, tell: Tell | None = None
) -> Choice:
    """Find how many latents a table has, and which estimator the data could support.

    Factor analysis and autoencoders of several widths encode rows that they have not seen. A latent counts if
    it saves 0.1 nats in each row; the number is the fewest that encode as well as any. Where latents that
    save less and less follow each other without an end, there is no number, and `n_latents` is None. A table
    needs two variables more than latents at least, for an end to show.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
        Finite numbers: an array, a frame (its columns of numbers) or AnnData. Shift and scale of columns, the
        order of rows and rows that repeat others do not change the number.
        Of more than 10,000 rows as many are drawn.
    domains : array-like of shape (n_rows,), optional
        Where each row comes from, labels of any kind.
    most : int
        Latents to look for, at most.
    random_state : int
    tell : callable, optional
        Called with a few words before each step.

    Returns
    -------
    Choice

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.laplace(size=(600, 2)) @ rng.normal(size=(2, 6)) + 0.1 * rng.normal(size=(600, 6))
    >>> found = choose(x, most=3)
    >>> found.n_latents, "FastICA" in found.methods
    (2, True)
    """
    begun, tell = time.perf_counter(), tell or (lambda words: None)
    values, labels = _checked(X, domains, most)
    tell("counting latents")
    material = Material(values, find_number(values, most=most, seed=random_state), random_state)
    tell("comparing halves")
    numbers = numbers_around(material.n, min(most, _rank(material)))
    agreements = tuple(
        agreement(material.x, material.gaussian, n, random_state=random_state) for n in numbers
    )
    supports = []
    for check in (non_gaussian, resting, sparse, blocks):
        tell(f"looking for {check.__name__.replace('_', '-')}")
        supports.append(check(material))
    supports.append(differing(material, labels))
    size = (len(values), values.shape[1])
    return Choice(material.number, agreements, tuple(supports), *size, time.perf_counter() - begun)


def _rank(material: Material) -> int:
    return int(np.linalg.matrix_rank(material.covariance, tol=1e-6, hermitian=True))


def _checked(X: Any, domains: Any, most: int) -> tuple[np.ndarray, np.ndarray | None]:
    values = check_array(features_of(X), dtype=np.float64, input_name="X")
    if len(values) < _LEAST_ROWS:
        raise ValueError(
            f"`X` must have at least {_LEAST_ROWS} rows, got {len(values)}. Fewer tell nothing about numbers."
        )
    constant = np.flatnonzero(values.std(0) <= 1e-12 * np.abs(values).max(0))
    if len(constant):
        raise ValueError(f"`X` must not have constant columns, got {constant.tolist()}. Drop them.")
    if not isinstance(most, Integral) or isinstance(most, bool) or most < 1:
        raise ValueError(f"`most` must be an integer of at least 1, got {most!r}.")
    labels = None if domains is None else np.asarray(domains).reshape(-1)
    labels = labels.astype(str) if labels is not None and labels.dtype == object else labels
    if labels is not None and len(labels) != len(values):
        raise ValueError(f"`domains` must have one label per row, got {len(labels)} for {len(values)}.")
    return values, labels
