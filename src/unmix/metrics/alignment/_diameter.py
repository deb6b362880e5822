"""How wide a cloud of codes is: the yardstick of alignment errors."""

import numpy as np
from numpy.typing import ArrayLike

from ..._geometry import Diameter, widest_pair
from ...rows import Rows
from .._checks import check_units, table, unmasked


def diameter(z: ArrayLike | Rows, *, exact: bool | str = "auto", budget: float = 2e11) -> Diameter:
    """Return the largest Euclidean distance between two rows, max_ij ||z_i - z_j||.

    A few farthest-point sweeps give a lower bound; rows too close to the mean to end a wider pair are put
    aside; the pairs that are left are gone through block by block.

    Parameters
    ----------
    z : array-like of shape (n_samples, n_codes), or rows to be read in blocks
    exact : {"auto", True, False}
        "auto" goes through all pairs where that costs at most `budget`; False stops after the sweeps.
    budget : float
        Multiplications that "auto" may spend, rows squared times columns.

    Returns
    -------
    Diameter
        `value`, `upper` (no pair is farther apart), `exact`, `endpoints`.

    Examples
    --------
    >>> found = diameter([[0, 0], [3, 4], [1, 1]])
    >>> found.value, found.exact, sorted(found.endpoints)
    (5.0, True, [0, 1])

    References
    ----------
    Nelson et al. (2026), Statistical and structural identifiability in representation learning, section 4.2,
    arXiv:2603.11970.
    """
    if exact not in (True, False, "auto"):
        raise ValueError(f"`exact` must be True, False or 'auto', got {exact!r}. Choose one of them.")
    if isinstance(z, Rows):
        return widest_pair(z, exact, budget)
    entries = table(z, "z")
    check_units(np.abs(unmasked(z, "z")).max(), "z")  # a distance has their units
    return widest_pair(entries, exact, budget)
