"""Speed and memory of FastICA against its peers, as ratios measured in one run.

python benchmarks/ica.py [--shape 200000x64] [--device cuda] [--repeats 3] [--memory 1000000x256] [--keep]

Laplace sources, mixed by a random matrix, given to everybody as the same double-precision array. All run to
the same gradient, which is measured here afterwards, in double precision, by one function for everybody: the
largest entry of the skew part of diag(s) E[tanh(y) y^T]. scikit-learn has no such rule, so its tolerance is
lowered until the gradient is small enough, only that last fit is timed, and the gradient it happened to reach
is what the others have to reach; python-picard takes part where it is installed. Contestants take turns, and
a ratio is the median over turns. With `--memory` a single-precision file of that shape is written in pieces,
fitted from its path in a process of its own, and deleted.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from _table import judged, keep, parser, show
from numpy.lib.format import open_memmap
from sklearn.decomposition import FastICA as ScikitFastICA

from unmix import FastICA

GRADIENT = 1e-5
TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-8, 1e-10, 1e-12)
GOALS = {
    "cpu": {"scikit-learn": 3.0, "python-picard": 1.0},
    "cuda": {"scikit-learn": 50.0, "seconds": 5.0},
    "memory": {"gigabytes": 1.5},
}
CHILD = """
import json, re, sys, time
from pathlib import Path
import torch
from unmix import FastICA
def kilobytes(name):
    return int(re.search(name + r":\\s+(\\d+)", Path("/proc/self/status").read_text()).group(1))
torch.zeros(256, 256) @ torch.zeros(256, 256)
before = kilobytes("VmRSS")
start = time.perf_counter()
model = FastICA(tol=1e-5, device=sys.argv[2], random_state=0).fit(sys.argv[1])
after = kilobytes("VmHWM")  # the peak of this process alone
print(json.dumps({
    "seconds": time.perf_counter() - start, "gigabytes": (after - before) / 2**20, "imports": before / 2**20,
    "passes": model.n_iter_, "settled": int(model.converged_.sum()), "reliability": model.reliability_.min(),
}))
"""

Fit = Callable[[], np.ndarray]


def laplace(n_samples: int, n_features: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.laplace(size=(n_samples, n_features)) @ rng.normal(size=(n_features, n_features))


def gradient(x: np.ndarray, components: np.ndarray) -> float:
    """Return the largest entry of skew(diag(s) E[tanh(y) y^T]) for components scaled to unit variance."""
    weights = components / ((x - x.mean(0)) @ components.T).std(0)[:, None]
    cross, slope = 0.0, 0.0
    for rows in np.array_split(x - x.mean(0), max(1, x.size // 10**7)):
        y = rows @ weights.T
        g = np.tanh(y)
        cross, slope = cross + g.T @ y / len(x), slope + (1 - g**2).sum(0) / len(x)
    signed = np.where(slope - np.diag(cross) < 0, -1.0, 1.0)[:, None] * cross
    return float(np.abs(signed - signed.T).max() / 2)


def ours(x: np.ndarray, device: str, tol: float, **settings: object) -> Fit:
    return lambda: FastICA(tol=tol, device=device, random_state=0, **settings).fit(x).components_


def scikit(x: np.ndarray, report: dict) -> tuple[Fit, float]:
    """Return the scikit-learn fit with the largest of a few tolerances that suffices, and its gradient."""

    def fit(tol: float) -> ScikitFastICA:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a fit that stops at max_iter shows in its gradient
            return ScikitFastICA(whiten="unit-variance", tol=tol, max_iter=500, random_state=0).fit(x)

    for tol in TOLERANCES:
        reached = gradient(x, fit(tol).components_)
        if reached <= GRADIENT:
            break

    def last() -> np.ndarray:
        model = fit(tol)
        report["scikit-learn"] = {"tol": tol, "iterations": model.n_iter_}
        return model.components_

    return last, reached


def picard_fit(x: np.ndarray, tol: float) -> Fit:
    from picard import picard

    def fit() -> np.ndarray:
        whitening, rotation, _ = picard(x.T, ortho=True, tol=tol, max_iter=500, random_state=0)
        return rotation @ whitening

    return fit


def timed(fits: dict[str, Fit], repeats: int) -> tuple[dict[str, list[float]], dict[str, np.ndarray]]:
    """Time each fit, the fits taking turns."""
    seconds: dict[str, list[float]] = {name: [] for name in fits}
    found = {}
    for _ in range(repeats):
        for name, fit in fits.items():
            start = time.perf_counter()
            found[name] = fit()
            seconds[name].append(time.perf_counter() - start)
    return seconds, found


def race(shape: tuple[int, int], device: str, repeats: int) -> dict:
    x = laplace(*shape)
    report: dict = {}
    ours(x[: 20 * shape[1]], device, GRADIENT)()  # warm up: libraries load and devices wake on first use
    peer, reached = scikit(x, report)
    tol = min(GRADIENT, reached)
    fits = {"unmix": ours(x, device, tol), "unmix, parallel": ours(x, device, tol, algorithm="parallel")}
    fits["scikit-learn"] = peer
    try:
        fits["python-picard"] = picard_fit(x, tol)
    except ImportError:
        report["python-picard"] = "not installed"
    seconds, found = timed(fits, repeats)
    peers = [name for name in fits if not name.startswith("unmix")]
    ratios = {p: float(np.median(np.divide(seconds[p], seconds["unmix"]))) for p in peers}
    return {
        "shape": list(shape),
        "kind": device,
        "repeats": repeats,
        "seconds": {name: float(np.median(values)) for name, values in seconds.items()},
        "gradient": {name: gradient(x, components) for name, components in found.items()},
        "times_faster_than": ratios,
        "notes": report,
    }


def memory(shape: tuple[int, int], device: str) -> dict:
    """Fit from a file in a process of its own, and return its peak memory beyond what imports take."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.npy"
        write_in_pieces(path, shape)
        command = [sys.executable, "-c", CHILD, str(path), device]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ.copy())
    return {"shape": list(shape), "kind": device, **json.loads(done.stdout)}


def write_in_pieces(path: Path, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    file = open_memmap(path, mode="w+", dtype=np.float32, shape=shape)
    mixing = rng.normal(size=(shape[1], shape[1])).astype(np.float32)
    for rows in np.array_split(np.arange(shape[0]), max(1, shape[0] // 20_000)):
        file[rows[0] : rows[-1] + 1] = rng.laplace(size=(len(rows), shape[1])).astype(np.float32) @ mixing
    file.flush()


def raced(race: dict) -> dict[str, float]:
    """Return how many times faster than its peers ours was, and its seconds, as far as there are goals."""
    measured = race["times_faster_than"] | {"seconds": race["seconds"]["unmix"]}
    return {name: value for name, value in measured.items() if name in GOALS[race["kind"]]}


def draw(race: dict) -> None:
    times = {
        name: race["times_faster_than"].get(name, s / race["seconds"]["unmix"])
        for name, s in race["seconds"].items()
    }
    rows = ((name, seconds, race["gradient"][name], times[name]) for name, seconds in race["seconds"].items())
    show(
        ("", "seconds", "gradient", "times as long"), rows, title=f"Laplace, {race['shape']}, {race['notes']}"
    )


def shape_of(text: str) -> tuple[int, int]:
    rows, columns = text.split("x")
    return int(rows), int(columns)


def main() -> None:
    asked = parser(__doc__)
    asked.add_argument("--shape", type=shape_of, default=(200_000, 64), help="rows x columns of the race")
    asked.add_argument("--device", default="cpu", help="cpu or cuda, for ours")
    asked.add_argument("--repeats", type=int, default=3)
    asked.add_argument("--memory", type=shape_of, help="measure memory at this shape instead of the race")
    options = asked.parse_args()
    if options.memory:
        name, found = "memory", memory(options.memory, options.device)
        show(found, [found.values()])
        measured = {"gigabytes": found["gigabytes"]}
    else:
        name, found = options.device, race(options.shape, options.device, options.repeats)
        draw(found)
        measured = raced(found)
    goals = judged(measured, GOALS[name], at_least=("scikit-learn", "python-picard"))
    if options.keep:
        keep(f"ica_{name}", {"memory" if options.memory else "race": found, "goals": goals})


if __name__ == "__main__":
    main()
