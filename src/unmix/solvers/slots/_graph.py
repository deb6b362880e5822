"""Slots that nobody counted: latents that move the same observed variables belong together."""

import numpy as np
from scipy.sparse.csgraph import connected_components

_UNLIKE, _ALIKE = 0.5, 0.1  # of 1 - cosine


def slots_of(profiles: np.ndarray) -> list[list[int]]:
    """Return the connected components of the graph that links latents with similar influence.

    Latents are linked where the cosine of their influences is near 1. How near is read off the gaps between
    the cosines at which components merge: the largest ratio of 1 - cosine, from 0.5 (unlike) to 0.1 (alike).
    Disjoint slots are the components of the factor graph itself; slots that share more than half of what they
    move look alike, and are not told apart.

    Parameters
    ----------
    profiles : array of shape (n_latents, n_observed)
        How much each latent moves each observed variable, not negative.

    Examples
    --------
    >>> slots_of(np.array([[3.0, 2.9, 0.1, 0.0], [0.0, 0.2, 2.0, 2.2], [1.0, 1.1, 0.0, 0.0]]))
    [[0, 2], [1]]

    References
    ----------
    Matthes, Han and Shen (2026), Mechanistic independence, arXiv:2509.22196 (factors as the components of a
    graph of latents; the threshold is ours).
    """
    unit = profiles / np.maximum(np.linalg.norm(profiles, axis=1, keepdims=True), 1e-30)
    cosine = unit @ unit.T
    marks = np.log([_UNLIKE, *np.clip(1 - _merges(cosine), _ALIKE, _UNLIKE), _ALIKE])
    widest = int(np.diff(marks).argmin())
    near = np.exp(marks[widest : widest + 2].mean())
    labels = connected_components(1 - cosine < near, directed=False)[1]
    return [np.flatnonzero(labels == k).tolist() for k in range(labels.max() + 1)]


def _merges(cosine: np.ndarray) -> np.ndarray:
    """Return the similarities at which components merge, in rising order: a widest spanning tree."""
    reached, merges = cosine[0].copy(), []
    outside = np.arange(1, len(cosine))
    while len(outside):
        best = outside[reached[outside].argmax()]
        merges.append(reached[best])
        reached = np.maximum(reached, cosine[best])
        outside = outside[outside != best]
    return np.sort(merges)
