"""As many observed variables as latents, and what changes between domains (CG-VAE).

Li et al. (2025), arXiv:2503.00639, whose theory has as many observed variables as latents. Changes of means
alone, or of variances alone, do not meet the second-order condition of its Theorem 2. No published number is
known to us.
"""

from typing import Any

from ...engine import Cell
from ._common import cells, own, run

__all__ = ["CELLS", "run", "with_method"]

CHANGES: tuple[dict[str, Any], ...] = ({"changes": "means"}, {"changes": "variances"}, {"latents": "laplace"})
WORLDS = tuple(
    {"graph": "A", "n_domains": n, "profile": "square", **change}
    for n, change in ((2, {}), (4, {}), (8, {}), *((4, change) for change in CHANGES))
)
CELLS = cells(WORLDS)


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return own(method, WORLDS)
