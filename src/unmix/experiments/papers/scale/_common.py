"""What the tables share: sizes, and the seconds of a fit beside its score."""

import time
from collections.abc import Callable
from typing import Any

SHRINK = {"smoke": 10, "laptop": 1, "full": 1}
SECONDS: dict[str, Any] = {"value": "seconds", "better": "lower"}


def size(n: int, budget: str) -> int:
    """Return a number of latents or slots, a tenth of it at the smallest budget."""
    return max(2, n // SHRINK[budget])


def timed(scores: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Add the seconds that it took to reach scores, fit and all."""
    start = time.perf_counter()
    found = scores()
    return found | {"seconds": time.perf_counter() - start}
