"""Numbers that many tests draw, and derivatives by differences."""

import numpy as np


def rng(seed=0):
    """A generator."""
    return np.random.default_rng(seed)


def normal(*shape, seed=0):
    """Standard normal numbers."""
    return rng(seed).normal(size=shape)


def orthogonal(seed, d):
    """A matrix of orthonormal columns, drawn at random."""
    return np.linalg.qr(normal(d, d, seed=seed))[0]


def levels(n, sizes, seed=0):
    """Independent discrete factors with these numbers of levels."""
    columns = [rng(seed + k).integers(0, size, n) for k, size in enumerate(sizes)]
    return np.column_stack(columns)


def numerical_jacobian(f, points, step=1e-5):
    """Central differences of f: (n, d) -> (n, x), as (n, x, d)."""
    shifts = step * np.eye(points.shape[1])
    return np.stack([(f(points + s) - f(points - s)) / (2 * step) for s in shifts], axis=-1)
