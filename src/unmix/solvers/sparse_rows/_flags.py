"""What to tell a user whose codes are not as sparse as they should be."""

import numpy as np

from ._search import ENOUGH

_SINGULAR = 0.05
_NESTED = 0.02


def flags(found: np.ndarray, active: np.ndarray, n_distinct: int, singular: float) -> tuple[str, ...]:
    """Return sentences about a sparse basis that should not be trusted as it is.

    Parameters
    ----------
    found : bool array of shape (n_components,)
        Rows with a spike.
    active : bool array of shape (n_samples, n_components)
    n_distinct : int
        Distinct samples.
    singular : float
        Smallest singular value of the rows on white codes.

    Examples
    --------
    >>> z = np.random.default_rng(0).normal(size=(100, 2))
    >>> print(*flags(np.array([False, False]), z != 0, 100, 1.0))
    Nothing is sparse: no direction has a value of its own at which many samples sit. ...
    """
    sentences = []
    if not found.any():
        sentences.append(
            "Nothing is sparse: no direction has a value of its own at which many samples sit. "
            "The rows are one basis among many; use the data as they are, up to an affine map."
        )
    elif not found.all():
        missing = np.flatnonzero(~found).tolist()
        sentences.append(
            f"Only {found.sum()} of {len(found)} rows have a spike; rows {missing} complete the basis and "
            "mean nothing by themselves. Use more starts, more samples, or fewer components."
        )
    sentences += [
        f"Row {i} is inactive only where row {j} is: it may be a mixture of both."
        for i, j in _nested(found, active)
    ]
    sentences += too_few(n_distinct, len(found))
    if singular < _SINGULAR:
        sentences.append(
            f"The rows are hardly independent (smallest singular value {singular:.3f}). Ask for fewer "
            "components."
        )
    return tuple(sentences)


def too_few(n_distinct: int, n_components: int) -> list[str]:
    """Say so if rows are fitted to so few samples that they may fit chance.

    Examples
    --------
    >>> too_few(30, 2), too_few(40, 2)
    (['There are 30 distinct samples, fewer than 20 for each component: rows may fit chance. ...'], [])
    """
    if n_distinct >= ENOUGH * n_components:
        return []
    return [
        f"There are {n_distinct} distinct samples, fewer than {ENOUGH} for each component: rows may fit "
        "chance. Collect more samples."
    ]


def _nested(found: np.ndarray, active: np.ndarray) -> list[tuple[int, int]]:
    """Return pairs (i, j) of found rows such that j is inactive wherever i is.

    Then nothing tells z_i from z_i + z_j: Xu, Lachapelle and Magliacane (2026), Assumption 3.8 (b).
    """
    inactive = (~active).astype(float)
    together = inactive.T @ active / np.maximum(inactive.sum(0), 1)[:, None]  # P(j active | i inactive)
    pairs = (together < _NESTED) & found[:, None] & found & ~np.eye(len(found), dtype=bool)
    return [(int(i), int(j)) for i, j in np.argwhere(pairs)]
