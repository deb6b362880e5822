"""Objects in memory: arrays, pandas and Polars frames, AnnData; none of them is imported to be recognised."""

import os
from typing import Any

import numpy as np
import pyarrow as pa

from unmix._untrusted import check_names, require_plausible, whole

from ._arrow_files import of_arrow
from ._choice import nearest
from ._names import listed
from ._raw import Raw, text_of
from ._table import Columns

_HELD = ("features", "images", "x")  # where tables and data sets hold what an estimator takes


def kind_of(source: Any) -> str:
    """Tell what an object is by the module that its class comes from."""
    room = type(source).__module__.partition(".")[0]
    name = type(source).__name__
    if room == "anndata" or any(c.__module__.startswith("anndata.") for c in type(source).__mro__):
        return "anndata"
    if room in ("pandas", "polars") and name in ("DataFrame", "LazyFrame"):
        return room
    return "array"


def features_of(X: Any) -> Any:
    """Return what an estimator takes: of AnnData and of a frame with text the numeric columns, as a frame.

    Everything else, arrays and frames of numbers among it, is returned as it is.
    """
    kind = kind_of(X)
    if kind == "array":
        return _unmasked(_array_like(X))
    frame = X.to_df() if kind == "anndata" else X.collect() if type(X).__name__ == "LazyFrame" else X
    names = list(frame.columns)
    held = {name: _holds_numbers(frame[name]) for name in names} if len(set(names)) == len(names) else {}
    if all(held.values()):
        return frame
    wanted = [name for name, numeric in held.items() if numeric and not str(name).startswith("Metadata_")]
    if not wanted:
        raise ValueError(f"`X` must have a numeric column, got {listed(names)}. Encode text as numbers.")
    return frame[wanted]


def _array_like(X: Any) -> Any:
    """Return X unless it is a data set, which holds what an estimator takes beside what it must not see.

    >>> from unmix.data import sparse_mixing
    >>> _array_like(sparse_mixing(9, n_latents=3, random_state=0))
    Traceback (most recent call last):
        ...
    TypeError: `X` must be an array or a frame, got LatentDataset. Pass its `.x`.
    """
    if not hasattr(X, "__array__"):
        for name in _HELD:
            if hasattr(X, name):
                kind = type(X).__name__
                raise TypeError(f"`X` must be an array or a frame, got {kind}. Pass its `.{name}`.")
    return X


def _unmasked(X: Any) -> Any:
    """Return X unless it is an array with masked entries, which nobody who takes arrays would see.

    >>> _unmasked(np.ma.masked_array([1.0, 2.0], mask=[False, True]))
    Traceback (most recent call last):
        ...
    ValueError: `X` must not have masked entries, got 1. Drop such rows, or fill them.
    """
    if np.ma.is_masked(X):
        masked = np.ma.count_masked(X)  # type: ignore[no-untyped-call]
        raise ValueError(f"`X` must not have masked entries, got {masked}. Drop such rows, or fill them.")
    return X


def _holds_numbers(column: Any) -> bool:
    """Whether a column of a frame is numbers; objects are, unless there is text among them."""
    if hasattr(column.dtype, "is_numeric"):  # Polars
        return column.dtype.is_numeric() or str(column.dtype) == "Boolean"
    if str(column.dtype) == "object":
        return not any(isinstance(value, str) for value in column[:100])
    return getattr(column.dtype, "kind", "O") in "fiub"


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
    return dense(source) if hasattr(source, "toarray") else np.asarray(_unmasked(source))


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
    check_names(names, source)
    beside = of_arrow(
        pa.Table.from_pandas(
            cells.obs.set_axis([str(n) for n in cells.obs.columns], axis=1), preserve_index=False
        ),
        "anndata",
        source,
    )
    ids = text_of(np.asarray(cells.obs_names, dtype=object))
    told = [cells.var[name] for name in ("unit", "units") if name in cells.var and columns.obsm is None]
    units = dict(zip(names, map(str, told[0]), strict=True)) if told else {}
    return Raw("anndata", beside.arrow, dense(values), names, ids=ids, units=units, origin=cells)


def _chosen(cells: Any, columns: Columns, source: str) -> tuple[Any, tuple[str, ...]]:
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
    _check_sizes(path)
    with whole(path, "H5AD file"):
        cells = anndata.read_h5ad(path)
    return of_anndata(cells, columns, str(path))._replace(kind="h5ad")


def _check_sizes(path: Any) -> None:
    """Refuse arrays that would become far larger than the file."""
    import h5py

    sizes: list[int] = []
    with whole(path, "H5AD file"), h5py.File(path, "r") as file:
        file.visititems(lambda _, held: sizes.append(getattr(held, "nbytes", 0)))
    require_plausible(path, os.path.getsize(path), sum(sizes))
