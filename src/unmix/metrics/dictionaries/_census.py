"""Which features are dead, dense, twice there, or never on without another."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csc_array, csr_array, issparse
from scipy.stats import binom

from .._checks import unmasked

DENSE = 0.1  # on in more than a tenth of the rows
SAME = 0.95  # cosine of two atoms, or Jaccard index of two supports, from which on they are the same
ALWAYS = 0.99  # share of the rows of a feature in which another is on too
_LEAST = 10  # rows that a feature must be on in before anything is said of its company
_LEVEL = 0.01  # chance, over all pairs, at which company would be put down to another being on so often
_ENTRIES = 2**23


@dataclass(frozen=True, eq=False)
class Census:
    """The features of one sparse code, each called by what it is besides a feature; see `census`.

    Attributes
    ----------
    n_rows : int
    rate : ndarray of shape (n_features,)
        The share of rows in which a feature is on.
    dead, dense : ndarray of bool, shape (n_features,)
        Never on; on in more than a tenth of the rows.
    absorber : ndarray of int, shape (n_features,)
        The feature without which this one is never on, or -1. The two cannot be told apart by any data like
        these: what is added to the one atom can be taken from the other's code.
    company : ndarray of shape (n_features,)
        The share of this feature's rows in which the one that is most often beside it is on.
    twin : ndarray of int, shape (n_features,)
        A feature with nearly the same atom, or on in nearly the same rows, or -1.
    """

    n_rows: int
    rate: np.ndarray
    dead: np.ndarray
    dense: np.ndarray
    absorber: np.ndarray
    company: np.ndarray
    twin: np.ndarray

    @property
    def counts(self) -> dict[str, int]:
        """How many features there are of each kind."""
        never, twice = int((self.absorber >= 0).sum()), int((self.twin >= 0).sum())
        return {
            "features": len(self.rate),
            "dead": int(self.dead.sum()),
            "dense": int(self.dense.sum()),
            "never without another": never,
            "twice there": twice,
        }

    def words(self, feature: int) -> tuple[str, ...]:
        """Return what is to be said of one feature; nothing where it is like most."""
        told = (
            (bool(self.dead[feature]), f"dead: on in none of {self.n_rows:,} rows"),
            (bool(self.dense[feature]), f"dense: on in {self.rate[feature]:.0%} of the rows"),
            (self.absorber[feature] >= 0, f"never on without {self.absorber[feature]}"),
            (self.twin[feature] >= 0, f"nearly the same as {self.twin[feature]}"),
        )
        return tuple(word for applies, word in told if applies)

    def __str__(self) -> str:
        counts = self.counts
        rest = ", ".join(f"{n:,} {kind}" for kind, n in counts.items() if kind != "features")
        return f"Of {counts['features']:,} features over {self.n_rows:,} rows: {rest}."

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        arrays = ("rate", "dead", "dense", "absorber", "company", "twin")
        named = {name: getattr(self, name).tolist() for name in arrays}
        return {"n_rows": self.n_rows, "counts": self.counts, **named}


def census(codes: Any, dictionary: ArrayLike | None = None, *, dense: float = DENSE) -> Census:
    """Name the features that are dead, dense, twice there, or never on without another.

    A feature is *never on without another* where the other is on in at least 99% of its rows, it is on in at
    least 10, and that is no accident of the other being on often: by a binomial law, over all pairs. It is
    *twice there* where two atoms have a cosine, or two sets of rows a Jaccard index, of at least .95.

    Parameters
    ----------
    codes : sparse array or array-like of shape (n_samples, n_features)
        On is what is not zero.
    dictionary : array-like of shape (n_features, n_observed), optional
        The atoms, for twins by direction.
    dense : float
        The share of rows above which a feature is dense.

    Returns
    -------
    Census

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = 1.0 * (rng.random((1000, 4)) < 0.05)
    >>> z[:, 1] = z[:, 0] * (rng.random(1000) < 0.5)  # on only where the first one is
    >>> z[:, 3] = 0
    >>> found = census(z)
    >>> found.absorber.tolist(), found.dead.tolist()
    ([-1, 0, -1, -1], [False, False, False, True])
    >>> print(found)
    Of 4 features over 1,000 rows: 1 dead, 0 dense, 1 never without another, 0 twice there.

    References
    ----------
    Chanin et al. (2024), A is for absorption: studying feature splitting and absorption in sparse
    autoencoders, arXiv:2409.14507, for features that are absorbed by others.
    """
    table = csr_array(codes) if issparse(codes) else csr_array(unmasked(codes, "codes"))
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(f"`codes` must have shape (n_samples, n_features), got {table.shape}. Pass codes.")
    on = csr_array((np.ones(len(table.data)) * (table.data != 0), table.indices, table.indptr), table.shape)
    on.eliminate_zeros()
    count = np.asarray(on.sum(axis=0)).ravel()
    rate = count / on.shape[0]
    absorber, company, twin = _company(on, count)
    if dictionary is not None:
        near = _near(np.asarray(dictionary, dtype=np.float32), on.shape[1])
        twin = np.where(twin >= 0, twin, near)
    return Census(on.shape[0], rate, count == 0, rate > dense, absorber, company, np.where(count, twin, -1))


def _company(on: csr_array, count: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each feature the one it is never on without, how often that is on beside it, and a twin."""
    n_rows, width = on.shape
    absorber, twin, company = np.full(width, -1), np.full(width, -1), np.zeros(width)
    by_column, size = csc_array(on), max(1, _ENTRIES // width)
    for start in range(0, width, size):
        some = np.arange(start, min(start + size, width))
        both = (by_column[:, some].T @ on).toarray()
        both[np.arange(len(some)), some] = 0
        share = both / np.maximum(count[some], 1)[:, None]
        jaccard = both / np.maximum(count[some][:, None] + count - both, 1)
        best = share.argmax(1)
        company[some] = share.max(1)
        chance = binom.sf(both[np.arange(len(some)), best] - 1, count[some], count[best] / n_rows) * width**2
        always = (company[some] >= ALWAYS) & (count[some] >= _LEAST) & (chance <= _LEVEL)
        same = (jaccard.max(1) >= SAME) & (count[some] >= _LEAST)
        absorber[some] = np.where(always, best, -1)
        twin[some] = np.where(same, jaccard.argmax(1), -1)
    return absorber, company, twin


def _near(atoms: np.ndarray, width: int) -> np.ndarray:
    """Return for each atom another one of nearly the same direction, or -1."""
    if atoms.shape[0] != width:
        raise ValueError(f"`dictionary` must have {width} rows, got shape {atoms.shape}. One for each code.")
    length = np.linalg.norm(atoms, axis=1, keepdims=True)
    unit = atoms / np.where(length > 0, length, 1)
    found, size = np.full(width, -1), max(1, _ENTRIES // width)
    for start in range(0, width, size):
        some = np.arange(start, min(start + size, width))
        table = unit[some] @ unit.T
        table[np.arange(len(some)), some] = -1
        found[some] = np.where(table.max(1) >= SAME, table.argmax(1), -1)
    return found
