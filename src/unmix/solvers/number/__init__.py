"""How many latents a table has: held-out code lengths of bottlenecks, linear and bent, and where they end."""

from ._bottleneck import Bottleneck, bottleneck
from ._factors import Factors, factors
from ._number import RESOLUTION, Number, Trial
from ._search import MOST, find_number

__all__ = [
    "Bottleneck",
    "bottleneck",
    "Factors",
    "factors",
    "find_number",
    "MOST",
    "Number",
    "RESOLUTION",
    "Trial",
]
