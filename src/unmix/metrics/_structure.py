"""Scores of recovered structures; latents carry no names, so relabelling is free."""

from unmix.structure import Structure


def structure_f1(true: Structure, estimated: Structure) -> float:
    """Score recovered edges: the harmonic mean of precision and recall after the best relabelling of latents.

    The relabelling with the fewest wrong entries is also the one with the most edges in common, hence the one
    with the best F1. Two structures without edges agree: 1.

    Parameters
    ----------
    true, estimated : Structure
        Of the same shape.

    Returns
    -------
    float

    Examples
    --------
    >>> truth = Structure([[1, 0], [1, 1]])
    >>> structure_f1(truth, truth.permute([1, 0]))
    1.0
    >>> round(structure_f1(truth, Structure([[1, 0], [0, 1]])), 3)
    0.8
    """
    wrong = true.hamming(estimated)
    edges = true.n_edges + estimated.n_edges
    return 1 - wrong / edges if edges else 1.0  # F1 = 2 TP / (|S| + |Ŝ|), and |S xor Ŝ| = |S| + |Ŝ| - 2 TP
