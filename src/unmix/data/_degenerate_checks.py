"""What `degenerate_mixture` asks of its arguments."""

from typing import Any

import numpy as np

from ._checks import at_least, one_of
from ._component_masks import active_count
from ._gaussian_scm import NOISES
from ._layered_mixing import ACTIVATIONS

CHOICES = {
    "profile": ("paper", "hard", "linear"),
    "components": ("masked", "equal", "two bases", "full"),
    "scm_noise": tuple(NOISES),
    "activation": ACTIVATIONS,
}
LEAST = {"n_samples": 2, "n_latents": 2, "graph_degree": 0}


def check_mixture(given: dict[str, Any]) -> None:
    """Check the arguments by name, before anything is drawn."""
    counts = LEAST if given["n_layers"] is None else LEAST | {"n_layers": 1}
    at_least(**{name: (given[name], least) for name, least in counts.items()})
    one_of(**{name: (given[name], choices) for name, choices in CHOICES.items()})
    for name in ("delta", "theta", "noise"):
        if not np.isfinite(given[name]) or (name == "noise" and given[name] < 0):
            raise ValueError(f"`{name}` must be a finite number, noise at least 0, got {given[name]!r}.")
    _check_graph(given["n_latents"], given["graph_degree"])
    _check_masks(given["n_latents"], given["mask_size"], given["blocks"])


def _check_graph(n: int, degree: int) -> None:
    if degree * n > n * (n - 1) // 2:
        raise ValueError(
            f"`graph_degree` must be at most (n_latents - 1) / 2 = {(n - 1) / 2:g}, got {degree}. "
            "Use more latents or fewer edges."
        )


def _check_masks(n: int, mask_size: Any, blocks: Any) -> None:
    if blocks is not None and (sum(blocks) != n or min(blocks) < 1 or len(blocks) < 2):
        raise ValueError(f"`blocks` must be at least two sizes that add up to n_latents={n}, got {blocks!r}.")
    share = isinstance(mask_size, float | np.floating)
    if blocks is not None and not share:
        raise ValueError(f"`mask_size` must be a share between 0 and 1 with blocks, got {mask_size!r}.")
    allowed = 0 < mask_size < 1 if share else 1 <= active_count(mask_size, n) < n
    if not allowed:
        raise ValueError(
            f"`mask_size` must be a share between 0 and 1 or a count from 1 to {n - 1}, got {mask_size!r}."
        )
