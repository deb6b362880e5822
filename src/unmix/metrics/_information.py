"""Entropy and mutual information of columns, in nats."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.special import digamma

from ._checks import standardised


def entropy(labels: np.ndarray) -> float:
    """Return the empirical entropy -Σ p log p of labels 0, 1, ..."""
    return _entropy_of_counts(np.bincount(labels))


def plug_in(a: np.ndarray, b: np.ndarray) -> float:
    """Return the mutual information of two columns of labels, H(a) + H(b) - H(a, b), at least 0."""
    joint = np.bincount(a * (b.max() + 1) + b)
    return max(0.0, entropy(a) + entropy(b) - _entropy_of_counts(joint))


def nearest_neighbours(labels: np.ndarray, values: np.ndarray, k: int, rng: np.random.Generator) -> float:
    """Estimate the mutual information of labels and a continuous column from neighbours within each label.

    I = ψ(N) + <ψ(k_t)> - <ψ(N_y)> - <ψ(m_t)>, at least 0. For sample t, with a label y that N_y samples
    share, r_t is the distance to its k_t-th neighbour with that label, k_t = min(k, N_y - 1), and m_t counts
    the samples of any label nearer than r_t, itself included. Samples whose label is unique are left out.
    Equal values are told apart by noise of relative size 1e-10.

    References
    ----------
    Ross (2014), Mutual information between discrete and continuous data sets, PLoS ONE 9(2), equation (2).
    """
    counts = np.bincount(labels)
    shared = counts[labels] > 1
    if not shared.any():
        return 0.0
    labels, x = labels[shared], _untied(standardised(values[shared, None])[:, 0], rng)
    radius, found = np.empty(len(x)), np.empty(len(x))
    for y in np.unique(labels):
        rows = np.flatnonzero(labels == y)
        rows = rows[np.argsort(x[rows])]
        k_t = min(k, len(rows) - 1)
        radius[rows], found[rows] = _distance_to_neighbour(x[rows], k_t), k_t
    nearer = _count_nearer(x, radius)
    terms = digamma(found) - digamma(counts[labels]) - digamma(nearer)
    return max(0.0, float(digamma(len(x)) + terms.mean()))


def _entropy_of_counts(counts: np.ndarray) -> float:
    p = counts[counts > 0] / counts.sum()
    return float(-(p * np.log(p)).sum())


def _untied(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return x if len(np.unique(x)) == len(x) else x + 1e-10 * rng.standard_normal(len(x))


def _distance_to_neighbour(x: np.ndarray, k: int) -> np.ndarray:
    """Return the distance of each entry of a sorted column to its k-th neighbour; shape (n,).

    The k nearest neighbours of an entry and itself are k + 1 consecutive entries: the best of the k + 1 such
    windows around it.
    """
    around = sliding_window_view(np.pad(x, k, constant_values=(-np.inf, np.inf)), 2 * k + 1)
    reach = np.maximum(x[:, None] - around[:, : k + 1], around[:, k:] - x[:, None])
    return reach.min(1)


def _count_nearer(x: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """Count entries at a distance strictly less than the radius of each, itself included; shape (n,)."""
    ordered = np.concatenate([[-np.inf], np.sort(x), [np.inf]])
    first = np.searchsorted(ordered, x - radius, side="right")
    last = np.searchsorted(ordered, x + radius, side="left") - 1
    # the ends were found by rounded sums; differences, of which the radius is one, decide
    first += x - ordered[first] >= radius
    first -= x - ordered[first - 1] < radius
    last -= ordered[last] - x >= radius
    last += ordered[last + 1] - x < radius
    return np.maximum(last - first + 1, 1)
