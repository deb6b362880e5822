"""Searches: tensors in, tensors out; all but `number` need no training loop.

`coordinates` finds sparse linear coordinates of a code, `sparse_rows` affine ones in which latents rest,
`slots` and `domains` those that slots and changes ask for, `ica` independent ones; `number` says how many
latents a table has.
"""

from ._causal_graph import causal_graph

__all__ = [
    "causal_graph",
]
