"""Objects in memory: arrays, pandas and Polars frames, AnnData; none of them is imported to be recognised."""

from typing import Any

import numpy as np
import pyarrow as pa

from ._arrow_files import of_arrow
from ._choice import nearest
from ._csv import check_names
from ._raw import Raw, text_of
from ._table import Columns


def kind_of(source: Any) -> str:
    """Tell what an object is by the module that its class comes from."""
    room = type(source).__module__.partition(".")[0]
    name = type(source).__name__
    if room == "anndata" or any(c.__module__.startswith("anndata.") for c in type(source).__mro__):
        return "anndata"
    if room in ("pandas", "polars") and name in ("DataFrame", "LazyFrame"):
        return room
    return "array"


def read_object(source: Any, columns: Columns) -> Raw:
    """Return what an object holds."""
    kind = kind_of(source)
    readers = {"pandas": _of_pandas, "polars": _of_polars}
    if kind == "anndata":
        return of_anndata(source, columns, "the AnnData object")
    return readers[kind](source) if kind in readers else Raw("array", matrix=_array(source))


def _array(source: Any) -> np.ndarray:
    if hasattr(source, "detach"):
        return source.detach().cpu().numpy()
    return dense(source) if hasattr(source, "toarray") else np.asarray(source)


def _of_pandas(frame: Any) -> Raw:
    """Take the columns, and the index as ids unless it only counts the rows."""
    check_names([str(name) for name in frame.columns], "the data frame")
    counted = type(frame.index).__name__ == "RangeIndex"
    plain = frame.set_axis([str(name) for name in frame.columns], axis=1)
    ids = None if counted else np.array([_joined(key) for key in frame.index.tolist()], dtype=object)
    table = pa.Table.from_pandas(plain, preserve_index=False)
    name = "" if frame.index.name is None else str(frame.index.name)
    return of_arrow(table, "pandas", "the data frame")._replace(ids=ids, id_name=name)


def _joined(key: Any) -> str:
    return "|".join(map(str, key)) if isinstance(key, tuple) else str(key)


def _of_polars(frame: Any) -> Raw:
    whole = frame.collect() if type(frame).__name__ == "LazyFrame" else frame
    return of_arrow(whole.to_arrow(), "polars", "the data frame")


def of_anndata(cells: Any, columns: Columns, source: str) -> Raw:
    """Take X, a layer or an array of obsm as numbers, and obs as metadata."""
    values, names = _chosen(cells, columns, source)
    if names is not None:
        check_names(names, source)
    beside = of_arrow(
        pa.Table.from_pandas(
            cells.obs.set_axis([str(n) for n in cells.obs.columns], axis=1), preserve_index=False
        ),
        "anndata",
        source,
    )
    ids = text_of(np.asarray(cells.obs_names, dtype=object))
    return Raw("anndata", arrow=beside.arrow, matrix=dense(values), names=names, ids=ids, origin=cells)


def _chosen(cells: Any, columns: Columns, source: str) -> tuple[Any, tuple[str, ...] | None]:
    genes = tuple(map(str, cells.var_names))
    if columns.layer is not None:
        _check_key(columns.layer, cells.layers, "--layer", source)
        return cells.layers[columns.layer], genes
    if columns.obsm is not None:
        _check_key(columns.obsm, cells.obsm, "--obsm", source)
        held = cells.obsm[columns.obsm]
        named = tuple(map(str, held.columns)) if hasattr(held, "columns") else None
        made = named or tuple(f"{columns.obsm}_{j}" for j in range(held.shape[1]))
        return held, made
    if cells.X is None:
        others = [*(f"--layer {k}" for k in cells.layers), *(f"--obsm {k}" for k in cells.obsm)]
        way = f"Take {' or '.join(others)}." if others else "Store the data in it."
        raise ValueError(f"`{source}` must have an array X, it has none. {way}")
    return cells.X, genes


def _check_key(key: str, held: Any, option: str, source: str) -> None:
    names = list(map(str, held.keys()))
    if key not in names:
        there = nearest(key, names) if names else f"It has none, use X by leaving {option} out."
        raise ValueError(f"`{option}` must be an array of `{source}`, got {key!r}. {there}")


def dense(values: Any) -> np.ndarray:
    """Return a matrix as an array, whether it is sparse, backed by a file or a frame."""
    if hasattr(values, "toarray"):
        return values.toarray()
    if hasattr(values, "to_memory"):
        return dense(values.to_memory())
    return np.asarray(values)


def read_h5ad(path: Any, columns: Columns) -> Raw:
    """Read an H5AD file."""
    try:
        import anndata
    except ImportError:
        raise ImportError("H5AD files need anndata: pip install 'unmix[cells]'.") from None
    try:
        cells = anndata.read_h5ad(path)
    except (OSError, KeyError, ValueError, TypeError, AttributeError) as error:
        first_line = (str(error).splitlines() or [""])[0]
        raise ValueError(f"`{path}` must be a whole H5AD file. ({first_line})") from None
    return of_anndata(cells, columns, str(path))._replace(kind="h5ad")
