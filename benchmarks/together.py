"""Throughput of the convolutional autoencoder: two processes of one thread each against one.

python benchmarks/together.py [--quick] [--keep]

Both see the same batches of 128 images of 64 x 64 pixels and end with the same weights; two processes have
half of each batch each, and add up their gradients (gloo). It needs two cores that nobody else uses: the load
is stored, and the seconds of the processor, of which two processes should need no more than one.
"""

import json
import os
import socket
import subprocess
import sys
import time

import numpy as np
from _table import judged, keep, parser, show

GOAL = 1.6  # two processes on two cores against one
BATCH = 128


def images(n_steps: int) -> dict[str, float]:
    """Fit in this process, with the others that the environment tells of; return images a second."""
    import unmix
    from unmix.nn import strided_decoder, strided_encoder

    pixels = np.random.default_rng(0).integers(0, 256, (4 * BATCH, 64, 64, 3), dtype=np.uint8)
    model = unmix.Autoencoder(
        10,
        encoder=strided_encoder,
        decoder=strided_decoder,
        batch_size=BATCH,
        max_steps=n_steps,
        device="cpu",
    ).set_params(max_iter=n_steps, random_state=0)
    before = time.process_time()
    history = model.fit(pixels).history_
    return {
        "images a second": history.n_steps * BATCH / history.seconds,
        "processor": time.process_time() - before,
        "last objective": history.objective[-1],
    }


def measured(n_processes: int, n_steps: int) -> dict[str, float]:
    """Start processes as `torchrun` does, and return what the first found."""
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        port = str(door.getsockname()[1])
    shared = os.environ | {"OMP_NUM_THREADS": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    line = [sys.executable, __file__, "--worker", str(n_steps)]
    started = [
        subprocess.Popen(
            line,
            env=shared | {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(n_processes)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(n_processes)
    ]
    told = [process.communicate(timeout=3600)[0] for process in started]
    found = [json.loads(one) for one in told]
    return found[0] | {"processor": sum(one["processor"] for one in found)}


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--quick", action="store_true", help="fewer steps")
    made.add_argument("--worker", type=int, help="steps; for the processes that this starts")
    options = made.parse_args()
    if options.worker:
        print(json.dumps(images(options.worker)))
        return
    n_steps, runs = 8 if options.quick else 24, []
    for _ in range(1 if options.quick else 3):  # in turns, so that what else the machine does falls on both
        one, two = measured(1, n_steps), measured(2, n_steps)
        assert abs(two["last objective"] / one["last objective"] - 1) < 1e-3
        speeds = one["images a second"], two["images a second"]
        run = {"one": speeds[0], "two": speeds[1], "ratio": speeds[1] / speeds[0]}
        run |= {"processor: two to one": two["processor"] / one["processor"], "load": os.getloadavg()[0]}
        runs.append(run)
    show(runs[0], (run.values() for run in runs))
    ratio = float(np.median([run["ratio"] for run in runs]))
    verdict = judged({"ratio": ratio}, {"ratio": GOAL}, at_least=["ratio"])
    if options.keep:
        keep("together", {"runs": runs, "verdict": verdict})


if __name__ == "__main__":
    main()
