"""Rows of every domain, and what a model says of them."""

from typing import Any

import numpy as np

from ._case import Case

_ROWS = 5000  # are enough to tell
_POINTS = 200  # at which slopes are looked at


def numbers(case: Case) -> np.ndarray:
    """Return the number of the domain of each row; a quantity is cut where the model cut it."""
    cuts = getattr(case.model, "domain_cuts_", ())
    labels = np.asarray(case.domains)
    labels = np.searchsorted(cuts, labels) if len(cuts) else labels
    return np.unique(labels, return_inverse=True)[1]


def looked_at(codes: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return some rows of every domain, and the numbers of their domains."""
    rows = spread(u, _ROWS)
    return codes[rows], np.unique(u[rows], return_inverse=True)[1]


def spread(u: np.ndarray, most: int) -> np.ndarray:
    """Return rows of which each domain has its share: labels may come in turns, as every k-th row would."""
    step = max(1, -(-len(u) // most))
    return np.sort(np.argsort(u, kind="stable")[::step])


def slopes(case: Case, model: Any) -> np.ndarray:
    """Return the Jacobian of x at some rows."""
    return np.asarray(model.jacobian(case.x[spread(numbers(case), _POINTS)]))


def codes_of(model: Any, x: np.ndarray) -> np.ndarray:
    """Return the latents of rows in double precision."""
    return np.asarray(model.transform(x), dtype=np.float64)
