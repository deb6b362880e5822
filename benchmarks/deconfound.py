"""What `unmix deconfound` costs: seconds and memory for the adjusted file, read twice from Parquet.

Goals for 222,000 rows of 384 columns in 1,600 batches: 60 seconds, and three times the table of memory. With
`--wide`, a million rows of 2,000 columns in less than 2 GB (the file takes 2 GB of disk). With `--bbbc021
FILE`, the profiles of BBBC021 (`Metadata_Plate`, `Metadata_Compound`, `Metadata_Concentration`,
`Metadata_moa` and features) are scored instead: at a mechanism mAP of at least .827 the week of DMSO wells is
to be found in at most .55, and the mechanism of the next compound of another week in at least .82.
`--harmony` adds Harmony, where harmonypy is installed; it is licensed under the GPL and therefore no part of
the package. `--pbmc68k FILE` scores blood cells (the H5AD file that scanpy ships) in four artificial batches,
drawn at random, each with a shift of its own of every gene by about its standard deviation; monocytes are the
controls. `--compare` measures the command with its comparison of all methods.
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from _table import judged, keep, parser, show

from unmix.deconfound import METHODS, Design, evaluate
from unmix.deconfound._rotations import pca_white
from unmix.tables import Columns, read

SIZES = {"cells": (222_000, 384, 1600), "wide": (1_000_000, 2000, 2000)}
BBBC021 = {"relation_map": 0.827, "leak": 0.55, "leak_held_out": 0.55, "relation_next_other_batch": 0.82}
CHILD = "import sys; from unmix.cli import main; main(sys.argv[1:])"


def write_plates(path: Path, n_rows: int, n_columns: int, n_batches: int) -> None:
    """Write wells in blocks; wide ones are rounded, so that the file stays small."""
    rng = np.random.default_rng(0)
    pool = rng.normal(size=(4096, n_columns)).astype(np.float32)
    offsets = rng.normal(size=(n_batches, n_columns)).astype(np.float32)
    per, writer = -(-n_rows // n_batches), None
    for start in range(0, n_rows, 10_000):
        row = np.arange(start, min(start + 10_000, n_rows))
        batch, place = row // per, row % per
        x = np.round(pool[rng.integers(4096, size=len(row))] + offsets[batch], 1)
        gene = np.where(place < 16, "EMPTY", np.char.add("g", (place // 10).astype(str)))
        known = {
            "well": row.astype(str),
            "experiment": (batch // 9).astype(str),
            "plate": batch % 9,
            "gene": gene,
        }
        table = pa.table(known | {f"f{j}": np.ascontiguousarray(column) for j, column in enumerate(x.T)})
        writer = writer or pa.parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()


def adjusted(size: str, compare: bool) -> dict[str, float]:
    """Run the command on a fresh file, and return its seconds and the most memory that it took."""
    with tempfile.TemporaryDirectory() as folder:
        write_plates(Path(folder) / "x.parquet", *SIZES[size])
        line = ["deconfound", "x.parquet", "--batch", "experiment", "plate", "--label", "gene", "--control",
                "gene == 'EMPTY'", "--out", "y.parquet"]  # fmt: skip
        line += [] if compare else ["--compare", "none"]
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", CHILD, *line], cwd=folder, check=True)
        seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
    return {"seconds": seconds, "gigabytes": peak}


def harmony(x: np.ndarray, design: Design, *, random_state: int = 0) -> np.ndarray:
    """Adjust white principal components by Harmony."""
    import harmonypy
    import pandas

    white = pca_white(x, design)
    batch = pandas.DataFrame({"batch": design.outer.astype(str)})
    found = harmonypy.run_harmony(white, batch, "batch", random_state=random_state, verbose=False)
    corrected = np.asarray(found.Z_corr)
    return (
        corrected if corrected.shape == white.shape else corrected.T
    )  # before version 2, cells were columns


def scored(path: str, with_harmony: bool) -> Any:
    """Compare methods on BBBC021."""
    table = read(path, columns=Columns(id=None))
    metadata = dict(table.metadata)
    metadata["week"] = np.array([plate.split("_")[0] for plate in metadata["Metadata_Plate"]])
    methods = METHODS | ({"harmony": harmony} if with_harmony else {})
    return evaluate(
        table.values,
        metadata,
        batch=["week", "Metadata_Plate"],
        control="Metadata_Compound == 'DMSO'",
        label=["Metadata_Compound"],
        task=["Metadata_Compound", "Metadata_Concentration"],
        relation=["Metadata_moa"],
        methods=methods,
    )


def blood(path: str) -> Any:
    """Compare methods on blood cells in batches that are drawn."""
    import anndata

    cells, rng = anndata.read_h5ad(path), np.random.default_rng(0)
    genes, batch = np.asarray(cells.X, dtype=float), rng.integers(4, size=cells.n_obs)
    genes = genes + rng.normal(size=(4, genes.shape[1]))[batch] * genes.std(0)
    known = {"batch": batch, "type": np.asarray(cells.obs["bulk_labels"].astype(str))}
    return evaluate(genes, known, batch=["batch"], control="type == 'CD14+ Monocyte'", label=["type"])


def main() -> None:
    """Measure, show and keep."""
    given = parser(__doc__ or "")
    given.add_argument("--wide", action="store_true")
    given.add_argument("--bbbc021", metavar="FILE")
    given.add_argument("--harmony", action="store_true")
    given.add_argument("--pbmc68k", metavar="FILE")
    given.add_argument("--compare", action="store_true")
    asked = given.parse_args()
    if asked.pbmc68k:
        show(*blood(asked.pbmc68k).lines(intervals=False))
        return
    if asked.bbbc021:
        found = scored(asked.bbbc021, asked.harmony)
        print(found.confounding)
        show(*found.lines())
        ours = found.scores["anchored"]
        measured = {name: ours[name].value for name in BBBC021}
        verdicts = judged(measured, BBBC021, at_least=("relation_map", "relation_next_other_batch"))
        results = {"bbbc021": found.to_dict(), "verdicts": verdicts}
    else:
        size = "wide" if asked.wide else "cells"
        found = adjusted(size, asked.compare)
        table = np.prod(SIZES[size][:2]) * 4 / 1e9
        show(["seconds", "gigabytes", "table, gigabytes"], [[*found.values(), float(table)]])
        goals = {"gigabytes": 2.0} if asked.wide else {"seconds": 60.0, "gigabytes": 3 * float(table)}
        results = {size: found, "verdicts": judged({name: found[name] for name in goals}, goals)}
    if asked.keep:
        keep("deconfound_bbbc021" if asked.bbbc021 else f"deconfound_{size}", results)


if __name__ == "__main__":
    main()
