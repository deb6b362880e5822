"""What Gaussian data with the covariance of x would score: the null of whatever has no formula.

Nothing but a covariance is left in such data, neither bends nor laws nor domains, so that a measurement that
does not fall against them is no evidence. They have linear structure only. A refit of a network would learn a
linear map, and where it stands among all that fit as well is decided by the search for coordinates that the
estimator starts from. So that search alone is the refit here, and no network is trained: every link is then
measured by the same code, on the surrogate, its linear model, and linear refits to its halves.

The values are shown beside the nulls of the links and take no part in the probability. A search takes time
that effort "quick" has not got, so it is made at effort "full"; before that stands what is known without one.

References
----------
Theiler et al. (1992), Testing for nonlinearity in time series: the method of surrogate data.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from statistics import median
from typing import Any, final

import numpy as np
import torch
from sklearn.base import BaseEstimator

from unmix._threads import threads
from unmix.solvers.coordinates import distinct_bases
from unmix.solvers.slots import sparsest_slots
from unmix.solvers.sparse_rows import SEARCHED, sparsest_rows

from . import _common, _slots, _sparse
from ._argument import BASIS, STABLE, Argument
from ._case import Case
from ._link import Link

_ROWS = 20_000  # of the surrogate, at most
_CHAINS, _STARTS, _WIDTHS = 3, 2, (0.1, 0.05)  # of searches: Gaussian data have nothing that more would find
_AS_MEASURED = ("free of noise", "no latent left out")  # which depend on the covariance alone

Search = Callable[[np.ndarray, np.ndarray, tuple[tuple[int, ...], ...], int], np.ndarray]


def surrogates(case: Case, argument: Argument, evidence: Iterable[Link]) -> dict[str, float]:
    """Return what each link gives for Gaussian data of the same covariance, by the name of the link.

    The middle one of the latents of the surrogate counts, which have no counterparts among those of x.
    Links that were not measured, images and dictionaries, whose chain has a surrogate in it, have none. Where
    any rotation would do as well, refits turn at random, which is the null that links have already; elsewhere
    what comes back takes linear refits. What takes a search is there at effort "full".

    Parameters
    ----------
    case : Case
    argument : Argument
        Behind the model.
    evidence : iterable of Link
        What was measured on x.
    """
    measured, kind = {each.name: each for each in evidence if each.checked}, argument.kind
    if kind == "linear":
        found = {name: _of_gaussian_components(each) for name, each in measured.items()}
        return {name: value for name, value in found.items() if np.isfinite(value)}
    if kind not in _SEARCHES or case.x.ndim != 2:
        return {}
    found = {}
    if kind == "domains" or case.allows("full"):
        links = _sparse_links if kind == "sparse" else argument.links
        with threads(1):
            found = {each.name: _middle(each.measured) for each in links(_drawn(case, argument))}
    found |= _known(case) | (_turning(measured) if _turns(argument) else {})
    return {name: found[name] for name in measured if np.isfinite(found.get(name, np.nan))}


def _turns(argument: Argument) -> bool:
    """Return whether refits to a surrogate turn at random, so that none need be made.

    Labels tell nothing of its latents, and a search for rest, all that a fit of `SparseBasis` is, finds none.
    """
    return argument.kind == "domains" or argument is BASIS


def _known(case: Case) -> dict[str, float]:
    """Return what no model of n latents exceeds on Gaussian data: principal components explain most."""
    values = np.square(np.linalg.svd(_standard(case.x)[2], compute_uv=False))
    left = np.maximum(1 - np.cumsum(values) / max(values.sum(), 1e-300), 0)
    n = case.codes.shape[1]
    own, more = (float(left[min(k, len(left)) - 1]) for k in (n, n + 1))
    return {"fit on rows not used": 1 - own, "number of latents": more / max(own, 1e-12)}


def _turning(measured: Mapping[str, Link]) -> dict[str, float]:
    """Return the nulls that are random rotations, or Gaussian latents that do not change."""
    names = (*STABLE["comes back"], "told apart on rows not used")
    return {name: _middle(each.null) for name, each in measured.items() if name in names}


def gaussian_like(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw Gaussian rows of the same mean and covariance, as many; in other units they are the same rows.

    >>> x = np.random.default_rng(0).exponential(size=(5000, 2)) @ np.array([[1.0, 0.5], [0.0, 2.0]])
    >>> y = gaussian_like(x, np.random.default_rng(1))
    >>> bool(np.abs(np.cov(x.T) - np.cov(y.T)).max() < 0.2), bool((y < x.min(0)).any())
    (True, True)
    """
    mean, spread, unit = _standard(x)
    if len(x) <= x.shape[1]:  # a covariance would be larger than the rows
        return mean + spread * (rng.standard_normal((len(x), len(x))) @ unit / np.sqrt(len(x)))
    values, vectors = np.linalg.eigh(unit.T @ unit / len(x))
    vectors *= np.where(vectors.sum(0) < 0, -1, 1)  # of two signs the same one in all units
    root = vectors * np.sqrt(np.maximum(values, 0))
    return mean + spread * (rng.standard_normal(x.shape) @ root.T)


def _drawn(case: Case, argument: Argument) -> Case:
    """Put the linear model of a surrogate on trial, as the model is."""
    kind = argument.kind
    step = max(1, -(-len(case.x) // _ROWS))
    labels = None if case.domains is None else np.asarray(case.domains)[::step]
    x, seed = gaussian_like(case.x[::step], case.rng(41)), int(case.rng(42).integers(2**31))
    slots = _slots.slots_of(case.model) if kind == "slots" else ()
    model = Linear(case.codes.shape[1], kind=kind, slots=slots, random_state=seed).fit(x)
    effort = "none" if _turns(argument) else "quick" if kind == "slots" else case.effort  # slots take long
    return Case(model, x, domains=labels, effort=effort, random_state=seed)


@final
class Linear(BaseEstimator):
    """Principal components of standardised columns, in the coordinates that a kind of argument looks for.

    Parameters
    ----------
    n_components : int
    kind : {"sparse", "mixture", "domains", "slots"}
        Sparse loadings; codes that rest; any rotation, since labels tell nothing; or slots of few variables.
    slots : tuple of tuple of int
    random_state : int
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        kind: str = "domains",
        slots: tuple[tuple[int, ...], ...] = (),
        random_state: int = 0,
    ) -> None:
        self.n_components = n_components
        self.kind = kind
        self.slots = slots
        self.random_state = random_state

    def fit(self, x: np.ndarray, domains: Any = None) -> "Linear":
        """Fit; labels have nothing to do with the surrogate, and are not looked at."""
        self.mean_, self.spread_, unit = _standard(x)
        loadings, white = _principal(unit, self.n_components)
        basis = _SEARCHES[self.kind](loadings, white, self.slots, self.random_state)
        self.mixing_ = self.spread_[:, None] * (loadings @ np.linalg.inv(basis))
        inverse = np.linalg.pinv(loadings, rcond=1e-9)
        self.components_ = basis @ inverse / self.spread_
        self.partition_ = self.slots or None
        return self

    def transform(self, x: np.ndarray) -> np.ndarray:
        """Return codes."""
        return (np.asarray(x) - self.mean_) @ self.components_.T

    def inverse_transform(self, z: np.ndarray) -> np.ndarray:
        """Return the rows that codes stand for."""
        return np.asarray(z) @ self.mixing_.T + self.mean_

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        """Return the same loadings for every row."""
        return np.broadcast_to(self.mixing_, (len(x), *self.mixing_.shape)).copy()


def _sparse_basis(loadings: np.ndarray, white: np.ndarray, slots: Any, seed: int) -> np.ndarray:
    rows = torch.as_tensor(loadings, dtype=torch.float32)
    square = rows.shape[0] == rows.shape[1]  # an oblique basis would copy x
    return distinct_bases(rows, _generator(seed), orthogonal=square)[0].double().numpy()


def _resting_basis(loadings: np.ndarray, white: np.ndarray, slots: Any, seed: int) -> np.ndarray:
    rows = torch.as_tensor(white[:SEARCHED])
    return sparsest_rows(rows, _generator(seed), n_starts=_STARTS, widths=_WIDTHS).rows.numpy()


def _any_basis(loadings: np.ndarray, white: np.ndarray, slots: Any, seed: int) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(loadings.shape[1],) * 2))[0]


def _slot_basis(
    loadings: np.ndarray, white: np.ndarray, slots: tuple[tuple[int, ...], ...], seed: int
) -> np.ndarray:
    rows = torch.as_tensor(loadings)
    influence = rows[:, :, None] * rows[:, None, :]
    eye = torch.eye(rows.shape[1], dtype=rows.dtype)
    sizes = [len(slot) for slot in slots]
    found = sparsest_slots(influence, eye, sizes, _generator(seed), n_chains=_CHAINS)
    basis = np.empty_like(found.numpy())
    basis[[j for slot in slots for j in slot]] = found.numpy()
    return basis


_SEARCHES: dict[str, Search] = {
    "sparse": _sparse_basis,
    "mixture": _resting_basis,
    "domains": _any_basis,
    "slots": _slot_basis,
}


def _sparse_links(case: Case) -> Iterator[Link]:
    """Yield the links of sparse mixing but for the number of latents, which trains networks."""
    yield from _sparse.coordinates(case)
    yield _common.agreement(case)
    yield _common.second_agreement(case)
    yield _common.survival(case)


def _of_gaussian_components(each: Link) -> float:
    """Return what theory says of independent components of Gaussian data: any rotation is as good.

    Refits then turn at random, which is the null of what comes back; no rotation adds dependence, and none is
    left, so that both are 0, as is the reliability; noise is seen in the covariance alone.
    """
    return _middle(each.measured if each.name in _AS_MEASURED else each.null)


def _principal(unit: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return loadings and white codes of the leading principal components."""
    left, sizes, axes = np.linalg.svd(unit, full_matrices=False)
    scale = len(unit) ** 0.5
    return axes[:n].T * sizes[:n] / scale, left[:, :n] * scale


def _standard(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return mean, spread (1 for a constant column) and standardised columns."""
    mean, spread = x.mean(0), x.std(0)
    spread = np.where(spread > 0, spread, 1.0)
    return mean, spread, (x - mean) / spread


def _middle(values: np.ndarray) -> float:
    finite = values[np.isfinite(values)].tolist()
    return median(finite) if finite else np.nan


def _generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)
