"""Tables larger than memory: read in blocks of rows, treated as a recipe says, written block by block."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

from unmix._files import atomic_path
from unmix._untrusted import each_whole
from unmix.rows import file_rows, opened_parquet, parquet_batches

from ._arrays import split_key
from ._arrow_files import of_arrow, whole
from ._choice import matched
from ._like import followed, read_like
from ._raw import Raw
from ._read import check_file, suffix_of
from ._table import EVERY, Columns, Recipe, Table
from ._write import check_writable, csv_header, csv_options, csv_ready, csv_stream, joined, write

ENTRIES = 1 << 22  # of a block: 16 to 32 MB of numbers
_GROUP = 1 << 26  # bytes of a group of rows of a Parquet file: what is known of thousands stays in memory
STREAMED = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".feather")

Item = TypeVar("Item")
Block = tuple[Table, np.ndarray]
Put = Callable[[np.ndarray, Table], None]


def blocks_like(
    source: Any, recipe: Recipe, *, columns: Columns = EVERY, keys: Sequence[str] = ("x",)
) -> Iterator[Block]:
    """Yield blocks of rows as `read_like` returns the whole: of NPY, Parquet and Feather files and of folders
    of shards one at a time.

    Examples
    --------
    >>> import tempfile
    >>> path = write(tempfile.mkdtemp() + "/t.parquet", np.eye(3), ["a", "b", "c"])
    >>> [table.values.shape for table, _ in blocks_like(path, Recipe(("c", "a")))]
    [(3, 2)]
    """
    suffix = suffix_of(split_key(str(source))[0]) if isinstance(source, str | Path) else ""
    if suffix == ".npy" or _is_folder(source):
        yield from _of_rows(Path(source), recipe, columns)
        return
    if suffix not in (".parquet", ".feather"):
        yield read_like(source, recipe, columns=columns, keys=keys)
        return
    file = Path(source)
    check_file(file)
    read_all = replace(columns, drop=())  # for columns to drop are not even read
    for batch in _batches(file, columns):
        yield followed(of_arrow(batch, file.suffix[1:].lower(), str(file)), recipe, read_all, str(file))


def ahead(blocks: Iterator[Item]) -> Iterator[Item]:
    """Make the next block while one is used.

    >>> list(ahead(iter([1, 2, 3])))
    [1, 2, 3]
    """
    end: Any = object()
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, blocks, end)
        while (block := coming.result()) is not end:
            coming = pool.submit(next, blocks, end)
            yield block


def _is_folder(source: Any) -> bool:
    return isinstance(source, str | Path) and Path(source).is_dir()


def _of_rows(place: Path, recipe: Recipe, columns: Columns) -> Iterator[Block]:
    """Yield blocks of an array that stays in its file, or of shards."""
    if not place.is_dir():
        check_file(place)
    rows = file_rows(place, lambda n_columns: max(1, ENTRIES // n_columns))
    for block in rows.blocks():
        raw = Raw("npy", matrix=np.array(block), names=rows.names)
        yield followed(raw, recipe, columns, str(place))


def _batches(file: Path, columns: Columns) -> Iterator[pa.Table]:
    if file.suffix.lower() == ".feather":
        with whole(file, lambda: pa.memory_map(str(file))) as mapped:
            stored = whole(file, lambda: pa.ipc.open_file(mapped))
            kept = _kept(stored.schema.names, columns, file)
            batches = (stored.get_batch(k) for k in range(stored.num_record_batches))
            for batch in each_whole(file, "Feather file", batches):
                yield pa.Table.from_batches([batch]).select(kept)
        return
    with opened_parquet(file) as stored:
        kept = _kept(stored.schema_arrow.names, columns, file)
        rows = max(1, ENTRIES // max(1, len(kept)))
        yield from each_whole(file, "Parquet file", parquet_batches(stored, kept, rows))


def _kept(names: Sequence[str], columns: Columns, file: Path) -> list[str]:
    gone = set(matched(names, columns.drop, "--drop", str(file)))
    return [name for name in names if name not in gone]


@contextmanager
def writing(path: str | Path, names: Sequence[str], *, key: str = "x") -> Iterator[Put]:
    """Yield a function that takes columns and the rows that they belong to, block by block.

    The file appears when the last block is written. NPY and NPZ files, which hold the numbers alone, are
    kept in memory until then.

    Examples
    --------
    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/z.csv"
    >>> with writing(path, ["z0"]) as put:
    ...     for start in (0.0, 2.0):
    ...         put(np.array([[start], [start + 1]]), Table(np.zeros((2, 1))))
    >>> Path(path).read_text().split()
    ['z0', '0', '1', '2', '3']
    """
    file, suffix = check_writable(path), suffix_of(path)
    if suffix not in STREAMED:
        parts: list[tuple[np.ndarray, Table]] = []
        # ids alone are written beside the numbers: the rows that were read need not stay
        yield lambda values, like: parts.append((values, replace(like, values=np.array(like.values[:0]))))
        _write_whole(file, parts, names, key)
        return
    with atomic_path(file) as draft, ExitStack() as stack:
        stream = stack.enter_context(draft.open("wb"))
        yield _putting(stack, stream, names, suffix)


def _putting(stack: ExitStack, stream: Any, names: Sequence[str], suffix: str) -> Put:
    """Return a function that opens a writer at the first block, and keeps later blocks to its types."""
    writer: Any = None
    schema: Any = None

    def put(values: np.ndarray, like: Table) -> None:
        nonlocal writer, schema
        block = joined(values, names, like)
        if writer is None:
            schema = block.schema
            writer = _opened(stack, stream, schema, suffix)
        writer(block.cast(schema))

    return put


def _opened(stack: ExitStack, stream: Any, schema: Any, suffix: str) -> Callable[[Any], None]:
    if suffix == ".parquet":
        # numbers hardly ever repeat, and looking for repetitions takes half of the time
        listed = [field.name for field in schema if not pa.types.is_floating(field.type)]
        settings = {"use_dictionary": listed or False}
        return _in_groups(stack, stack.enter_context(pa.parquet.ParquetWriter(stream, schema, **settings)))
    if suffix == ".feather":
        return stack.enter_context(pa.ipc.new_file(stream, schema)).write_table
    text = stack.enter_context(csv_stream(stream, suffix))
    text.write(csv_header(schema.names, suffix))

    def put(block: Any) -> None:
        ready = csv_ready(block)
        pa.csv.write_csv(ready, text, csv_options(ready, suffix))

    return put


def _in_groups(stack: ExitStack, writer: Any) -> Callable[[Any], None]:
    """Return a function that keeps blocks until they make a group of rows."""
    held: list[pa.Table] = []

    def flush() -> None:
        if held:
            writer.write_table(pa.concat_tables(held))
            held.clear()

    def put(block: Any) -> None:
        held.append(block)
        if sum(each.nbytes for each in held) >= _GROUP:
            flush()

    stack.callback(flush)  # before the writer is closed
    return put


def _write_whole(file: Path, parts: list[tuple[np.ndarray, Table]], names: Sequence[str], key: str) -> None:
    values = np.concatenate([part for part, _ in parts])
    held = [like.ids for _, like in parts if like.ids is not None]
    ids = np.concatenate(held) if len(held) == len(parts) else None
    write(file, values, names, like=Table(values, ids=ids), key=key)
