"""Dependency structures: which latent variable moves which observed variable, as a value with a set algebra.

`Structure` is what generators know, what estimators recover from a decoder's Jacobian, and what certificates
are about. Named and random structures live beside it.
"""

from ._matching import Match
from ._named import (
    anchor,
    complement_identity,
    dense,
    diverse,
    random_structure,
    ring,
    triangular,
    triangular_edges,
)
from ._structure import Structure

__all__ = [
    "Structure",
    "Match",
    "diverse",
    "dense",
    "ring",
    "anchor",
    "triangular",
    "triangular_edges",
    "complement_identity",
    "random_structure",
]
