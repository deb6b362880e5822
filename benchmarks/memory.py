"""Peak memory and processor time of commands on tables of a gigabyte, each in a process of its own.

`python benchmarks/memory.py --folder /tmp/rows` draws the files once and runs every case; name some
to run these alone. `--keep FILE` writes the figures as JSON. Goals stand beside what is measured, and a case
over its goal, or one that fails, makes the exit code 1. Numbers are those of one thread, and of modules that
were compiled before: compiling scikit-learn's and ours takes two seconds, once for each installation.
"""

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from _table import machine

_BLOCK = 20_000  # rows drawn at a time
_LATENTS = 8
UNMIX = [sys.executable, "-W", "error::RuntimeWarning", "-m", "unmix"]
PYTHON = [sys.executable, "-W", "error::RuntimeWarning", "-c"]
IMPORTS = "import unmix.cli, unmix.estimators, unmix.metrics, unmix.theory, scipy.optimize, torch"


class Case(NamedTuple):
    """A command of a folder of files, and its goals: GB and processor seconds, where there are any."""

    command: Callable[[Path], list[str]]
    gigabytes: float | None
    seconds: float | None


def drawn(path: Path, n_rows: int, n_columns: int, seed: int = 0) -> Path:
    """Write rows of mixtures of as many Laplace sources as NPY, in blocks; the mixing is by seed."""
    if path.exists():
        return path
    sources, mixing = (
        np.random.default_rng(7),
        np.random.default_rng(seed).normal(size=(n_columns, n_columns)),
    )
    file = np.lib.format.open_memmap(path, "w+", np.float32, (n_rows, n_columns))
    for start in range(0, n_rows, _BLOCK):
        rows = sources.laplace(size=(min(_BLOCK, n_rows - start), n_columns)).astype(np.float32)
        file[start : start + len(rows)] = rows @ mixing.astype(np.float32)
    file.flush()
    return path


def parquet(path: Path, source: Path) -> Path:
    """Write the same rows as Parquet."""
    import pyarrow as pa
    from pyarrow import parquet as pq

    if path.exists():
        return path
    rows = np.load(source, mmap_mode="r")
    schema = pa.schema([(f"c{j}", pa.float32()) for j in range(rows.shape[1])])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, len(rows), _BLOCK):
            block = np.ascontiguousarray(rows[start : start + _BLOCK].T)
            writer.write_table(pa.table(list(block), schema=schema))
    return path


def csv(path: Path, source: Path, n_rows: int) -> Path:
    """Write some of the rows as text."""
    if not path.exists():
        rows = np.load(source, mmap_mode="r")
        with path.open("w") as file:
            file.write(",".join(f"c{j}" for j in range(rows.shape[1])) + "\n")
            for start in range(0, n_rows, _BLOCK):
                np.savetxt(file, rows[start : min(start + _BLOCK, n_rows)], "%.8g", ",")
    return path


def model(path: Path, source: Path) -> Path:
    """Fit independent components to the first rows."""
    from unmix import FastICA

    if not path.exists():
        head = np.array(np.load(source, mmap_mode="r")[:5000])
        FastICA(_LATENTS, random_state=0, max_iter=20, tol=1e-2).fit(head).save(path)
    return path


def mask(path: Path, n_rows: int, n_columns: int) -> Path:
    """Write a sparse structure."""
    if not path.exists():
        np.save(path, np.random.default_rng(0).uniform(size=(n_rows, n_columns)) < 0.01)
    return path


def _pair(folder: Path, n_rows: int, n_columns: int) -> tuple[Path, Path]:
    first = drawn(folder / f"x{n_rows}x{n_columns}.npy", n_rows, n_columns)
    return first, drawn(folder / f"y{n_rows}x{n_columns}.npy", n_rows, n_columns, seed=1)


def _compare(n_rows: int, n_columns: int) -> Callable[[Path], list[str]]:
    return lambda folder: [*UNMIX, "compare", *map(str, _pair(folder, n_rows, n_columns))]


def _evaluate(n_rows: int, n_columns: int) -> Callable[[Path], list[str]]:
    def command(folder: Path) -> list[str]:
        first, second = _pair(folder, n_rows, n_columns)
        return [*UNMIX, "evaluate", str(first), str(second)]

    return command


def _align(n_rows: int, n_columns: int) -> Callable[[Path], list[str]]:
    code = "import sys; from unmix.metrics import align; print(align(*sys.argv[1:]))"
    return lambda folder: [*PYTHON, code, *map(str, _pair(folder, n_rows, n_columns))]


def _transform(suffix: str) -> Callable[[Path], list[str]]:
    def command(folder: Path) -> list[str]:
        x, _ = _pair(folder, ROWS, 256)
        data = {"npy": lambda: x, "parquet": lambda: parquet(folder / "x.parquet", x)}.get(suffix)
        source = data() if data else csv(folder / "x.csv", x, 125_000)
        fitted = model(folder / "model", x)
        return [*UNMIX, "transform", str(fitted), str(source), "--out", str(folder / "out.npy"), "--force"]

    return command


def _certify_data(folder: Path) -> list[str]:
    x, _ = _pair(folder, ROWS, 256)
    return [*UNMIX, "certify", str(model(folder / "model", x)), "--data", str(x)]


ROWS = 1_000_000
CASES = {
    "transform 1,000,000 x 256 npy": Case(_transform("npy"), 1.5, None),
    "transform 1,000,000 x 256 parquet": Case(_transform("parquet"), 1.5, None),
    "transform 125,000 x 256 csv, 300 MB": Case(_transform("csv"), 1.2, None),
    "align 100,000 x 256": Case(_align(100_000, 256), 1.0, 30),
    "align 1,000,000 x 256": Case(_align(ROWS, 256), 2.0, None),
    "compare 5,000 x 1,024": Case(_compare(5000, 1024), None, 10),
    "compare 100,000 x 256": Case(_compare(100_000, 256), 1.0, 30),
    "compare 1,000,000 x 256": Case(_compare(ROWS, 256), 2.0, None),
    "evaluate 100,000 x 256": Case(_evaluate(100_000, 256), None, 60),
    "evaluate 1,000,000 x 256": Case(_evaluate(ROWS, 256), 2.0, None),
    "certify 20,000 x 2,000": Case(
        lambda folder: [*UNMIX, "certify", str(mask(folder / "mask.npy", 20_000, 2000))], 2.0, 15
    ),
    "certify --data 1,000,000 x 256": Case(_certify_data, 2.0, None),
}


def surroundings(folder: Path) -> dict[str, str]:
    """Return the environment of commands: one thread, and a folder of compiled modules."""
    asked = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    threads = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    return asked | threads | {"PYTHONPYCACHEPREFIX": str(folder / "compiled")}


def measured(command: list[str], most: float, environment: dict[str, str]) -> dict[str, float | int]:
    """Run a command and return its peak memory in GB, processor seconds, seconds and exit code."""
    start = time.perf_counter()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_AS, (int(most * 2**30),) * 2)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.execve(command[0], command, environment)
    _, status, used = os.wait4(child, 0)
    return {
        "gigabytes": round(used.ru_maxrss * 1024 / 1e9, 3),
        "seconds": round(used.ru_utime + used.ru_stime, 1),
        "wall": round(time.perf_counter() - start, 1),
        "exit": os.waitstatus_to_exitcode(status),
    }


def met(case: Case, found: dict[str, float | int]) -> bool:
    """Whether a case ended and stayed below both of its goals."""
    within = ((case.gigabytes, "gigabytes"), (case.seconds, "seconds"))
    return found["exit"] == 0 and all(goal is None or found[name] <= goal for goal, name in within)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", help="words that the names of cases hold; all without")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "unmix-memory")
    parser.add_argument("--most", type=float, default=24.0, help="GB of addresses that a command may ask for")
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    chosen = {
        name: case for name, case in CASES.items() if not given.cases or any(c in name for c in given.cases)
    }
    environment, found = surroundings(given.folder), {}
    measured([*PYTHON, IMPORTS], given.most, environment)
    for name, case in chosen.items():
        found[name] = measured(case.command(given.folder), given.most, environment)
        found[name]["load"] = round(os.getloadavg()[0], 2)
        print(name, found[name], f"goal {case.gigabytes} GB, {case.seconds} s", flush=True)
    if given.keep:
        given.keep.write_text(json.dumps({"machine": machine(), "cases": found}, indent=1) + "\n")
    sys.exit(0 if all(met(CASES[name], each) for name, each in found.items()) else 1)


if __name__ == "__main__":
    main()
