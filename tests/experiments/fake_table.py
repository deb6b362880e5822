"""A tiny table that any engine test can run, and whose cells misbehave on request.

Settings: `do` is what a cell does. Files named by the environment let a test watch and steer real processes.
"""

import os
import signal
import time
from pathlib import Path

import numpy as np

from unmix.experiments import Cell

_QUICK = tuple(
    Cell(f"row {k}", "column", paper=0.5, spread=0.1, settings={"do": "draw", "k": k}) for k in range(6)
)
CELLS = (
    *_QUICK,
    Cell("row 0", "column", value="other", better="lower", settings={"do": "draw", "k": 0}),
)


def with_method(method):
    return (Cell(method.partition(":")[2], "column", settings={"do": "draw", "k": 9, "method": method}),)


def run(cell, seed, budget):
    settings = cell.settings
    if log := os.environ.get("FAKE_LOG"):
        with open(log, "ab") as file:
            file.write(b".")
    if settings["do"] == "raise":
        raise RuntimeError(f"cell {settings['k']} can't: {Path.cwd()}/secret and {Path.home()}")
    if settings["do"] == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if settings["do"] in ("die once", "die 3 times"):
        died = Path(os.environ["FAKE_LOG"] + ".died")
        times = died.stat().st_size if died.exists() else 0
        if times < (1 if settings["do"] == "die once" else 3):
            died.write_bytes(b"." * (times + 1))
            os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(float(os.environ.get("FAKE_PAUSE", "0")))
    rng = np.random.default_rng([seed, settings["k"]])
    return {"mcc": float(rng.normal(size=50) @ rng.normal(size=50)), "other": seed}
