"""Graphs: structural Hamming distance, and the class of a directed acyclic graph."""

import numpy as np
from numpy.typing import ArrayLike


def shd(true: ArrayLike, estimated: ArrayLike, *, compare: str = "graph", reversal: int = 1) -> float:
    """Count the pairs of nodes that two graphs join differently: the structural Hamming distance.

    Entry (i, j) of a graph is 1 for an edge i → j. A pair with both entries is an undirected edge, as in a
    CPDAG (a class of Markov equivalent graphs); a DAG has none. A missing edge, a surplus edge and a
    directed edge in place of an undirected one (or the other way round) count 1 each; an edge pointing the
    wrong way counts `reversal`.

    Parameters
    ----------
    true, estimated : array-like of shape (n_nodes, n_nodes)
        Zeros and ones, an empty diagonal and no directed cycle. Nodes correspond by position: relabel
        estimated latents first, for instance by `match_components`.
    compare : {"graph", "cpdag"}
        Compare the graphs as they are, or the classes that they belong to: data without interventions can't
        tell members of a class apart. A graph with undirected edges is then taken to be a class already.
    reversal : {1, 2}
        1 as in Tsamardinos et al., 2 when a reversal is one edge missing and one too many.

    Returns
    -------
    float
        A whole number; 0 iff the graphs agree.

    Examples
    --------
    >>> chain, fork = [[0, 1, 0], [0, 0, 1], [0, 0, 0]], [[0, 0, 0], [1, 0, 1], [0, 0, 0]]
    >>> shd(chain, fork), shd(chain, fork, reversal=2), shd(chain, fork, compare="cpdag")
    (1.0, 2.0, 0.0)

    References
    ----------
    Tsamardinos, Brown and Aliferis (2006), The max-min hill-climbing Bayesian network structure learning
    algorithm, section 5.
    """
    a, b = graph(true, "true"), graph(estimated, "estimated")
    if a.shape != b.shape:
        raise ValueError(f"`estimated` must have {len(a)} nodes like `true`, got {len(b)}. Align them first.")
    if compare not in ("graph", "cpdag") or reversal not in (1, 2):
        raise ValueError(
            f"`compare` must be 'graph' or 'cpdag' and `reversal` 1 or 2, got {compare!r} and {reversal!r}. "
            "Choose among them."
        )
    if compare == "cpdag":
        a, b = _class_of(a), _class_of(b)
    upper = np.triu_indices(len(a), 1)
    differ = ((a != b) | (a != b).T)[upper]
    reversed_ = (a & ~a.T & b.T & ~b | a.T & ~a & b & ~b.T)[upper]
    return float(differ.sum() + (reversal - 1) * reversed_.sum())


def cpdag(dag: ArrayLike) -> np.ndarray:
    """Return the class of a directed acyclic graph: edges that every member points alike stay directed.

    Parameters
    ----------
    dag : array-like of shape (n_nodes, n_nodes)
        Entry (i, j) is 1 for i → j.

    Returns
    -------
    ndarray of int, shape (n_nodes, n_nodes)
        Undirected edges have both entries.

    Examples
    --------
    >>> cpdag([[0, 1, 0], [0, 0, 1], [0, 0, 0]])  # a chain may be turned round
    array([[0, 1, 0],
           [1, 0, 1],
           [0, 1, 0]])
    >>> cpdag([[0, 0, 1], [0, 0, 1], [0, 0, 0]])  # a collider may not
    array([[0, 0, 1],
           [0, 0, 1],
           [0, 0, 0]])

    References
    ----------
    Verma and Pearl (1990), Equivalence and synthesis of causal models, Theorem 1; Meek (1995), Causal
    inference and causal explanation with background knowledge, rules R1 to R3.
    """
    edges = graph(dag, "dag")
    if (edges & edges.T).any():
        raise ValueError("`dag` must have directed edges only, got an undirected one. Pass a DAG.")
    return _class_of(edges).astype(int)


def graph(values: ArrayLike, name: str) -> np.ndarray:
    """Return a boolean adjacency matrix without loops and without directed cycles, or say what is wrong."""
    entries = np.asarray(values)
    if entries.ndim != 2 or entries.shape[0] != entries.shape[1] or not len(entries):
        raise ValueError(f"`{name}` must be a square matrix, got shape {entries.shape}. Rows are causes.")
    if entries.dtype.kind not in "buif" or not np.isin(entries, (0, 1)).all():
        raise ValueError(f"`{name}` must hold zeros and ones only. Cut weights at a threshold first.")
    edges = entries.astype(bool)
    if edges.diagonal().any() or _has_cycle(edges & ~edges.T):
        raise ValueError(f"`{name}` must have no loop and no directed cycle, got one. Check its edges.")
    return edges


def _has_cycle(directed: np.ndarray) -> bool:
    """Remove nodes without parents until none are left; what stays lies on or behind a cycle."""
    left = np.ones(len(directed), dtype=bool)
    while left.any():
        free = left & ~directed[left].any(0)
        if not free.any():
            return True
        left &= ~free
    return False


def _class_of(edges: np.ndarray) -> np.ndarray:
    """Keep what lies in a v-structure directed, undirect the rest, and follow Meek's rules to the end."""
    if (edges & edges.T).any():
        return edges
    skeleton, directed = edges | edges.T, np.zeros_like(edges)
    for child in range(len(edges)):
        parents = np.flatnonzero(edges[:, child])
        unmarried = (~skeleton[np.ix_(parents, parents)] & ~np.eye(len(parents), dtype=bool)).any(1)
        directed[parents[unmarried], child] = True
    while (found := _meek(skeleton, directed)).any():
        directed |= found
    return directed | (skeleton & ~directed.T)


def _meek(skeleton: np.ndarray, directed: np.ndarray) -> np.ndarray:
    """Return the edges that rules R1 to R3 direct next: no new v-structure and no cycle may arise."""
    open_ = skeleton & ~directed & ~directed.T
    found = np.zeros_like(open_)
    for a, b in np.argwhere(open_):
        into_a, through = directed[:, a] & ~skeleton[:, b], directed[a] & directed[:, b]  # R1, R2
        c = np.flatnonzero(open_[a] & directed[:, b])  # R3: a - c → b and a - d → b, c and d not joined
        apart = (~skeleton[np.ix_(c, c)] & ~np.eye(len(c), dtype=bool)).any()
        found[a, b] = np.delete(into_a, b).any() or through.any() or apart
    return found & ~found.T
