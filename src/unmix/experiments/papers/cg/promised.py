"""As many domains as the certificate asks for, and no more: which latents are found.

After Li et al. (2025), arXiv:2503.00639: the smallest number of domains for each graph, with as many observed
variables as latents and with twice as many. A latent is found if codes of fresh samples correlate with it by
more than 0.95 within domains; the share is of those that `certify_domains` promises. "Any changes" takes
sources as they come, where variances of two latents may change in nearly the same proportion. No published
number is known to us.
"""

from typing import Any

import numpy as np

from unmix.metrics import match_components
from unmix.theory import certify_domains

from ...engine import RAW, ROTATION, Cell
from .._grid import grid
from ._common import BOTH, POOLED, WITHIN, codes, draw, make, scores
from ._common import run as run_others

FOUND, PROMISED, EXACT = 0.95, "share of promised latents found", "share of exact graphs"
OBSERVED = {4: "square", 8: "tall"}  # of four latents


def _worlds(graph: str, n_domains: int, label: str = "", **changes: Any) -> dict[str, dict[str, Any]]:
    return {
        f"{graph}, 4 in {n}, {n_domains} domains{label}": {
            **{"graph": graph, "n_domains": n_domains, "profile": profile},
            **changes,
        }
        for n, profile in OBSERVED.items()
    }


WORLDS: dict[str, dict[str, Any]] = {
    **_worlds("A", 2),
    **_worlds("B", 2),
    **_worlds("C", 3),
    **_worlds("D", 9),
    "A, 8 in 8, 3 domains": {"graph": "A", "n_domains": 3, "n_latents": 8, "profile": "square"},
    **_worlds("A", 2, ", any changes", separated=False),
    **_worlds("B", 2, ", any changes", separated=False),
}
SCORES = (WITHIN, POOLED)

CELLS = (
    *grid(BOTH, WORLDS.items(), *SCORES, PROMISED, EXACT),
    *grid(RAW, WORLDS.items(), *SCORES),
    *grid(ROTATION, WORLDS.items(), *SCORES),
)


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return grid(method, WORLDS.items(), *SCORES)


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Fit, match codes of fresh samples to latents, and count what was promised and found."""
    if cell.settings["method"] != BOTH:
        return run_others(cell, seed, budget)
    data, fresh = draw(cell, seed, budget)
    model = make(BOTH, data, seed, budget)
    code = codes(model, data, fresh)
    matched = np.asarray(match_components(fresh.z, code, within=fresh.u).matched)
    levels = certify_domains(data.mixing.structure, cell.settings["world"]["n_domains"]).levels
    promised = [level == "component" for level in levels]
    return scores(fresh, code) | {
        PROMISED: float(np.mean(matched[promised] > FOUND)),
        EXACT: float(data.mixing.structure.hamming(model.structure_) == 0),
    }
