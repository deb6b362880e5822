"""Speed and memory of `metrics.replicate` on wide codes, beside numpy's correlation matrix in the same run.

python benchmarks/compare.py [--shape 4000x16000] [--quick] [--keep]

Two single-precision files of codes that fire in 5% of the rows are written in pieces: a quarter of the second
run's latents is noise, a quarter is mixed in pairs, half is the first run's in another order. Each contestant
runs in a process of its own: `replicate` from the paths, and `numpy.corrcoef` of both codes at once in single
precision, followed by the nearest latent of each, which is less than what `replicate` does (no rows held out,
no subspaces, no rates). Seconds are of the processor. Memory is the peak beyond what was in use before. The
files are deleted.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from _table import judged, keep, parser, show
from numpy.lib.format import open_memmap

GOALS = {"time ratio": 1.0, "memory ratio": 0.5, "gigabytes": 1.5}
CHILD = """
import json, re, sys, time
from pathlib import Path
import numpy as np
from unmix.metrics import replicate
def kilobytes(name):
    return int(re.search(name + r":\\s+(\\d+)", Path("/proc/self/status").read_text()).group(1))
def ours(paths):
    return replicate(paths).runs[0].counts
def numpys(paths):
    a, b = (np.load(path).T for path in paths)
    table = np.abs(np.corrcoef(a, b, dtype=np.float32)[: len(a), len(a):])
    return {"best": float(table.max(1).mean())}
before, start = kilobytes("VmRSS"), time.process_time()
found = {"replicate": ours, "corrcoef": numpys}[sys.argv[1]](sys.argv[2:])
seconds = time.process_time() - start
print(json.dumps({"seconds": seconds, "gigabytes": (kilobytes("VmHWM") - before) / 2**20, "found": found}))
"""


def write_codes(folder: Path, n_rows: int, width: int, block: int = 250) -> list[Path]:
    """Write two runs: of the second a quarter is noise, a quarter pairs turned by 45 degrees."""
    rng = np.random.default_rng(0)
    paths, quarter, order = [folder / "run1.npy", folder / "run2.npy"], width // 4, rng.permutation(width)
    first, second = (open_memmap(path, "w+", np.float32, (n_rows, width)) for path in paths)
    for start in range(0, n_rows, block):
        rows = slice(start, min(start + block, n_rows))
        shape = (rows.stop - rows.start, width)
        first[rows] = rng.laplace(size=shape) * (rng.random(shape) < 0.05)
        codes = np.array(first[rows])[:, order]
        codes[:, :quarter] = rng.laplace(size=(len(codes), quarter))
        even, odd = codes[:, quarter : 2 * quarter : 2].copy(), codes[:, quarter + 1 : 2 * quarter : 2].copy()
        codes[:, quarter : 2 * quarter : 2], codes[:, quarter + 1 : 2 * quarter : 2] = even + odd, even - odd
        second[rows] = codes + 0.01 * rng.normal(size=shape)
    return paths


def measured(contestant: str, paths: list[Path]) -> dict:
    line = [sys.executable, "-c", CHILD, contestant, *map(str, paths)]
    return json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)


def measure(n_rows: int, width: int) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        paths = write_codes(Path(folder), n_rows, width)
        runs = {name: measured(name, paths) for name in ("replicate", "corrcoef")}
    return {"rows": n_rows, "width": width, "runs": runs}


def ratios(results: dict) -> dict[str, float]:
    ours, theirs = results["runs"]["replicate"], results["runs"]["corrcoef"]
    return {
        "time ratio": ours["seconds"] / theirs["seconds"],
        "memory ratio": ours["gigabytes"] / theirs["gigabytes"],
        "gigabytes": ours["gigabytes"],
    }


def main() -> None:
    asked = parser(__doc__)
    asked.add_argument("--shape", default="4000x16000", help="rows x latents of each run")
    asked.add_argument("--quick", action="store_true", help="a quarter of the width")
    options = asked.parse_args()
    n_rows, width = map(int, options.shape.split("x"))
    results = measure(n_rows, width // 4 if options.quick else width)
    rows = [(name, run["seconds"], run["gigabytes"], run["found"]) for name, run in results["runs"].items()]
    title = f"{results['rows']} rows, {results['width']} latents in each of two runs"
    show(("", "s", "GB", "found"), rows, title=title)
    goals = judged(ratios(results), GOALS)
    if options.keep:
        keep("compare", results | {"goals": goals})


if __name__ == "__main__":
    main()
