"""Memory of a fit to images beside the one copy of them that the caller holds.

python benchmarks/images.py [--n 480000] [--device cuda] [--quick] [--keep]

Half a million images of 64 x 64 x 3 bytes are 5.9 GB. An `Autoencoder` is fitted for one pass; what the
process held at most, less what it held before the fit with the images, is what the fit costs on the host.
"""

import resource
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
from _table import judged, keep, parser

from unmix import Autoencoder
from unmix.nn import conv_decoder, conv_encoder

GOAL = {"GB beside the images": 1.0}


def held() -> float:
    """Return the memory of this process in GB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e9


def most_held(work) -> float:
    """Return the most memory that the process had while it did the work, looked at every 20 ms."""
    most, done = [held()], threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            most.append(held())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        work()
    finally:
        done.set()
        watcher.join()
    return max(most)


def main() -> None:
    asked = parser(__doc__)
    asked.add_argument("--n", type=int, default=480_000)
    asked.add_argument("--device", default="auto")
    asked.add_argument("--quick", action="store_true", help="few small images")
    options = asked.parse_args()
    n, side, widths = (2_000, 16, (4, 8)) if options.quick else (options.n, 64, (32, 64, 128, 256))
    rng = np.random.default_rng(0)
    images = np.empty((n, side, side, 3), dtype=np.uint8)
    for start in range(0, n, 10_000):
        images[start : start + 10_000] = rng.integers(0, 255, images[start : start + 10_000].shape)
    few = partial(
        Autoencoder,
        12,
        encoder=partial(conv_encoder, widths=widths),
        decoder=partial(conv_decoder, widths=widths[::-1]),
        max_iter=1,
        batch_size=512,
        device=options.device,
        random_state=0,
    )
    few().fit(images[:1024])  # what torch, and CUDA, hold once and for all
    before, start = held(), time.perf_counter()
    most = most_held(lambda: few().fit(images))
    found = {"GB beside the images": most - before}
    print(f"{n} images, {images.nbytes / 1e9:.2f} GB, one pass in {time.perf_counter() - start:.0f} s")
    goals = judged(found, GOAL)
    if options.keep:
        keep("images", {"images": n, "seconds": time.perf_counter() - start, "goals": goals})


if __name__ == "__main__":
    main()
