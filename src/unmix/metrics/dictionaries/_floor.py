"""What random dictionaries score where data fill few dimensions."""

import numpy as np
from numpy.typing import ArrayLike


def participation_ratio(covariance: ArrayLike) -> float:
    """Return the effective number of dimensions, (sum of eigenvalues)^2 / sum of their squares.

    Parameters
    ----------
    covariance : array-like of shape (n_observed, n_observed), or of its eigenvalues

    Examples
    --------
    >>> participation_ratio(np.eye(3)), round(participation_ratio([1.0, 0.1, 0.1]), 2)
    (3.0, 1.41)
    """
    table = np.asarray(covariance, dtype=np.float64)
    trace, squares = (np.trace(table), np.square(table)) if table.ndim == 2 else (table.sum(), table**2)
    return float(trace**2 / max(squares.sum(), np.finfo(float).tiny))


def random_dictionary(n_atoms: int, covariance: ArrayLike, *, random_state: int = 0) -> np.ndarray:
    """Draw unit atoms in the directions of Gaussian data of a covariance, in single precision.

    Parameters
    ----------
    n_atoms : int
    covariance : array-like of shape (n_observed, n_observed)
    random_state : int

    Examples
    --------
    >>> atoms = random_dictionary(5, np.diag([1.0, 1.0, 0.0]))
    >>> atoms.shape, bool(np.allclose(np.linalg.norm(atoms, axis=1), 1)), bool(atoms[:, 2].any())
    ((5, 3), True, False)
    """
    values, vectors = np.linalg.eigh(np.asarray(covariance, dtype=np.float64))
    root = (vectors * np.sqrt(np.maximum(values, 0))).T.astype(np.float32)
    rng = np.random.default_rng(random_state)
    return unit(rng.standard_normal((n_atoms, len(root)), dtype=np.float32) @ root)


def unit(atoms: np.ndarray) -> np.ndarray:
    """Return rows of length 1; a row of zeros stays."""
    length = np.linalg.norm(atoms, axis=1, keepdims=True)
    return atoms / np.where(length > 0, length, 1)
