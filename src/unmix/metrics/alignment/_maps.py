"""The best map from one table to another within four families, each as one matrix on centred rows.

All but ICA depend on second moments alone, so that tables may be `condensed` before.
"""

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..._geometry import rotation
from ..._ica import Components, components, look_gaussian
from ...rows import Rows


def signed_permutation(a: np.ndarray, b: np.ndarray, *, scale: bool = False) -> np.ndarray:
    """Return the signed permutation P that brings a closest to b, min ||c a P - b||, exactly for c = 1.

    ||c a P - b||^2 = sum over pairs (i, j) of c^2 |a_i|^2 - 2 c |(a'b)_ij| up to a constant, so one
    assignment finds P and the signs follow. Where the widths differ some columns stay unmatched. A scale is
    found in turn with P, which matters only where a is the wider one.
    """
    cross, size = a.T @ b, (a**2).sum(0)
    c, p = 1.0, _assigned(cross, size, 1.0)
    for _ in range(20 if scale else 0):
        c = float((p * cross).sum() / max(np.abs(p).sum(1) @ size, np.finfo(float).tiny))
        better = _assigned(cross, size, c)
        if np.array_equal(better, p):
            break
        p = better
    return c * p


def _assigned(cross: np.ndarray, size: np.ndarray, c: float) -> np.ndarray:
    cost = c**2 * size[:, None] - 2 * c * np.abs(cross)
    rows, columns = linear_sum_assignment(cost)
    p = np.zeros_like(cross)
    p[rows, columns] = np.where(cross[rows, columns] < 0, -1.0, 1.0)
    return p


def rigid(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the similarity c R, R orthogonal, that brings a closest to b (orthogonal Procrustes)."""
    r, c = rotation(a, b)
    return c * r


def linear(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the matrix that brings a closest to b, least squares without regularisation."""
    return np.linalg.lstsq(a, b, rcond=None)[0]


class ICA:
    """Components of both tables, matched: each by itself, so that nothing but order and sign is fitted."""

    def __init__(self, a: Rows, b: Rows, condensed: tuple[np.ndarray, np.ndarray], random_state: int):
        self.first: Components = components(a, random_state)
        self.second: Components = components(b, random_state)
        s1, s2 = condensed[0] @ self.first.unmix, condensed[1] @ self.second.unmix
        self.n_gaussian = int(look_gaussian(b, self.second.unmix).sum())
        self.match = signed_permutation(s1, s2)  # unit variances: |s1's2| is n times the correlation

    @property
    def settled(self) -> bool:
        """Whether both iterations came to rest."""
        return self.first.settled and self.second.settled

    @property
    def matrix(self) -> np.ndarray:
        """To the components of the first, by the match, and out of the second: a to b."""
        return self.first.unmix @ self.match @ self.second.mix
