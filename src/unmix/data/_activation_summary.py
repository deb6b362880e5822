"""What a mask did to activations: shares of variance, effective dimension, and how far the mean is away."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from unmix.rows import Rows

_SAMPLE = 20_000  # rows that tell the covariance


@dataclass(frozen=True)
class Summary:
    """What was found of activations.

    Parameters
    ----------
    n_rows, n_masked : int
    mean : array of shape (n_features,)
        Of the rows that are not masked.
    masked_variance : float
        Share of the variance of all rows that the masked ones carry.
    participation_ratio, participation_ratio_unmasked : float
        (sum of eigenvalues)^2 / sum of their squares, of the covariance: with the mask, and of all rows.
    gamma, gamma_unmasked : float
        Norm of the mean over that of the standard deviations: with the mask, and of all rows.
    median_norm, largest_norm : float
    """

    n_rows: int
    n_masked: int
    mean: np.ndarray
    masked_variance: float
    participation_ratio: float
    participation_ratio_unmasked: float
    gamma: float
    gamma_unmasked: float
    median_norm: float
    largest_norm: float

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers."""
        return {name: value for name, value in asdict(self).items() if name != "mean"}


def summary_of(rows: Rows, masked: np.ndarray, norms: np.ndarray) -> Summary:
    """Pass over all rows once for means and variances; the covariance is that of rows spread over them."""
    d, start = rows.n_features, 0
    sums, squares, counts = np.zeros((2, d)), np.zeros(2), np.zeros(2)
    for block in rows.blocks():
        values = np.asarray(block, dtype=np.float64)
        hidden = masked[start : start + len(values)]
        for which, part in enumerate((values[~hidden], values[hidden])):
            sums[which] += part.sum(0)
            squares[which] += np.square(part).sum()
            counts[which] += len(part)
        start += len(values)
    if not counts[0]:
        raise ValueError("`mask` must leave some rows, got none. Use a milder rule.")
    mean, every = sums[0] / counts[0], sums.sum(0) / counts.sum()
    inner = squares[0] / counts[0] - mean @ mean
    whole = squares.sum() / counts.sum() - every @ every
    away = squares[1] - 2 * sums[1] @ every + counts[1] * every @ every
    ratios = _participation(rows, masked)
    return Summary(
        n_rows=int(counts.sum()),
        n_masked=int(counts[1]),
        mean=mean,
        masked_variance=float(away / (whole * counts.sum())) if whole > 0 else 0.0,
        participation_ratio=ratios[0],
        participation_ratio_unmasked=ratios[1],
        gamma=_ratio(mean, inner),
        gamma_unmasked=_ratio(every, whole),
        median_norm=float(np.median(norms)),
        largest_norm=float(norms.max()),
    )


def _ratio(mean: np.ndarray, variance: float) -> float:
    return float(np.linalg.norm(mean) / np.sqrt(variance)) if variance > 0 else float("inf")


def _participation(rows: Rows, masked: np.ndarray) -> tuple[float, float]:
    """Return the participation ratio of rows spread over the data: not masked, and all."""
    stride = max(1, rows.n_rows // _SAMPLE)
    few = np.concatenate([np.array(part, dtype=np.float64) for part in rows.every(stride)])
    hidden = masked[::stride][: len(few)]
    return participation_ratio(few[~hidden]), participation_ratio(few)


def participation_ratio(x: np.ndarray) -> float:
    """Return (sum of eigenvalues)^2 / sum of squared eigenvalues of the covariance of rows."""
    if len(x) < 2:
        return 0.0
    centred = x - x.mean(0)
    small = centred.T @ centred if x.shape[1] <= len(x) else centred @ centred.T
    total = np.square(small).sum()
    return float(np.trace(small) ** 2 / total) if total > 0 else 0.0
