"""What one region of latents says about another (Figure 4): R² of truth from estimates, region by region.

Zheng et al. (2026), arXiv:2604.17568, Figure 4 and Definition 5. Two groups of observed variables A and B,
with latents I_A and I_B; the intersection is predicted from the symmetric difference, the other way round,
each difference from the other, and for reference all latents from all codes. Lower is better but for the
last. The paper's numbers were read off a bar chart, and it does not name its regression: here ridge
regression with a Gaussian kernel. Groups are the largest for which no region is empty.
"""

from itertools import product
from typing import Any

import numpy as np

from unmix.metrics import match_components, r2
from unmix.structure import Structure

from ...engine import RAW, ROTATION, Cell
from ._common import DEFAULT, PUBLISHED, codes, draw

SOURCE = "arXiv:2604.17568, Figure 4, read off the chart"
SIZES = (3, 4, 5)
SCORES = ("intersection", "symmetric difference", "A without B", "B without A", "all")
PAPER = {
    3: (0.25, 0.05, 0.08, 0.15, 0.75),
    4: (0.25, 0.05, 0.02, 0.20, 0.70),
    5: (0.05, 0.10, 0.10, 0.25, 0.60),
}


def _cells(method, *, row="", paper=True):
    return tuple(
        Cell(
            row or method,
            f"n = {n}",
            paper=PAPER[n][k] if paper else None,
            source=SOURCE if paper else "",
            value=f"R² {score}",
            better="higher" if score == "all" else "lower",
            precision=0.05,
            settings={"method": method, "n": n},
        )
        for n in SIZES
        for k, score in enumerate(SCORES)
    )


CELLS = (
    *_cells(PUBLISHED),
    *_cells(DEFAULT),
    *_cells(RAW, paper=False),
    *_cells(ROTATION, paper=False),
)


def with_method(method: str) -> tuple[Cell, ...]:
    """Return the cells of a user's method."""
    return _cells(method, row=method.partition(":")[2], paper=False)


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Fit, match codes to latents, and predict region from region."""
    data = draw(cell.settings, seed, budget)
    estimates = codes(cell.settings, data, seed, budget)
    estimates = estimates[:, list(match_components(data.z, estimates).order)]
    n_fit = 200 if budget == "smoke" else 2000
    every = range(data.z.shape[1])
    pairs = (*_regions(data.mixing.structure), (every, every))
    scores = (_predicted(data.z, estimates, target, given, n_fit) for target, given in pairs)
    return {f"R² {name}": score for name, score in zip(SCORES, scores, strict=True)}


def _predicted(z, z_hat, targets, predictors, n_fit):
    if not len(targets) or not len(predictors):
        return None
    return r2(z[:, list(targets)], z_hat[:, list(predictors)], probe="kernel", n_fit=n_fit)


def _regions(structure: Structure):
    """Return (targets, predictors) of Definition 5's cases, for the largest groups with all regions."""
    a, b = max(_groups(structure), key=lambda pair: _size(structure, *pair))
    in_a, in_b = structure.support[a].any(0), structure.support[b].any(0)
    both, one = np.flatnonzero(in_a & in_b), np.flatnonzero(in_a ^ in_b)
    only_a, only_b = np.flatnonzero(in_a & ~in_b), np.flatnonzero(in_b & ~in_a)
    return (both, one), (one, both), (only_a, only_b), (only_b, only_a)


def _groups(structure: Structure):
    for choice in product((0, 1, 2), repeat=structure.n_observed):
        chosen = np.array(choice)
        if (chosen == 1).any() and (chosen == 2).any():
            yield np.flatnonzero(chosen == 1), np.flatnonzero(chosen == 2)


def _size(structure: Structure, a, b):
    """Rank groups: first how many regions have latents, then how many variables they hold."""
    in_a, in_b = structure.support[a].any(0), structure.support[b].any(0)
    return sum(map(np.any, (in_a & in_b, in_a & ~in_b, in_b & ~in_a))), len(a) + len(b)
