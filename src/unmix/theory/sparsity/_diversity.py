"""Sufficient diversity (DDL, Assumption 2) without a search over sets of observed variables.

Each clause is monotone in the set A, so one extremal A decides it; all of them are statements about
containment of children. `C_i` are the children of latent i, `N_i` the other observed variables.
"""

import numpy as np
from scipy.sparse import csr_array

from unmix.structure import Structure

_SPARSE = 0.1  # the share of edges below which a sparse product is faster


def clauses_met(structure: Structure) -> np.ndarray:
    """Say which clauses of sufficient diversity each latent meets.

    Parameters
    ----------
    structure : Structure
        Every latent must have a child.

    Returns
    -------
    ndarray of bool, shape (n_latents, 3)
        Column c - 1 is clause c.

    Examples
    --------
    >>> clauses_met(Structure([[1, 1], [0, 1]])).astype(int)
    array([[1, 1, 0],
           [0, 0, 1]])

    References
    ----------
    Zheng et al. (2026), Diverse dictionary learning, Assumption 2, arXiv:2604.17568.
    """
    contained = structure.contained()
    only_x_k_sees_it = contained.sum(0) == 1  # clause 1: no other children are part of C_i
    only_common_parent = contained.sum(1) == 1  # clause 3: C_i is part of no other children
    return np.column_stack([only_x_k_sees_it, _shared_by_all_but_one(structure), only_common_parent])


def witness(structure: Structure, latent: int, clause: int) -> frozenset[int]:
    """Return the set A of observed variables with which a latent meets a clause that it does meet."""
    children = structure.influence(latent)
    if clause == 3:
        return children  # the intersection of their parents is {i}
    others = frozenset(range(structure.n_observed)) - children
    if clause == 1:
        return others | {min(children)}  # any child will do as x_k
    required = _required(structure)[latent]
    fit = ~structure.support[:, latent] & structure.support[:, required].all(1)
    return children | {int(np.argmax(fit))}


def _shared_by_all_but_one(structure: Structure) -> np.ndarray:
    """Clause 2: some x_k outside C_i is a child of every latent in R_i.

    S R' counts, for each x_k and latent i, the members of R_i that move x_k.
    """
    required = _required(structure).astype(np.float32)
    edges = structure.support.astype(np.float32)
    few = structure.n_edges < _SPARSE * edges.size
    counts = (csr_array(edges) if few else edges) @ required.T
    return ((counts == required.sum(1)) & ~structure.support).any(0)


def _required(structure: Structure) -> np.ndarray:
    """R_i: latents that share all children of i (to be cut off by x_k), or none (to be covered by x_k)."""
    required = structure.contained() | (structure.shared_children == 0)
    np.fill_diagonal(required, False)
    return required
