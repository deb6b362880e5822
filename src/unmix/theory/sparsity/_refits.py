"""What other fits of the same method to the same data would have found."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unmix._waiting import stages, waiting
from unmix.structure import Structure


def refitted_structures(
    model: Any, x: ArrayLike, n_refits: int = 20, *, random_state: int | np.random.Generator = 0
) -> tuple[Structure, ...]:
    """Fit a model anew to random halves of the data, each time from another seed, and return the structures.

    For `stability`: an edge that comes back in most halves owes little to single samples or to a lucky start.
    Every refit costs as much as a fit.

    Parameters
    ----------
    model : estimator
        With `structure_` after fitting; it is cloned, and keeps what it has learnt.
    x : array-like of shape (n_samples, n_features)
    n_refits : int
    random_state : int or Generator

    Returns
    -------
    tuple of Structure

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> class Correlated(BaseEstimator):
    ...     def fit(self, X, y=None):
    ...         self.structure_ = Structure(np.abs(np.corrcoef(X.T)) > 0.5)
    ...         return self
    >>> x = np.random.default_rng(0).normal(size=(40, 2)) @ [[1, 0.5], [0, 0.8]]
    >>> found = refitted_structures(Correlated(), x, 10)
    >>> float(np.mean([each.support[0, 1] for each in found]))
    0.7

    References
    ----------
    Meinshausen and Bühlmann (2010), Stability selection, arXiv:0809.2932: subsamples of size n / 2.
    """
    if n_refits < 2:
        raise ValueError(f"`n_refits` must be at least 2, got {n_refits}. Twenty give a rough frequency.")
    rng = np.random.default_rng(random_state)
    samples = np.asarray(x)
    with waiting(None, "refits", plan=f"{n_refits} refits to halves of {len(samples):,} rows"):
        found = []
        for part in stages([1] * n_refits):
            with part:
                found.append(_refit(model, samples, rng))
    return tuple(found)


def _refit(model: Any, samples: np.ndarray, rng: np.random.Generator) -> Structure:
    from sklearn.base import clone  # here, since a certificate of a mask needs none of it

    half = rng.permutation(len(samples))[: (len(samples) + 1) // 2]
    fresh = clone(model)
    own = fresh.get_params(deep=False)
    seed = int(rng.integers(2**31 - 1))
    settings = {"random_state": seed, "checkpoint": None}  # a checkpoint is of one run
    if own.get("n_components") == "auto":
        settings["n_components"] = model.n_components_
    return fresh.set_params(**{k: v for k, v in settings.items() if k in own}).fit(samples[half]).structure_
