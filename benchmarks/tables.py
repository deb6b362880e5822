"""Speed and memory of reading a large CSV file, beside pyarrow in the same run, and of streaming larger ones.

python benchmarks/tables.py [--shape 160000x100] [--stream 1000000x2000] [--group 20000] [--quick] [--keep]

A CSV file (300 MB at the default shape; a column of text stands before the numbers) is read by
`unmix.tables.read` and by `pyarrow.csv.read_csv`, each in processes of its own that take turns. Memory is
the peak beyond what was in use before, as a multiple of the table's numbers in double precision. Then
`unmix transform` and the fit of `FastICA` go over a single-precision Parquet file of the shape of `--stream`,
in groups of `--group` rows; memory is the peak of the whole process, libraries included. Files are deleted.
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
    """Write heavy-tailed sources, mixed, in groups of rows, with a column of text before them."""
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(8, n_columns)).astype(np.float32)
    names = [f"x{j}" for j in range(n_columns)]
    schema = pa.schema([("well", pa.string()), *((name, pa.float32()) for name in names)])
    with pa.parquet.ParquetWriter(path, schema, use_dictionary=["well"]) as writer:
        for start in range(0, n_rows, group):
            n = min(group, n_rows - start)
            x = rng.laplace(size=(n, 8)).astype(np.float32) @ mixing
            x += 0.1 * rng.standard_normal(size=x.shape, dtype=np.float32)
            writer.write_table(pa.table([pa.array(["A01"] * n), *map(pa.array, x.T)], schema=schema), group)
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


def streaming(shape: str, group: int) -> dict:
    n_rows, n_columns = map(int, shape.split("x"))
    with tempfile.TemporaryDirectory() as folder:
        path, model = (
            write_parquet(Path(folder) / "t.parquet", n_rows, n_columns, group),
            Path(folder) / "model",
        )
        fit, transform = (measured(what, path, model) for what in ("fit", "transform"))
        size = path.stat().st_size / 2**30
    return {
        "rows": n_rows,
        "columns": n_columns,
        "group": group,
        "file GB": size,
        "fit": fit,
        "transform": transform,
    }


def main() -> None:
    asked = parser(__doc__)
    asked.add_argument("--shape", default="160000x100", help="rows x columns of the CSV file")
    asked.add_argument("--stream", default="1000000x2000", help="rows x columns of the Parquet file")
    asked.add_argument("--group", type=int, default=20_000, help="rows of a group of the Parquet file")
    asked.add_argument("--repeats", type=int, default=5)
    asked.add_argument("--quick", action="store_true", help="tables of a tenth of the size")
    options = asked.parse_args()
    read = reading("16000x100" if options.quick else options.shape, 2 if options.quick else options.repeats)
    stream = streaming("50000x2000" if options.quick else options.stream, options.group)
    show(
        ("", "s", "GB"),
        [
            (name, statistics.median(read[name]["seconds"]), max(read[name]["gained"]))
            for name in ("ours", "pyarrow")
        ],
        f"CSV of {read['megabytes']:.0f} MB",
    )
    show(
        ("", "s", "GB in all"),
        [(name, stream[name]["seconds"], stream[name]["peak"]) for name in ("fit", "transform")],
        f"Parquet, {stream['rows']} x {stream['columns']}",
    )
    figures = {name: read[name] for name in ("seconds ratio", "tables in memory")}
    goals = judged(figures | {f"{name} GB": stream[name]["peak"] for name in ("transform", "fit")}, GOALS)
    if options.keep:
        keep("tables", {"reading": read, "streaming": stream, "goals": goals})


if __name__ == "__main__":
    main()
