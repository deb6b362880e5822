"""Two to eight domains, four graphs of four latents and eight observed variables (CG-VAE).

Li et al. (2025), arXiv:2503.00639, the synthetic study: how many domains are needed, with and without sparse
mixing. Classical theory asks for nine domains; a graph without nested children for one change. No published
number is known to us (the only ones, FID of images, are of a generative adversarial network).
"""

from ...engine import Cell
from ._common import cells, own, run

__all__ = ["CELLS", "run", "with_method"]

WORLDS = tuple({"graph": graph, "n_domains": n} for graph in "ABCD" for n in (2, 4, 8))
CELLS = cells(WORLDS)


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return own(method, WORLDS)
