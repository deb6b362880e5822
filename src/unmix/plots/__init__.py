"""Pictures of results: every function draws on a matplotlib Axes and returns it.

Numbers come in, nothing is computed that a metric or a certificate should compute, and no global setting
is touched. Colours are half transparent over the background, so that the same picture reads well on light
and on dark paper.
"""

from ._atoms import atoms
from ._causal_graph import causal_graph
from ._history import history
from ._image_grids import image_jacobian, image_reconstructions, image_swaps, image_traversals
from ._latent_number import latent_number
from ._matrices import correlation, structure
from ._mixture import activity, components
from ._reliability import reliability
from ._traversal import traversal

__all__ = [
    "structure",
    "correlation",
    "history",
    "latent_number",
    "atoms",
    "traversal",
    "activity",
    "components",
    "causal_graph",
    "reliability",
    "image_reconstructions",
    "image_traversals",
    "image_swaps",
    "image_jacobian",
]
