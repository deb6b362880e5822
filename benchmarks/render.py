"""Seconds to render the images of each twin, and how many of them are different.

python benchmarks/render.py [--device cuda] [--size 64] [--quick] [--keep]

On a GPU all images of a twin are drawn into its memory as bytes, the first time with the geometries that
they need, but only every tenth arm; each is then reduced to 64 bits, and equal ones are counted. On a CPU
all images of Shapes3D are drawn, a chunk at a time in memory, and 200 of each other twin; of arms, 200 in all
of their twelve colours, as in the whole set, and 200 at random, of which hardly two are alike. `all` is the
time that all would take if they were asked for in that way.
"""

import os
import time

import numpy as np
import torch
from _table import judged, keep, parser, show

from unmix.data import cars3d, dsprites, mpi3d, shapes3d

GOALS = {"cpu": {"seconds, all of shapes3d": 180.0}, "cuda": {"seconds, all of shapes3d": 1.0}}
_CHUNK = 8_000
_FEW = 200  # images of the sets of which not all are drawn on a CPU


def clock(device: str) -> float:
    """Return the time at which everything that was asked for is done."""
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def different(images: torch.Tensor, generator: torch.Generator) -> int:
    """Count different images, by a random sum of their bytes that wraps around in 64 bits."""
    words = images.flatten(1).view(torch.int64)
    weights = torch.randint(-(2**62), 2**62, words.shape[1:], generator=generator, device=words.device)
    sums = torch.cat([(part * (2 * weights + 1)).sum(1) for part in words.split(_CHUNK)])
    return len(torch.unique(sums))


def on_gpu(twin, size: int, quick: bool) -> dict[str, object]:
    data = twin(size=size)
    rows = slice(None, None, 1000 if quick else 10 if twin is mpi3d and size > 16 else 1)
    torch.zeros(1, device="cuda")
    times = []
    for _ in range(2):
        images = None  # the first ones leave before the second come
        start = clock("cuda")
        images = data.images.rendered(rows, "cuda")
        times.append(clock("cuda") - start)
    found = different(images, torch.Generator("cuda").manual_seed(0))
    share = len(images) / len(data)
    return {
        "images": len(images),
        "seconds": times[0],
        "again": times[1],
        "all": times[0] / share,
        "different": found,
    }


def coloured_arms(factors: np.ndarray) -> np.ndarray:
    """Return the rows of a few arms in all of their colours."""
    columns = [0, 4]  # of the object and the background
    first = np.flatnonzero((factors[:, columns] == 0).all(1))
    few = factors[np.random.default_rng(0).choice(first, _FEW, replace=False)]
    colours = np.array([(a, b) for a in range(4) for b in range(3)])
    levels = np.repeat(few[None], len(colours), axis=0)
    levels[:, :, columns] = colours[:, None]
    return np.ravel_multi_index(levels.reshape(-1, 7).T, (4, 4, 2, 3, 3, 40, 40))


def on_cpu(twin, size: int, quick: bool, alike: bool = False) -> dict[str, object]:
    data = twin(size=size)
    rows = np.arange(len(data))
    if alike:
        rows = coloured_arms(data.factors)
    elif twin is not shapes3d or quick:
        rows = np.random.default_rng(0).integers(len(data), size=_FEW)
    data.images.rendered(rows[:1], "cpu")
    start, spent = clock("cpu"), time.process_time()
    for row in range(0, len(rows), _CHUNK):
        data.images.rendered(rows[row : row + _CHUNK], "cpu")
    seconds, spent = clock("cpu") - start, time.process_time() - spent
    return {
        "images": len(rows),
        "seconds": seconds,
        "processor": spent,
        "all": seconds * len(data) / len(rows),
    }


def main() -> None:
    asked = parser(__doc__)
    asked.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    asked.add_argument("--size", type=int, default=64)
    asked.add_argument("--quick", action="store_true", help="a few images of every twin")
    options = asked.parse_args()
    twins = (shapes3d, dsprites, cars3d, mpi3d)
    draw, runs = on_gpu if options.device == "cuda" else on_cpu, {}
    for twin in twins:
        runs[twin.__name__] = draw(twin, options.size, options.quick)
        print(twin.__name__, runs[twin.__name__], flush=True)
    if options.device == "cpu":
        runs["mpi3d, all colours"] = on_cpu(mpi3d, options.size, options.quick, alike=True)
    heads = list(next(iter(runs.values())))
    show(("twin", *heads), [(name, *run.values()) for name, run in runs.items()])
    goals = {}
    if not options.quick:
        goals = judged({"seconds, all of shapes3d": runs["shapes3d"]["seconds"]}, GOALS[options.device])
    if options.keep:
        about = {"size": options.size, "threads": torch.get_num_threads(), "cores": os.cpu_count()}
        keep(f"render_{options.device}", about | {"runs": runs, "goals": goals})


if __name__ == "__main__":
    main()
