"""Threads by the work: fits with torch's own number of threads against one, alone and beside busy processes.

python benchmarks/threads.py [--quick] [--keep]

The goal is a ratio: no fit is slower with torch's own number than with one thread, up to the noise of the
clock (1.15), neither alone nor beside three processes that only count.
"""

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np
from _table import judged, keep, parser, show

GOAL, BUSY = 1.15, 3
LIMIT = 600  # seconds of a fit
COUNTING = "import os; parent = os.getppid()\nwhile os.getppid() == parent: pass"  # ends with this process


def dictionary(rng: np.random.Generator):
    import unmix

    return unmix.DiverseDictionaryLearning(5, max_iter=4, random_state=0, device="cpu"), rng.laplace(
        size=(10_000, 10)
    )


def domains(rng: np.random.Generator):
    import unmix

    return unmix.CGVAE(3, max_iter=4, random_state=0, device="cpu"), rng.laplace(size=(2_000, 6))


def images(rng: np.random.Generator):
    import unmix
    from unmix.nn import strided_decoder, strided_encoder

    networks = {"encoder": strided_encoder, "decoder": strided_decoder}
    model = unmix.Autoencoder(10, batch_size=128, max_steps=8, random_state=0, device="cpu", **networks)
    return model, rng.integers(0, 256, (512, 64, 64, 3), dtype=np.uint8)


def components(rng: np.random.Generator):
    import unmix

    x = rng.laplace(size=(60_000, 200)).astype(np.float32)
    return unmix.FastICA(random_state=0, device="cpu", max_iter=20, tol=1e-3), x


def features(rng: np.random.Generator):
    import unmix

    x = rng.laplace(size=(16_384, 256)).astype(np.float32)
    return unmix.SparseAutoencoder(4096, max_iter=1, random_state=0, device="cpu"), x


WORK = {each.__name__: each for each in (dictionary, domains, images, components, features)}


def worker(name: str) -> None:
    """Fit once, and print the seconds by the clock."""
    model, x = WORK[name](np.random.default_rng(0))
    given = {"domains": np.arange(len(x)) % 3} if name == "domains" else {}
    start = time.perf_counter()
    model.fit(x, **given)
    print(json.dumps(time.perf_counter() - start))


def seconds(name: str, n_threads: int | None) -> float:
    """Time a fit in a fresh process; None leaves threads to torch. What does not end counts as the limit."""
    free = {key: value for key, value in os.environ.items() if not key.endswith("_NUM_THREADS")}
    chosen = {} if n_threads is None else {"OMP_NUM_THREADS": str(n_threads)}
    line = [sys.executable, "-W", "ignore", __file__, "--worker", name]
    try:
        found = subprocess.run(line, env=free | chosen, capture_output=True, timeout=LIMIT, check=True)
    except subprocess.TimeoutExpired:
        return float(LIMIT)
    return json.loads(found.stdout)


@contextmanager
def beside(n_busy: int):
    """Let processes count meanwhile."""
    counting = [subprocess.Popen([sys.executable, "-c", COUNTING]) for _ in range(n_busy)]
    try:
        yield
    finally:
        for process in counting:
            process.kill()
            process.wait()


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--quick", action="store_true", help="one repeat")
    made.add_argument("--worker", choices=list(WORK), help="for the processes that this starts")
    made.add_argument("--only", choices=list(WORK), nargs="+", default=list(WORK), help="some of the fits")
    options = made.parse_args()
    if options.worker:
        return worker(options.worker)
    runs = []
    for name in options.only:
        for n_busy in (0, BUSY):
            with beside(n_busy):
                pairs = [(seconds(name, 1), seconds(name, None)) for _ in range(1 if options.quick else 3)]
            one, own = (float(np.median(times)) for times in zip(*pairs, strict=True))
            ratio = float(
                np.median([second / first for first, second in pairs])
            )  # the load changes meanwhile
            run = {"fit": name, "busy": n_busy, "one thread": one, "torch's own": own, "ratio": ratio}
            runs.append(run | {"load": os.getloadavg()[0]})
            print(json.dumps(runs[-1]), flush=True)
    show(runs[0], (run.values() for run in runs))
    worst = max(run["ratio"] for run in runs)
    verdict = judged({"slowest ratio": worst}, {"slowest ratio": GOAL})
    if options.keep:
        keep("threads", {"runs": runs, "verdict": verdict})


if __name__ == "__main__":
    main()
