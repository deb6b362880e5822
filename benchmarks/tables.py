"""Speed and memory of reading a large CSV file, beside pyarrow in the same run, and of streaming larger ones.

python benchmarks/tables.py [--shape 160000x100] [--fit 50000x2000] [--stream 1000000x2000] [--quick] [--keep]

A CSV file (300 MB at the default shape; a column of text stands before the numbers) is read by
`unmix.tables.read` and by `pyarrow.csv.read_csv`, each in processes of its own that take turns. Memory is
the peak beyond what was in use before, as a multiple of the table's numbers in double precision. Then
`FastICA` is fitted to a single-precision Parquet file of the shape of `--fit`, and `unmix transform` goes
over one of the shape of `--stream`, in groups of `--group` rows; memory is the peak of the whole process,
libraries included. Files are deleted.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from _table import judged, keep, parser, show

GOALS = {"seconds ratio": 2.0, "tables in memory": 3.0, "transform GB": 2.0, "fit GB": 2.0}
CHILD = """
import json, re, sys, time
from pathlib import Path
def kilobytes(name):
    return int(re.search(name + r":\\s+(\\d+)", Path("/proc/self/status").read_text()).group(1))
what, path, out = sys.argv[1:]
if what == "read":
    from unmix.tables import read
    work = lambda: read(path).values.shape
elif what == "pyarrow":
    import pyarrow.csv
    work = lambda: pyarrow.csv.read_csv(path).shape
elif what == "fit":
    import unmix
    work = lambda: unmix.FastICA(8, random_state=0, max_iter=20).fit(path).save(out) and None
else:
    from unmix.cli import main
    def work():
        try:
            main(["transform", out, path, "--out", out + ".parquet", "--force", "--json"])
        except SystemExit as left:
            assert left.code == 0
before, start = kilobytes("VmRSS"), time.perf_counter()
found = work()
seconds = time.perf_counter() - start
peak = kilobytes("VmHWM")
sizes = {"peak": peak / 2**20, "gained": (peak - before) / 2**20}
print(json.dumps({"seconds": seconds, **sizes, "found": found}))
"""


def write_csv(path: Path, n_rows: int, n_columns: int) -> Path:
    """Write numbers of full precision, with a column of text before them."""
    rng = np.random.default_rng(0)
    with path.open("w") as stream:
        stream.write(",".join(["well", *(f"Cells_{j}" for j in range(n_columns))]) + "\n")
        for start in range(0, n_rows, 1000):
            block = rng.normal(size=(min(1000, n_rows - start), n_columns))
            stream.writelines(
                f"A{i % 24:02d}," + ",".join(map(repr, row)) + "\n" for i, row in enumerate(block.tolist())
            )
    return path


def write_parquet(path: Path, n_rows: int, n_columns: int, group: int) -> Path:
    """Write heavy-tailed sources, mixed, the same group of rows again and again, and text before them."""
    rng = np.random.default_rng(0)
    x = rng.laplace(size=(group, 8)).astype(np.float32) @ rng.normal(size=(8, n_columns)).astype(np.float32)
    x += 0.1 * rng.standard_normal(size=x.shape, dtype=np.float32)
    names = [f"x{j}" for j in range(n_columns)]
    table = pa.table([pa.array(["A01"] * group), *map(pa.array, x.T)], names=["well", *names])
    with pa.parquet.ParquetWriter(path, table.schema, use_dictionary=["well"]) as writer:
        for start in range(0, n_rows, group):
            writer.write_table(table.slice(0, n_rows - start), group)
    return path


def measured(what: str, path: Path, out: Path) -> dict:
    line = [sys.executable, "-c", CHILD, what, str(path), str(out)]
    printed = subprocess.run(line, check=True, capture_output=True, text=True).stdout
    return json.loads(printed.splitlines()[-1])


def reading(shape: str, repeats: int) -> dict:
    n_rows, n_columns = map(int, shape.split("x"))
    with tempfile.TemporaryDirectory() as folder:
        path = write_csv(Path(folder) / "t.csv", n_rows, n_columns)
        turns = [(measured("read", path, path), measured("pyarrow", path, path)) for _ in range(repeats)]
        size = path.stat().st_size / 1e6
    ours, theirs = ({k: [turn[i][k] for turn in turns] for k in ("seconds", "gained")} for i in (0, 1))
    table = n_rows * n_columns * 8 / 2**30
    return {
        "megabytes": size,
        "ours": ours,
        "pyarrow": theirs,
        "seconds ratio": statistics.median(o["seconds"] / t["seconds"] for o, t in turns),
        "tables in memory": max(ours["gained"]) / table,
        "tables in memory, pyarrow": max(theirs["gained"]) / table,
    }


def streaming(fit: str, transform: str, group: int) -> dict:
    """Fit on one file and transform another; both hold the same columns."""
    found: dict = {"group": group}
    with tempfile.TemporaryDirectory() as folder:
        for what, shape in (("fit", fit), ("transform", transform)):
            n_rows, n_columns = map(int, shape.split("x"))
            path = write_parquet(Path(folder) / "t.parquet", n_rows, n_columns, min(group, n_rows))
            run = measured(what, path, Path(folder) / "model")
            found[what] = {"shape": shape, "file GB": path.stat().st_size / 2**30, **run}
    return found


def main() -> None:
    asked = parser(__doc__)
    asked.add_argument("--shape", default="160000x100", help="rows x columns of the CSV file")
    asked.add_argument("--stream", default="1000000x2000", help="rows x columns of the file to transform")
    asked.add_argument("--fit", default="50000x2000", help="rows x columns of the file to fit")
    asked.add_argument("--group", type=int, default=20_000, help="rows of a group of the Parquet file")
    asked.add_argument("--repeats", type=int, default=5)
    asked.add_argument("--quick", action="store_true", help="tables of a tenth of the size")
    options = asked.parse_args()
    read = reading("16000x100" if options.quick else options.shape, 2 if options.quick else options.repeats)
    stream = streaming(options.fit, "50000x2000" if options.quick else options.stream, options.group)
    timed = [(n, statistics.median(read[n]["seconds"]), max(read[n]["gained"])) for n in ("ours", "pyarrow")]
    show(("", "s", "GB"), timed, f"CSV of {read['megabytes']:.0f} MB")
    passed = [(n, stream[n]["shape"], stream[n]["seconds"], stream[n]["peak"]) for n in ("fit", "transform")]
    show(("", "rows x columns", "s", "GB in all"), passed, "Parquet")
    figures = {name: read[name] for name in ("seconds ratio", "tables in memory")}
    goals = judged(figures | {f"{name} GB": stream[name]["peak"] for name in ("transform", "fit")}, GOALS)
    if options.keep:
        keep("tables", {"reading": read, "streaming": stream, "goals": goals})


if __name__ == "__main__":
    main()
