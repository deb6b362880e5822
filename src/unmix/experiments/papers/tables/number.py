"""How many latents? The share of tables of which the number is found, family by family.

Worlds have 3 to 20 latents in n + 2 to 4 n variables and noise of 0 to 0.3 standard deviations. Right means
exactly right; for variables that have nothing in common, and where variances fall without an end, that no
number is given. Beside the search of `unmix.choose`, whose autoencoders silence the latents they do not need
(Dai and Wipf, 2019, Theorem 5, arXiv:1903.05789), stand rules that look at eigenvalues alone, and a guess.
Settings were chosen on seeds 0 to 35 and 100 to 119, none of which is among the seeds shown.
"""

import time
from typing import Any

import numpy as np

from unmix.solvers.number import MOST, find_number

from ...engine import Cell
from ._worlds import N_LATENTS, WORLDS, drawn_size

SEARCH, TOLD, SECONDS = "held-out codes", "gives a number", "seconds"
GAP, KAISER, PARALLEL, GUESS = "largest ratio", "eigenvalues above 1", "parallel analysis", "a guess"
SAMPLES = {"smoke": 200, "laptop": 10_000, "full": 10_000}
FIRST_SEED = 1000

CELLS = tuple(
    Cell(row, family, value=value, better=better, settings={"family": family})
    for family in WORLDS
    for row, value, better in (
        *((rule, rule, "higher") for rule in (SEARCH, GAP, KAISER, PARALLEL, GUESS)),
        (SEARCH, TOLD, "higher"),
        (SEARCH, SECONDS, "lower"),
    )
)


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Draw one table, and ask every rule for the number of its latents."""
    family = cell.settings["family"]
    rng = np.random.default_rng([FIRST_SEED + seed, list(WORLDS).index(family)])
    x, n = WORLDS[family](drawn_size(SAMPLES[budget], rng), rng)
    begun = time.perf_counter()
    found = find_number(x)
    seconds = time.perf_counter() - begun
    answers = {SEARCH: found.n_latents} | by_eigenvalues(x, rng)
    right = {rule: float(answer == n) for rule, answer in answers.items()}
    return right | {TOLD: float(found.n_latents is not None), SECONDS: seconds}


def by_eigenvalues(x: np.ndarray, rng: np.random.Generator) -> dict[str, int]:
    """Return what eigenvalues of the correlations say, and a number drawn blindly."""
    values = np.linalg.eigvalsh(np.corrcoef(x, rowvar=False))[::-1]
    few = np.maximum(values[: min(MOST, len(values) - 1) + 1], 1e-9)
    shuffled = rng.permuted(x, axis=0)
    null = np.linalg.eigvalsh(np.corrcoef(shuffled, rowvar=False))[::-1]
    return {
        GAP: int(np.argmax(few[:-1] / few[1:])) + 1,
        KAISER: int((values > 1).sum()),
        PARALLEL: int((values > null).argmin()) if (values <= null).any() else len(values),
        GUESS: int(rng.integers(N_LATENTS[0], N_LATENTS[1] + 1)),
    }
