"""Sufficient diversity of a softmax head: its representation is identified up to an invertible linear map."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .._certificate import Certificate
from ._report import PAPER, NearReport


@dataclass(frozen=True, eq=False, kw_only=True)
class SoftmaxDiversity(NearReport):
    """Whether the rows of a head spread in all directions; see `softmax_diversity`.

    Attributes
    ----------
    eigenvalues : ndarray of shape (n_features,)
        Of the covariance of the rows, largest first.
    rank : int
        Eigenvalues above the tolerance.
    margin : float
        Smallest over largest eigenvalue.
    """

    eigenvalues: np.ndarray
    rank: int
    margin: float


def softmax_diversity(
    weights: ArrayLike, *, probabilities: ArrayLike | None = None, tolerance: float = 1e-6
) -> SoftmaxDiversity:
    """Check that the covariance of the head's rows t(y) is positive definite, with the margin.

    A classifier or next-token model p(y | x) proportional to exp(f(x)' t(y)) determines f up to an
    invertible linear map if differences of the t(y) span all of R^d, which is Cov t(y) > 0.

    Parameters
    ----------
    weights : array-like of shape (n_classes, n_features)
        Last layer: one row t(y) per class.
    probabilities : array-like of shape (n_classes,), optional
        How often each class occurs; classes that never occur do not help. Uniform by default.
    tolerance : float
        Eigenvalues below this share of the largest count as zero.

    Returns
    -------
    SoftmaxDiversity

    Examples
    --------
    >>> found = softmax_diversity([[1, 0], [0, 1], [-1, -1]])
    >>> bool(found), found.rank, round(found.margin, 2)
    (True, 2, 0.33)
    >>> print(softmax_diversity([[1, 0], [0, 1]]))
    Nothing is identified up to an invertible linear map: ...

    References
    ----------
    Nelson et al. (2026), Lemma A.1 and appendix A.3.1, arXiv:2603.11970. Roeder, Metz and Kingma (2021), On
    linear identifiability of learned representations, arXiv:2007.00810.
    """
    rows, p = _checked(weights, probabilities)
    if not 0 < tolerance < 1:
        raise ValueError(f"`tolerance` must be between 0 and 1, got {tolerance}. It is relative.")
    centred = (rows - p @ rows) * np.sqrt(p)[:, None]
    values = np.maximum(np.linalg.eigvalsh(centred.T @ centred)[::-1], 0.0)
    rank, d = int((values > tolerance * values[0]).sum()) if values[0] > 0 else 0, rows.shape[1]
    margin = float(values[-1] / values[0]) if values[0] > 0 else 0.0
    why = f"the rows spread in {rank} of {d} directions, with a margin of {margin:.2g}"
    certificate = Certificate(
        f"Sufficient diversity of the head ({PAPER}, Lemma A.1)",
        rank == d,
        (
            "the model is well specified and fitted to its optimum",
            "the head of another fit spreads as widely",
        ),
        (why,),
    )
    return SoftmaxDiversity(
        certificates=(certificate,),
        identifies=_identifies(rank, d),
        missing=() if rank == d else (_missing(int((p > 0).sum()), rank, d),),
        eigenvalues=values,
        rank=rank,
        margin=margin,
    )


def _identifies(rank: int, d: int) -> str:
    if rank == d:
        return f"All {d} features are identified up to an invertible linear map."
    return (
        f"Nothing is identified up to an invertible linear map: the head sees only {rank} of {d} directions, "
        "and the representation is free in the others."
    )


def _missing(n_seen: int, rank: int, d: int) -> str:
    if n_seen <= d:
        return f"at least {d + 1} classes that occur, there are {n_seen}"
    return f"rows of the head that spread in {d - rank} more directions, or {rank} features instead of {d}"


def _checked(weights: ArrayLike, probabilities: ArrayLike | None) -> tuple[np.ndarray, np.ndarray]:
    rows = np.asarray(weights, dtype=np.float64)
    if rows.ndim != 2 or 0 in rows.shape or not np.isfinite(rows).all():
        raise ValueError(f"`weights` must be finite of shape (n_classes, n_features), got {rows.shape}.")
    p = np.ones(len(rows)) if probabilities is None else np.asarray(probabilities, dtype=np.float64)
    if p.shape != (len(rows),) or not np.isfinite(p).all() or (p < 0).any() or p.sum() <= 0:
        raise ValueError(
            f"`probabilities` must hold {len(rows)} numbers that are not negative, with a positive sum, got "
            f"shape {p.shape}. Give one per class."
        )
    return rows, p / p.sum()
