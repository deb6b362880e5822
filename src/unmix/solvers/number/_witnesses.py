"""Two weak witnesses of where latents end: eigenvalues, and what linear latents save; and what misleads both.

Each by itself names a number for every table. Where they agree, and nothing better tells, it counts.
"""

import numpy as np

from ._factors import FLOOR
from ._number import NEXT

RATIO, LEFT = 1.7, 0.3  # of eigenvalues in turn, at least; share of the variance behind them, at most
STEEP, LITTLE = 3.0, 0.02  # by how much what is saved must fall at once; nats that count as nothing
RADIAL = 0.75  # correlation with the distance from the middle, from which on a component is no latent
_TURNS = 20


def agreed(rows: np.ndarray, gains: np.ndarray) -> int:
    """Return the number of latents that both witnesses name, within one, else 0.

    Of the n largest components one may only tell how far rows lie from the middle: a mixing that bends every
    variable the same way adds it. Then latents are n - 1.

    Parameters
    ----------
    rows : array of shape (n_rows, n_features)
        Standardised.
    gains : array of shape (most,)
        Nats that each further linear latent saves.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = rng.normal(size=(2000, 3)) @ rng.normal(size=(3, 8)) + 0.3 * rng.normal(size=(2000, 8))
    >>> agreed(rows / rows.std(0), np.array([2.0, 1.5, 1.0, 0.01, 0.0])), agreed(rows, np.array([1.0, 0.9]))
    (3, 0)
    """
    values, vectors = (part[..., ::-1] for part in np.linalg.eigh(np.corrcoef(rows, rowvar=False)))
    few = np.maximum(values[: len(gains) + 1], FLOOR)
    ratios = few[:-1] / few[1:]
    n = int(ratios.argmax()) + 1
    clear = n > 1 and ratios[n - 1] >= RATIO and values[n:].sum() <= LEFT * values.sum()
    if not clear or steepest(gains) not in (n, n + 1):
        return 0
    return n - (radial(rows @ (vectors[:, :n] / np.sqrt(few[:n]))) >= RADIAL)


def steepest(gains: np.ndarray) -> int:
    """Return after how many latents what one more saves falls most steeply, else 0.

    >>> steepest(np.array([1.0, 0.8, 0.1, 0.05])), steepest(np.array([1.0, 0.8, 0.6, 0.4]))
    (2, 0)
    """
    later = np.append(np.maximum.accumulate(gains[::-1])[::-1][1:], gains[-1:])  # of the last nobody knows
    falls = np.where(gains > NEXT, gains / np.maximum(later, LITTLE), 0.0)
    return int(falls.argmax()) + 1 if falls.max(initial=0.0) >= STEEP else 0


def radial(white: np.ndarray) -> float:
    """Return how well one direction of white rows tells the distance of the others from the middle.

    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(2000, 3))
    >>> far = np.linalg.norm(z, axis=1)
    >>> radial(z) < 0.2 < 0.9 < radial(np.column_stack([z, (far - far.mean()) / far.std()]))
    True
    """
    along, values = np.zeros(white.shape[1]), white - white.mean(0)
    for _ in range(_TURNS):
        far = np.linalg.norm(values - np.outer(values @ along, along), axis=1)
        pull = values.T @ (far - far.mean())
        before, along = along, pull / max(float(np.linalg.norm(pull)), np.finfo(float).tiny)
        if abs(before @ along) > 1 - 1e-9:
            break
    far = np.linalg.norm(values - np.outer(values @ along, along), axis=1)
    return float(abs(np.corrcoef(values @ along, far)[0, 1]))
