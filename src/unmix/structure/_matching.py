"""Columns carry no names: comparing two structures means finding the best relabelling first."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching


@dataclass(frozen=True)
class Match:
    """The relabelling of latents under which two structures differ in the fewest entries.

    Attributes
    ----------
    order : tuple of int
        Latent `order[j]` of the other structure plays the part of latent j.
    distance : int
        Entries that still differ after `other.permute(order)`.
    """

    order: tuple[int, ...]
    distance: int


def countable(support: np.ndarray) -> np.ndarray:
    """Turn edges into numbers whose products count: float32 is fast, and exact for counts below 2^24."""
    return support.astype(np.float32 if len(support) < 2**24 else np.float64)


def match_columns(a: np.ndarray, b: np.ndarray) -> Match:
    """Match the columns of two binary matrices with as few differing entries as possible.

    |C_j xor D_k| = |C_j| + |D_k| - 2 |C_j and D_k|, so all pairs cost one matrix product, and the best
    relabelling is an assignment problem, solved exactly.
    """
    distances = a.sum(0)[:, None] + b.sum(0)[None, :] - 2 * (countable(a).T @ countable(b))
    rows, order = linear_sum_assignment(distances)
    return Match(tuple(order.tolist()), int(distances[rows, order].sum()))


def has_matching(support: np.ndarray) -> bool:
    """Say whether every column can be given a row of its own."""
    partners = maximum_bipartite_matching(csr_array(support), perm_type="row")
    return bool((partners >= 0).all())
