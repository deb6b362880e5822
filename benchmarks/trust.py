"""What a verdict costs: `unmix.trust` at each effort against the fit that it judges.

What Gaussian surrogates score is counted, which commands show beside the evidence.
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
ROWS = (500, 1500, 2000, 3000)  # few rows go in small batches
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


def sparse(n_rows: int, n_columns: int = 8) -> Case:
    """Return diverse dictionary learning and four latents."""
    data = sparse_mixing(n_rows, n_latents=4, n_observed=n_columns, random_state=0)
    return unmix.DiverseDictionaryLearning(4, random_state=0), data.x, None


def skewed(n_rows: int) -> Case:
    """Return diverse dictionary learning and columns that are exponentials of mixtures of four latents."""
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(4, 12)) * (rng.random((4, 12)) < 0.5)
    x = rng.normal(size=(n_rows, 4)) @ mixing + 0.05 * rng.normal(size=(n_rows, 12))
    return unmix.DiverseDictionaryLearning(4, random_state=0), np.exp(x / x.std(0)), None


def domains() -> Case:
    """Return CG-VAE and labelled rows."""
    data = multi_domain(2000, random_state=0)
    return unmix.CGVAE(data.z.shape[1], random_state=0), data.x, data.u


def auxiliary() -> Case:
    """Return iVAE and labelled rows."""
    data = multi_domain(2000, random_state=0)
    return unmix.IVAE(data.z.shape[1], random_state=0), data.x, data.u


def labelled() -> Case:
    """Return a labelled sparse autoencoder and the components of three latents."""
    data = degenerate_mixture(700, n_latents=3, mask_size=1, n_layers=2, random_state=0)
    return unmix.LabelledSparseAutoencoder(3, random_state=0), data.x, np.asarray(data.labels)


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
        "DiverseDictionaryLearning, square": partial(sparse, 2000, 4),
        "DiverseDictionaryLearning, skewed": partial(skewed, 2000),
        "CGVAE": domains,
        "IVAE": auxiliary,
        "PDGMM": mixture,
        "LabelledSparseAutoencoder": labelled,
        "SlotAutoencoder": parts,
    }
    found |= {f"DiverseDictionaryLearning, {rows}": partial(sparse, rows) for rows in ROWS}
    found |= {f"FastICA, {r} x {d}, {n}": partial(independent, r, d, n) for (r, d), n in SIZES.items()}
    return found | {f"SparseBasis, {r} x {n + 2}, {n}": partial(resting, r, n) for r, n in RESTING}


def measure(model: Any, x: Any, labels: Any) -> dict[str, float]:
    """Return the seconds of the fit and of each effort."""
    fit = partial(model.fit, x, *(() if labels is None else (labels,)))
    works = {"fit": fit} | {
        effort: lambda effort=effort: (
            unmix.trust(  # type: ignore[misc]
                model, x, domains=labels, effort=effort, verbose=False
            ).surrogate
        )
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
