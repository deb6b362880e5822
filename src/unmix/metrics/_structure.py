"""Scores of recovered structures; latents carry no names, so relabelling is free."""

from dataclasses import dataclass

from unmix.structure import Structure


@dataclass(frozen=True)
class StructureRecovery:
    """Edges found, after the relabelling of latents with the fewest wrong entries.

    Attributes
    ----------
    precision : float
        Share of the estimated edges that are true; 1 when none were estimated.
    recall : float
        Share of the true edges that were found; 1 when there are none.
    f1 : float
        2 TP / (|S| + |Ŝ|), as `structure_f1`; 1 when both structures are empty.
    hamming : int
        Entries that differ.
    exact : bool
        Whether none do.
    order : tuple of int
        Latent `order[j]` of the estimate plays the part of latent j.
    """

    precision: float
    recall: float
    f1: float
    hamming: int
    exact: bool
    order: tuple[int, ...]


def structure_recovery(true: Structure, estimated: Structure) -> StructureRecovery:
    """Compare a recovered structure with the truth, up to the names of latents.

    Parameters
    ----------
    true, estimated : Structure
        Of the same shape.

    Returns
    -------
    StructureRecovery

    Examples
    --------
    >>> truth = Structure([[1, 0], [1, 1]])
    >>> found = structure_recovery(truth, Structure([[0, 1], [1, 0]]))
    >>> found.precision, round(found.recall, 3), found.hamming, found.exact, found.order
    (1.0, 0.667, 1, False, (1, 0))
    """
    match = true.match(estimated)
    common = (true & estimated.permute(match.order)).n_edges
    return StructureRecovery(
        precision=common / estimated.n_edges if estimated.n_edges else 1.0,
        recall=common / true.n_edges if true.n_edges else 1.0,
        f1=structure_f1(true, estimated),
        hamming=match.distance,
        exact=match.distance == 0,
        order=match.order,
    )


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
