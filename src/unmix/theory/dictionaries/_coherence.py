"""Coherence, restricted isometry and spark of a dictionary: exact where small, else bounds on both sides."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._certificate import finite_table

_TILE = 2**22
_ALL = 20_000  # sets of atoms up to which all are looked at
_ZERO = 1e-9  # a singular value below this is none


@dataclass(frozen=True)
class Bounds:
    """A number that lies between two bounds; exact where they are the same.

    Attributes
    ----------
    lower, upper : float
    words : str
        How they were found.
    """

    lower: float
    upper: float
    words: str = ""

    @property
    def exact(self) -> bool:
        """Whether the number is known."""
        return self.lower == self.upper

    def __str__(self) -> str:
        return f"{self.lower:.4g}" if self.exact else f"between {self.lower:.4g} and {self.upper:.4g}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {"lower": self.lower, "upper": self.upper, "exact": self.exact, "words": self.words}


def mutual_coherence(dictionary: ArrayLike) -> float:
    """Return the largest |cosine| of two atoms, mu.

    Parameters
    ----------
    dictionary : array-like of shape (n_atoms, n_observed)
        Lengths and signs of atoms do not matter.

    Examples
    --------
    >>> round(mutual_coherence([[1, 0], [0, 2], [1, 1]]), 4)
    0.7071

    References
    ----------
    Donoho, Elad (2003), Optimally sparse representation in general (nonorthogonal) dictionaries via l1
    minimization.
    """
    atoms = unit_atoms(dictionary)
    return max((float(table.max()) for _, table in _cosines(atoms)), default=0.0)


def cumulative_coherence(dictionary: ArrayLike, k: int) -> np.ndarray:
    """Return mu_1(1), ..., mu_1(k): the largest sum of |cosines| of an atom with so many others.

    Parameters
    ----------
    dictionary : array-like of shape (n_atoms, n_observed)
    k : int

    Examples
    --------
    >>> cumulative_coherence([[1, 0], [0, 2], [1, 1]], 2).round(4)
    array([0.7071, 1.4142])

    References
    ----------
    Tropp (2004), Greed is good: algorithmic results for sparse approximation, section 2.3 (the Babel
    function).
    """
    atoms = unit_atoms(dictionary)
    most = min(int(k), len(atoms) - 1)
    found = np.zeros(max(int(k), 0))
    for _, table in _cosines(atoms):
        largest = -np.sort(-np.partition(table, table.shape[1] - most, axis=1)[:, table.shape[1] - most :])
        found[:most] = np.maximum(found[:most], np.cumsum(largest, axis=1).max(0))
    found[most:] = found[most - 1] if most else 0.0
    return found


def restricted_isometry(
    dictionary: ArrayLike, k: int, *, n_draws: int = 200, random_state: int = 0
) -> Bounds:
    """Bound the restricted isometry constant delta_k: the largest |s^2 - 1|, s singular values of k atoms.

    All sets of atoms are looked at where there are at most 20,000. Otherwise the lower bound is the worst of
    random sets and of sets grown greedily around the most coherent atoms: it can refute an isometry, and
    never prove one. The upper bound, mu_1(k - 1), is Gershgorin's and always holds.

    Parameters
    ----------
    dictionary : array-like of shape (n_atoms, n_observed)
    k : int
    n_draws : int
        Sets that are drawn.
    random_state : int

    Returns
    -------
    Bounds

    Examples
    --------
    >>> restricted_isometry([[1, 0], [0, 2], [1, 1]], 2).lower
    0.7071...
    >>> print(restricted_isometry(np.random.default_rng(0).normal(size=(512, 128)), 8))
    between 1.261 and 1.969

    References
    ----------
    Candes, Tao (2005), Decoding by linear programming, Definition 1.1. Tropp (2004), Proposition 4.3, for the
    upper bound.
    """
    atoms = unit_atoms(dictionary)
    _check_k(k, len(atoms))
    if comb(len(atoms), k) <= _ALL:
        worst = max(_distortion(atoms[list(some)]) for some in combinations(range(len(atoms)), k))
        return Bounds(worst, worst, f"all {comb(len(atoms), k):,} sets of {k} atoms")
    rng = np.random.default_rng(random_state)
    sets = [*(rng.choice(len(atoms), k, replace=False) for _ in range(n_draws)), *_coherent(atoms, k)]
    lower = max(_distortion(atoms[some]) for some in sets)
    upper = float(cumulative_coherence(atoms, k - 1)[-1]) if k > 1 else 0.0
    return Bounds(lower, max(lower, upper), f"{len(sets)} sets of {k} atoms, and sums of cosines")


def spark(dictionary: ArrayLike) -> Bounds:
    """Bound the spark: the least number of atoms that depend on each other linearly.

    Codes with fewer than half as many atoms are unique. All sets are looked at where there are at most
    20,000; otherwise the spark is at least the first s with mu_1(s - 1) >= 1, which is 1 + 1 / mu or more,
    and at most one more than the rank.

    Parameters
    ----------
    dictionary : array-like of shape (n_atoms, n_observed)

    Returns
    -------
    Bounds
        The upper bound is infinite where no atoms depend on each other.

    Examples
    --------
    >>> print(spark([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]]))
    3
    >>> print(spark(np.random.default_rng(0).normal(size=(512, 128))))
    between 5 and 129

    References
    ----------
    Donoho, Elad (2003), Theorem 2.4 (uniqueness) and section 2.3. Tropp (2004), Theorem 2.4, for mu_1.
    """
    atoms = unit_atoms(dictionary)
    rank = int(np.linalg.matrix_rank(atoms))
    if rank == len(atoms):
        return Bounds(np.inf, np.inf, "the atoms are independent")
    sizes = range(1, rank + 2)
    if sum(comb(len(atoms), size) for size in sizes) <= _ALL:
        found = next(size for size in sizes if _dependent(atoms, size))
        return Bounds(found, found, "all sets of atoms")
    sums = cumulative_coherence(atoms, rank + 1)
    lower = int(np.argmax(sums >= 1 - 1e-6)) + 2 if (sums >= 1 - 1e-6).any() else rank + 1
    lower = 1 if not np.linalg.norm(atoms, axis=1).all() else min(lower, rank + 1)
    upper = 1 if lower == 1 else 2 if sums[0] >= 1 - 1e-6 else rank + 1
    return Bounds(min(lower, upper), upper, "sums of cosines, and the rank")


def unit_atoms(dictionary: ArrayLike) -> np.ndarray:
    """Return atoms of length 1; a zero stays."""
    table = finite_table(dictionary, "dictionary", "(n_atoms, n_observed)")
    length = np.linalg.norm(table, axis=1, keepdims=True)
    return table / np.where(length > 0, length, 1)


def _cosines(atoms: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield |cosines| of some atoms with all, 0 with themselves."""
    size = max(1, _TILE // len(atoms))
    for start in range(0, len(atoms), size):
        some = slice(start, min(start + size, len(atoms)))
        table = np.abs(atoms[some] @ atoms.T)
        table[np.arange(some.stop - start), np.arange(start, some.stop)] = 0
        yield some, np.minimum(table, 1.0)


def _distortion(some: np.ndarray) -> float:
    values = np.linalg.eigvalsh(some @ some.T)
    return float(max(1 - values[0], values[-1] - 1))


def _coherent(atoms: np.ndarray, k: int, starts: int = 16) -> Iterator[np.ndarray]:
    """Grow sets around the most coherent atoms, each time by the one that is nearest to their sum."""
    peak = np.concatenate([table.max(1) for _, table in _cosines(atoms)])
    for start in np.argsort(-peak)[:starts]:
        chosen, total = [int(start)], atoms[start].copy()
        while len(chosen) < k:
            score = atoms @ total
            size = np.abs(score)
            size[chosen] = -1
            best = int(size.argmax())
            total += np.sign(score[best]) * atoms[best]
            chosen.append(best)
        yield np.array(chosen)


def _dependent(atoms: np.ndarray, size: int) -> bool:
    if size > atoms.shape[1]:
        return True
    sets = combinations(range(len(atoms)), size)
    return any(np.linalg.svd(atoms[list(some)], compute_uv=False)[-1] < _ZERO for some in sets)


def _check_k(k: int, n_atoms: int) -> None:
    if not 1 <= k <= n_atoms:
        raise ValueError(f"`k` must be between 1 and the {n_atoms} atoms, got {k}. Give the sparsity.")
