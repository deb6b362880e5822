"""Seconds to render the images of each twin, and how many of them are different.

python benchmarks/render.py [--device cuda] [--size 64] [--quick] [--keep]

On a GPU all images of a twin are drawn into its memory as bytes, the first time with the geometries that they
need; each is then reduced to 64 bits, and equal ones are counted. On a CPU all images of Shapes3D are drawn,
a chunk at a time in memory, and 500 of each other twin, from which the time of all is estimated.
"""

import os
import time

import torch
from _table import judged, keep, parser, show

from unmix.data import cars3d, dsprites, mpi3d, shapes3d

GOALS = {"cpu": {"seconds, all of shapes3d": 180.0}, "cuda": {"seconds, all of shapes3d": 1.0}}
_CHUNK = 8_000
_FEW = 500  # images of the sets of which not all are drawn on a CPU


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


def on_gpu(twin, size: int) -> dict[str, object]:
    data = twin(size=size)
    torch.zeros(1, device="cuda")
    start = clock("cuda")
    first = data.images.rendered(slice(None), "cuda")
    cold = clock("cuda") - start
    del first
    start = clock("cuda")
    images = data.images.rendered(slice(None), "cuda")
    warm = clock("cuda") - start
    found = different(images, torch.Generator("cuda").manual_seed(0))
    return {"images": len(data), "seconds": cold, "again": warm, "different": found}


def on_cpu(twin, size: int, quick: bool) -> dict[str, object]:
    whole = twin is shapes3d and not quick
    data = twin(None if whole else _FEW, size=size, random_state=0)
    start = clock("cpu")
    for row in range(0, len(data), _CHUNK):
        data.images.rendered(slice(row, row + _CHUNK), "cpu")
    seconds = clock("cpu") - start
    return {"images": len(data), "seconds": seconds, "all": seconds * len(twin(size=size)) / len(data)}


def main() -> None:
    asked = parser(__doc__)
    asked.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    asked.add_argument("--size", type=int, default=64)
    asked.add_argument("--quick", action="store_true", help="a few images of every twin")
    options = asked.parse_args()
    twins = (shapes3d, dsprites, cars3d, mpi3d)
    gpu = options.device == "cuda"
    runs = {
        twin.__name__: on_gpu(twin, options.size) if gpu else on_cpu(twin, options.size, options.quick)
        for twin in twins
    }
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
