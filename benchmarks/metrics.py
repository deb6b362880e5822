"""Speed of the information and predictor metrics, as ratios measured in one run.

python benchmarks/metrics.py [--quick] [--keep]

DCI with the fast probe is set beside DCI with scikit-learn's gradient boosting, which published tables use:
the seconds of both, and how far their scores lie apart, on codes from perfect to rotated. Five metrics
together are set beside the 57 s that the nearest rival's registry took at the same size, and the information
within InfoMEC beside scikit-learn's. Ratios of DCI are of processor seconds, which depend less on what else
the machine does; everything runs on one thread. Goals are for the whole run; a quick one is too small.
"""

import numpy as np
from _table import judged, keep, parser, show, timed
from sklearn.feature_selection import mutual_info_classif

from unmix.metrics import DCI, dci, infomec, mcc, mig, sap

LEVELS = (8, 10, 2, 3, 4, 5)  # two factors of eight or more classes
SHAPES = (10, 10, 10, 8, 4, 15)  # the factors of Shapes3D
RIVAL_SECONDS = 57.0  # six metrics of identifiability-guard 0.1.0, which is not on PyPI, timed elsewhere
GOALS = {"dci ratio": 15.0, "dci distance": 0.03, "five metrics ratio": 20.0, "infomec seconds": 20.0}


def factors(n: int, levels: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    return np.column_stack([rng.integers(0, size, n) for size in levels]).astype(float)


def reference_codes(z: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Ten codes each: six that know more or less of one factor or of several, and four of noise."""
    scaled = (z - z.mean(0)) / z.std(0)
    pairs = np.eye(z.shape[1]) + 0.5 * np.roll(np.eye(z.shape[1]), 1, 0)
    rotation = np.linalg.qr(rng.normal(size=(z.shape[1], z.shape[1])))[0]
    known = {
        "perfect": scaled + 0.02 * rng.normal(size=z.shape),
        "noisy": scaled + 0.3 * rng.normal(size=z.shape),
        "pairs mixed": scaled @ pairs + 0.1 * rng.normal(size=z.shape),
        "rotated": scaled @ rotation + 0.1 * rng.normal(size=z.shape),
    }
    return {name: np.hstack([codes, rng.normal(size=(len(z), 4))]) for name, codes in known.items()}


def dci_row(name: str, z: np.ndarray, codes: np.ndarray) -> dict:
    fast, fast_seconds = timed(lambda: dci(z, codes))
    slow, slow_seconds = timed(lambda: dci(z, codes, probe="boosting"))
    return {
        "codes": name,
        "seconds": {"trees": fast_seconds, "boosting": slow_seconds},
        "ratio": slow_seconds["processor"] / fast_seconds["processor"],
        "trees": _scores(fast),
        "boosting": _scores(slow),
    }


def _scores(found: DCI) -> dict[str, float]:
    return {part: getattr(found, part) for part in ("disentanglement", "completeness", "informativeness")}


def five_metrics(rng: np.random.Generator, repeats: int) -> dict:
    """Time mcc, mig, sap, infomec and dci on 1,000 samples of five continuous factors."""
    z = rng.normal(size=(1000, 5))
    codes = z[:, rng.permutation(5)] + 0.1 * rng.normal(size=z.shape)
    metrics = (mcc, mig, sap, infomec, dci)
    runs = {m.__name__: [timed(lambda m=m: m(z, codes))[1]["wall"] for _ in range(repeats)] for m in metrics}
    seconds = {name: float(np.median(values)) for name, values in runs.items()}
    together = sum(seconds.values())
    return {
        "seconds": seconds,
        "together": together,
        "rival": RIVAL_SECONDS,
        "ratio": RIVAL_SECONDS / together,
    }


def infomec_row(n: int, rng: np.random.Generator) -> dict:
    """Time InfoMEC on 12 codes of 6 factors, and scikit-learn's estimate of the same information."""
    z = factors(n, SHAPES, rng)
    codes = np.hstack([z + 0.3 * rng.normal(size=z.shape), rng.normal(size=z.shape)])
    found, seconds = timed(lambda: infomec(z, codes))
    theirs, neighbours = timed(
        lambda: [mutual_info_classif(codes, s, n_neighbors=10, random_state=0) for s in z.T]
    )
    entropies = [np.log(len(np.unique(s))) for s in z.T]  # nearly: levels are drawn evenly
    apart = float(np.abs(found.nmi - np.array(theirs) / np.array(entropies)[:, None]).max())
    return {
        "n": n,
        "seconds": seconds,
        "scikit-learn's information alone": neighbours,
        "largest difference": apart,
    }


def measure(quick: bool) -> dict:
    rng = np.random.default_rng(0)
    n, kept = (1000, 1) if quick else (10_000, 4)
    z = factors(n, LEVELS, rng)
    codes = list(reference_codes(z, rng).items())[:kept]
    return {
        "n": n,
        "levels": LEVELS,
        "five metrics": five_metrics(rng, 1 if quick else 5),
        "infomec": infomec_row(n, rng),
        "dci": [dci_row(name, z, values) for name, values in codes],
    }


def worst(results: dict) -> dict[str, float]:
    """Return the worst figure of each kind that has a goal."""
    apart = [
        abs(row["trees"][s] - row["boosting"][s]) for row in results["dci"] for s in list(row["trees"])[:2]
    ]
    return {
        "dci ratio": min(row["ratio"] for row in results["dci"]),
        "dci distance": max(apart),
        "five metrics ratio": results["five metrics"]["ratio"],
        "infomec seconds": results["infomec"]["seconds"]["wall"],
    }


def shown(row: dict) -> tuple:
    seconds = (row["seconds"][probe]["processor"] for probe in ("trees", "boosting"))
    scores = (row[probe][part] for part in row["trees"] for probe in ("trees", "boosting"))
    return (row["codes"], *seconds, row["ratio"], *scores)


def main() -> None:
    asked = parser(__doc__)
    asked.add_argument("--quick", action="store_true", help="fewer samples and codes")
    options = asked.parse_args()
    results = measure(options.quick)
    scores = (part + probe for part in "DCI" for probe in ("", " boosting"))
    heads = ("codes", "trees, s", "boosting, s", "ratio", *scores)
    show(
        heads, map(shown, results["dci"]), title=f"n = {results['n']}, ten codes, factors of {LEVELS} levels"
    )
    show(("at n = 1,000, five factors", "s"), results["five metrics"]["seconds"].items())
    goals = judged(worst(results), GOALS, at_least=("dci ratio", "five metrics ratio"))
    if options.keep:
        keep("metrics", results | {"goals": goals})


if __name__ == "__main__":
    main()
