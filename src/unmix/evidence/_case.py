"""A fitted model on trial: its data, and the refits that an effort allows, each made once."""

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cached_property, partial
from hashlib import blake2b
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unmix._findings import Findings, findings_of
from unmix._fitted import Fitted
from unmix._waiting import waiting
from unmix.estimators._effort import ENOUGH, FEW_ROWS, LONG
from unmix.estimators._latent_estimator import LatentEstimator

from ._link import EFFORTS

_LARGEST_SEED = 2**31 - 1
_STARTS = 6
_TOLD_BY = 4  # columns that tell most rows apart


class Case:
    """A model, its data, and what may be spent on checking it.

    Parameters
    ----------
    model : fitted estimator
    x : ndarray of shape (n_samples, n_observed), or images
        The data that the model was fitted to. Rows that repeat others are dropped, where values are
        continuous: they are copies and no evidence.
    domains : ndarray of shape (n_samples,), optional
    effort : {"none", "quick", "full"}
    random_state : int or None
    telling : callable from words to a context, optional
        Is told what is done within the context; by default nobody is.
    """

    def __init__(
        self,
        model: Any,
        x: np.ndarray,
        *,
        domains: np.ndarray | None = None,
        effort: str = "none",
        random_state: int | None = None,
        telling: Callable[[str], AbstractContextManager[Any]] | None = None,
    ):
        kept = first_of_each(x)
        self.model, self.x = model, x if len(kept) == len(x) else x[kept]
        self.domains = None if domains is None else domains[kept]
        self.effort, self.random_state = effort, random_state
        self.telling = telling if telling is not None else partial(waiting, False)
        self.fitted = Fitted(model, self.x if x.ndim == 2 else None)

    def allows(self, effort: str) -> bool:
        """Return whether an effort may be spent."""
        return EFFORTS.index(effort) <= EFFORTS.index(self.effort)

    def rng(self, purpose: int) -> np.random.Generator:
        """Return a generator of its own for each purpose, so that one more draw here moves nothing there."""
        return np.random.default_rng((self.random_state or 0, purpose))

    @cached_property
    def findings(self) -> Findings:
        """What the model found."""
        return findings_of(self.model)

    @cached_property
    def codes(self) -> Any:
        """The latents of each row; sparse where the model's are."""
        found = self.fitted.codes if self.x.ndim == 2 else self.model.transform(self.x)
        return found if issparse(found) else np.asarray(found, dtype=np.float64)

    @cached_property
    def halves(self) -> tuple[np.ndarray, np.ndarray]:
        """Two disjoint random halves of the rows, in each of which every domain has its share."""
        order = self.rng(1).permutation(len(self.x))
        if self.domains is not None:
            order = order[np.argsort(np.asarray(self.domains)[order], kind="stable")]
        return np.sort(order[::2]), np.sort(order[1::2])

    @cached_property
    def first(self) -> Any:
        """The model, fitted anew to the first half from another seed."""
        return self.refit(self.halves[0], "on one half of the rows")

    @cached_property
    def second(self) -> Any:
        """The model, fitted anew to the second half from another seed."""
        return self.refit(self.halves[1], "on the other half of the rows")

    @cached_property
    def more(self) -> Any:
        """The model with one latent more, fitted to the first half."""
        return self.refit(self.halves[0], "with one latent more", n_components=self.codes.shape[1] + 1)

    @cached_property
    def fewer(self) -> Any:
        """The model with one latent fewer, fitted to the first half; of a basis its span alone."""
        n = self.codes.shape[1] - 1
        if type(self.model).__name__ == "SparseBasis":
            return make_pipeline(StandardScaler(), PCA(n)).fit(self.x[self.halves[0]])
        return self.refit(self.halves[0], "with one latent fewer", n_components=n)

    def refit(self, rows: np.ndarray, words: str, *, x: np.ndarray | None = None, **settings: Any) -> Any:
        """Fit a fresh copy of the model to some rows, of other data if they are given, from another seed."""
        rows = self._in_large_domains(rows)
        values = (self.x if x is None else x)[rows]
        with self.telling(f"fitting again {words}"):
            return fit_anew(
                self.model, values, self._labels(rows), self.seed(words), **self._for_half() | settings
            )

    def _for_half(self) -> dict[str, Any]:
        """Return settings by which a refit does what the fit did, at half its cost."""
        name = type(self.model).__name__
        if name == "SparseBasis":  # whose fit is a search
            enough = max(_STARTS, self.codes.shape[1])
            return {"n_starts": enough if self.model.n_starts is None else min(enough, self.model.n_starts)}
        if name == "CGVAE" and self.model.objective == "likelihood":
            reads = "all" if getattr(self.model, "reads_all_", False) else "components"
            law = "correlated" if getattr(self.model, "correlated_", False) else "gaussian"
            return {"reads": reads, "prior": law if self.model.prior == "auto" else self.model.prior}
        return self._in_batches() if name == "DiverseDictionaryLearning" else {}

    def _in_batches(self) -> dict[str, Any]:
        """Return what keeps small batches, which few rows go in, from a refit where the fit had none."""
        model, n_rows = self.model, len(self.x)
        asked = model.max_iter * -(-n_rows // model.batch_size)
        small = model.history_.n_steps > asked
        enough = ENOUGH if getattr(model, "bent_", False) else FEW_ROWS  # not known to models of older files
        if n_rows >= 2 * enough or model.max_iter < LONG or (small and n_rows < FEW_ROWS / 2):
            return {}
        if small:  # of a tenth, so that half of the rows make as many updates
            return {"max_iter": max(LONG, model.max_iter // 2)}
        simple = model.effort == "usual" and self.codes.shape[1] < self.x.shape[1]
        if simple and not getattr(model, "warped_", False):  # not known to models of older files
            return {"effort": "plain"}
        return {"max_iter": max(LONG, model.max_iter // 2)} if model.effort != "plain" else {}

    def _in_large_domains(self, rows: np.ndarray) -> np.ndarray:
        """Leave out domains of which a half has too few rows for a fit."""
        labels = self._labels(rows)
        if labels is None or (labels.dtype.kind == "f" and (labels != np.round(labels)).any()):
            return rows  # a quantity, which estimators cut into intervals
        _, number, counts = np.unique(labels, return_inverse=True, return_counts=True)
        enough = counts[number] >= self.codes.shape[1] + 2
        return rows[enough] if len(np.unique(number[enough])) > 1 else rows

    def _labels(self, rows: np.ndarray) -> np.ndarray | None:
        return None if self.domains is None else np.asarray(self.domains)[rows]

    def seed(self, words: str) -> int:
        """Return a seed for each purpose."""
        return int(self.rng(sum(words.encode())).integers(1, _LARGEST_SEED))


def fit_anew(
    model: Any, x: np.ndarray, domains: np.ndarray | None, random_state: int, **settings: Any
) -> Any:
    """Fit a fresh copy of a model from a seed and with some settings changed, as part of what is shown."""
    fresh = clone(model)
    if fresh.get_params(deep=False).get("n_components") == "auto":  # the same number in every refit
        fresh.set_params(n_components=model.n_components_)
    own = fresh.get_params(deep=False)
    ours = isinstance(fresh, LatentEstimator)  # which shows a refit as part of what encloses it
    asked = {"random_state": random_state, "checkpoint": None, "verbose": ours} | settings
    fresh.set_params(**{name: value for name, value in asked.items() if name in own})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of a refit, which the links judge
        return fresh.fit(x) if domains is None else fresh.fit(x, domains)


def first_of_each(x: np.ndarray) -> np.ndarray:
    """Return the rows that repeat no earlier one; all of them where values are not continuous.

    >>> first_of_each(np.array([[0.1], [0.7], [0.1], [0.4], [0.2], [0.9]])).tolist()
    [0, 1, 3, 4, 5]
    >>> first_of_each(np.array([[1.0], [0.0], [1.0], [1.0], [0.0], [0.0]])).tolist()
    [0, 1, 2, 3, 4, 5]
    """
    rows = x.reshape(len(x), -1)
    if _all_differ(rows[:, :_TOLD_BY]) or _all_differ(rows):
        return np.arange(len(x))
    seen: dict[bytes, int] = {}
    for k, row in enumerate(rows):
        seen.setdefault(blake2b((row + 0.0).tobytes(), digest_size=16).digest(), k)  # -0 is 0
    if len(seen) == len(x):
        return np.arange(len(x))
    first = np.array(list(seen.values()))
    distinct = max(len(np.unique(column)) for column in rows[first].T)
    copies = distinct > max(4, 0.5 * len(first))
    return first if copies else np.arange(len(x))


def _all_differ(rows: np.ndarray) -> bool:
    """Return whether sums of bits already tell all rows apart, which they do if no row repeats another."""
    if rows.dtype != np.float64:
        return False
    bits = np.ascontiguousarray(rows + 0.0).view(np.uint64)  # -0 is 0
    factors = np.random.default_rng(0).integers(2**63, size=bits.shape[1], dtype=np.uint64)
    sums = np.sort(((bits ^ (bits >> np.uint64(29))) * (2 * factors + 1)).sum(1))
    return bool((sums[1:] != sums[:-1]).all())
