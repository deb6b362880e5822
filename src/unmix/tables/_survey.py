"""Tables larger than memory: one pass tells what a model must know of them, and the rows stay on disk."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from unmix.rows import Rows, file_rows

from ._holes import OPTIONS, counted_by, fill, medians_of, names_of, without_columns
from ._metadata import n_rows_in, read_beside
from ._read import check_file, suffix_of
from ._stream import ahead
from ._table import Columns, Table
from ._tidy import FEW, described

LARGE = 1 << 27  # entries: a gigabyte in double precision
_BLOCK = 1 << 21  # entries of a block: 8 to 16 MB
_KEPT = 1 << 23  # entries of the rows that are kept, so that whoever looks at them needs no gigabytes
_LEAST = 1000  # rows that are kept, where there are so many

Progress = Callable[[float], None]


@dataclass(frozen=True, eq=False)
class Survey:
    """What one pass over a Parquet file told.

    Parameters
    ----------
    rows : Rows
        The features of all rows, block by block, without what was dropped and with holes filled.
    table : Table
        Rows spread over the file, 10,000 at most and fewer of wide tables, with ids and metadata, and the
        recipe of the whole.
    """

    rows: Rows
    table: Table


def is_large(path: str | Path, columns: Columns) -> bool:
    """Whether a table is better left on disk: a Parquet file of more than a gigabyte of numbers.

    Where rows with holes are to be dropped, it is read whole.
    """
    file = Path(path)
    if suffix_of(file) != ".parquet" or columns.missing == "drop-rows" or not file.is_file():
        return False
    n_rows, n_columns = n_rows_in(file)
    return n_rows * n_columns > LARGE


def survey(path: str | Path, columns: Columns, *, on_progress: Progress = lambda share: None) -> Survey:
    """Pass over a Parquet file once, and prepare it as `read` and `prepared` do a table in memory.

    Holes are counted, columns without numbers, constant and repeated ones are left out. Medians are those of
    the rows that are kept, which are spread over the file.

    Examples
    --------
    >>> import tempfile
    >>> from unmix.tables import write
    >>> path = write(tempfile.mkdtemp() + "/t.parquet", np.array([[1.0, 5, 1], [2, 5, 2]]), ["a", "b", "c"])
    >>> found = survey(path, Columns())
    >>> found.rows.take(0, 2).tolist(), dict(found.table.recipe.dropped)
    ([[1.0], [2.0]], {'b': 'constant', 'c': 'a copy of another'})
    """
    file = Path(path)
    check_file(file)
    n_rows, n_columns = n_rows_in(file)
    if not n_rows:
        raise ValueError(f"`{file}` must have rows, it has none. Check the export.")
    stride = max(1, -(-n_rows // min(FEW, max(_LEAST, _KEPT // max(1, n_columns)))))
    beside, recipe = read_beside(file, columns, every=stride)
    names = recipe.features
    seen, few = _passed(_opened(file, names), stride, on_progress)
    table = replace(beside, values=few, names=names, recipe=replace(recipe, missing=columns.missing))
    table, seen = _without(table, seen, seen.n_finite == 0, "no number in it", str(file))
    table, seen, medians = _mended(table, seen, columns.missing, str(file))
    if medians:  # columns may be copies of each other once they are filled
        seen = replace(seen, marks=_marked(_opened(file, names_of(table), medians)))
    table, seen = _without(table, seen, seen.constant, "constant", str(file))
    table, seen = _without(table, seen, seen.repeated, "a copy of another", str(file))
    rows = _opened(file, names_of(table), medians)
    return Survey(rows, described(table, rows.n_rows))


def _opened(file: Path, names: tuple[str, ...], medians: Mapping[str, float] | None = None) -> Rows:
    """Open the file; holes are filled where medians are given."""
    rows = file_rows(file, lambda n_columns: max(256, _BLOCK // n_columns), names=names)
    if not medians:
        return rows
    take, filled = rows.take, np.array([medians[name] for name in names])
    return rows._replace(take=lambda start, stop: fill(take(start, stop), filled))


def _marked(rows: Rows) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.sum([_marks(block, rng) for block in rows.blocks()], axis=0)


@dataclass(frozen=True, eq=False)
class _Seen:
    """What a pass saw of each column; `marks` differ where columns do."""

    n_gaps: np.ndarray
    n_infinite: np.ndarray
    n_finite: np.ndarray
    spread: np.ndarray
    largest: np.ndarray
    marks: np.ndarray
    n_holed: int
    n_rows: int

    def keeping(self, kept: np.ndarray) -> "_Seen":
        arrays = {name: value[kept] for name, value in vars(self).items() if isinstance(value, np.ndarray)}
        return replace(self, **arrays)

    @property
    def constant(self) -> np.ndarray:
        return self.spread <= 1e-12 * self.largest

    @property
    def repeated(self) -> np.ndarray:
        _, first = np.unique(self.marks, return_index=True)
        return ~np.isin(np.arange(len(self.marks)), first)


def _passed(rows: Rows, stride: int, on_progress: Progress) -> tuple[_Seen, np.ndarray]:
    """Add up what is seen of each column, and keep every `stride`-th row."""
    d, at, holed, few = rows.n_features, 0, 0, []
    gaps, infinite, finite = (np.zeros(d, dtype=np.int64) for _ in range(3))
    total, squares, largest = np.zeros(d), np.zeros(d), np.zeros(d)
    marks, shift = np.zeros(d, dtype=np.uint64), np.full(d, np.nan)
    rng = np.random.default_rng(0)
    for block in ahead(iter(rows.blocks())):
        few.append(block[-at % stride :: stride].copy())  # not a view, which would keep the block
        marks += _marks(block, rng)
        good = np.isfinite(block)
        whole = bool(good.all())
        if not whole:
            missing = np.isnan(block)
            gaps, infinite = gaps + missing.sum(0), infinite + (~good & ~missing).sum(0)
            holed += int((~good).any(1).sum())
            block = np.where(good, block, np.nan)
        finite += len(block) if whole else good.sum(0)
        first = block[good.argmax(0), np.arange(d)]
        shift = np.where(np.isnan(shift), first, shift)  # about a value of its own, nothing is lost
        apart = block - np.nan_to_num(shift)
        if not whole:
            apart, block = np.where(good, apart, 0.0), np.where(good, block, 0.0)
        total, squares = total + apart.sum(0), squares + np.einsum("ij,ij->j", apart, apart)
        largest = np.maximum(largest, np.maximum(block.max(0), -block.min(0)))
        at += len(block)
        on_progress(at / rows.n_rows)
    n = np.maximum(finite, 1)
    spread = np.sqrt(np.maximum(squares / n - (total / n) ** 2, 0.0))
    return _Seen(gaps, infinite, finite, spread, largest, marks, holed, at), np.concatenate(few)


def _marks(block: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a number for each column, the same for equal ones: bits times random odd numbers, added up."""
    bits = np.ascontiguousarray(block).view(np.uint32 if block.dtype.itemsize == 4 else np.uint64)
    odd = rng.integers(0, 1 << 63, size=len(block), dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    return np.einsum("ij,i->j", bits.astype(np.uint64), odd)


def _without(table: Table, seen: _Seen, gone: np.ndarray, reason: str, source: str) -> tuple[Table, _Seen]:
    return without_columns(table, gone, reason, source), seen.keeping(~gone)


def _mended(
    table: Table, seen: _Seen, missing: str, source: str
) -> tuple[Table, _Seen, dict[str, float] | None]:
    """Refuse holes, leave out their columns, or fill them with medians, which are returned by name."""
    holes = seen.n_gaps + seen.n_infinite
    if not holes.any():
        return table, seen, None
    if missing == "error":
        counts = (seen.n_gaps, seen.n_infinite, seen.n_holed, seen.n_rows)
        raise ValueError(counted_by(*counts, table.names, source, OPTIONS))
    if missing == "drop-columns":
        return *_without(table, seen, holes > 0, "missing values in it", source), None
    assert table.names is not None and table.recipe is not None
    medians = medians_of(table.values)
    note = (
        f"Filled {int(holes.sum()):,} missing values in {int((holes > 0).sum()):,} columns with the median "
        f"of {len(table.values):,} rows."
    )
    recipe = replace(table.recipe, medians=tuple(medians.tolist())).noting(note)
    filled = replace(table, values=fill(table.values, medians), recipe=recipe)
    return filled, seen, dict(zip(table.names, medians.tolist(), strict=True))
