"""Searches that need no training loop: tensors in, tensors out.

`coordinates` finds sparse linear coordinates of a code, `sparse_rows` affine ones in which latents rest,
`slots` and `domains` those that slots and changes ask for, `ica` independent ones.
"""

from ._causal_graph import causal_graph

__all__ = [
    "causal_graph",
]
