"""What a verdict costs: `unmix.trust` at each effort against the fit that it judges.

Processor seconds of one thread, in one process, after a first round that does not count: the median of
several rounds where a fit takes less than a second, and one round otherwise. Goals: at most the time of the
fit again at effort quick, and three times that at full.
"""

import json
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from _table import RESULTS, judged, keep, parser, show, timed

import unmix
from unmix.data import degenerate_mixture, multi_domain, slots, sparse_mixing

EFFORTS = ("none", "quick", "full")
GOALS = {"quick": 1.0, "full": 3.0}
LONG, ROUNDS = 1.0, 5
SIZES = {(500, 4): 4, (2000, 10): 10, (3000, 20): 20, (2000, 30): 6, (5000, 300): 10, (8000, 50): 50}
RESTING = ((1000, 3), (2000, 6), (3000, 10))
Case = tuple[Any, Any, Any]


def independent(n_rows: int, n_columns: int, n: int) -> Case:
    """Return FastICA and latents with heavy tails, in as many variables or in more with noise."""
    rng = np.random.default_rng(0)
    x = rng.laplace(size=(n_rows, n)) @ rng.normal(size=(n, n_columns))
    return unmix.FastICA(n, random_state=0), x + 0.05 * (n < n_columns) * rng.normal(size=x.shape), None


def resting(n_rows: int, n: int) -> Case:
    """Return SparseBasis and latents that rest half of the time, in two variables more with noise."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(n_rows, n)) * (rng.random((n_rows, n)) < 0.5)
    x = z @ rng.normal(size=(n, n + 2)) + 0.02 * rng.normal(size=(n_rows, n + 2))
    return unmix.SparseBasis(n, random_state=0), x, None


def sparse() -> Case:
    """Return diverse dictionary learning and four latents."""
    data = sparse_mixing(3000, n_latents=4, random_state=0)
    return unmix.DiverseDictionaryLearning(4, random_state=0), data.x, None


def domains() -> Case:
    """Return CG-VAE and labelled rows."""
    data = multi_domain(2000, random_state=0)
    return unmix.CGVAE(data.z.shape[1], random_state=0), data.x, data.u


def mixture() -> Case:
    """Return PDGMM and three latents."""
    return unmix.PDGMM(3, random_state=0), degenerate_mixture(700, n_latents=3, random_state=0).x, None


def parts() -> Case:
    """Return slots."""
    data = slots(1500, random_state=0)
    return unmix.SlotAutoencoder(data.z.shape[1], random_state=0), data.x, None


def cases() -> dict[str, Callable[[], Case]]:
    """Return how to make a model, its data and their domains, for each kind of argument."""
    found: dict[str, Callable[[], Case]] = {
        "DiverseDictionaryLearning": sparse,
        "CGVAE": domains,
        "PDGMM": mixture,
        "SlotAutoencoder": parts,
    }
    found |= {f"FastICA, {r} x {d}, {n}": partial(independent, r, d, n) for (r, d), n in SIZES.items()}
    return found | {f"SparseBasis, {r} x {n + 2}, {n}": partial(resting, r, n) for r, n in RESTING}


def measure(model: Any, x: Any, labels: Any) -> dict[str, float]:
    """Return the seconds of the fit and of each effort."""
    fit = partial(model.fit, x, *(() if labels is None else (labels,)))
    works = {"fit": fit} | {
        effort: partial(unmix.trust, model, x, domains=labels, effort=effort, verbose=False)
        for effort in EFFORTS
    }
    first = {name: _seconds(work) for name, work in works.items()}
    if first["fit"] > LONG:
        return first
    rounds = [{name: _seconds(work) for name, work in works.items()} for _ in range(ROUNDS)]
    return {name: float(np.median([each[name] for each in rounds])) for name in works}


def _seconds(work: Callable[[], Any]) -> float:
    return timed(work)[1]["processor"]


def main() -> None:
    """Measure, show and keep; of what was not asked for, what is known stays."""
    asked = parser(__doc__ or "")
    asked.add_argument("names", nargs="*", help="estimators to measure, by how they begin; default: all")
    given = asked.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    path = RESULTS / "trust.json"
    known = json.loads(path.read_text())["seconds"] if given.names and path.exists() else {}
    chosen = [name for name in cases() if not given.names or name.startswith(tuple(given.names))]
    rows = known | {name: measure(*cases()[name]()) for name in chosen}
    show(["estimator", "fit, s", *EFFORTS], [[name, *row.values()] for name, row in rows.items()])
    worst = {effort: max(row[effort] / row["fit"] for row in rows.values()) for effort in GOALS}
    verdicts = judged(worst, GOALS)
    if given.keep:
        keep("trust", {"seconds": rows, "verdicts": verdicts})


if __name__ == "__main__":
    main()
