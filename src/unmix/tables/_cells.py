"""AnnData out: latents in obsm, loadings in varm, and how they came about in uns."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unmix._files import atomic_path

from ._holes import names_of
from ._table import Table

OBSM = "X_unmix"


def write_cells(
    file: Path, values: np.ndarray, names: Sequence[str], like: Table | None, more: Mapping[str, Any]
) -> Path:
    """Write an H5AD file: the source's own object where there is one, and the values in obsm."""
    cells = with_latents(_origin(like, values), values, names, more)
    with atomic_path(file) as draft:
        cells.write_h5ad(draft)
    return file


def with_latents(cells: Any, values: np.ndarray, names: Sequence[str], more: Mapping[str, Any]) -> Any:
    """Return a copy of an AnnData object with the latents; `more` is told in `write`."""
    made, key = cells.copy(), more.get("key", OBSM)
    made.obsm[key] = np.asarray(values)
    for name, array in more.get("obsm", {}).items():
        made.obsm[name] = array
    for name, array in more.get("varm", {}).items():
        features = more.get("features", made.var_names)
        made.varm[name] = spread_loadings(array, features, made.var_names)
    told = {"names": np.array(list(names), dtype=object), **_plain(more.get("uns", {}))}
    made.uns["unmix" if key == OBSM else key] = told
    return made


def spread_loadings(loadings: np.ndarray, features: Sequence[str], var_names: Sequence[str]) -> np.ndarray:
    """Put loadings of features where the object has these features; NaN for all others.

    Features of an array, which have no names of their own, are those of the object in order.

    >>> spread_loadings(np.array([[2.0]]), ["b"], ["a", "b"]).tolist()
    [[nan], [2.0]]
    """
    at = {str(name): i for i, name in enumerate(var_names)}
    if len(loadings) == len(at) and not at.keys() & set(features):
        return loadings
    found = np.full((len(var_names), loadings.shape[1]), np.nan)
    for row, name in zip(loadings, features, strict=True):
        if name in at:
            found[at[name]] = row
    return found


def _origin(like: Table | None, values: np.ndarray) -> Any:
    """Return the AnnData object that a table came from, or make one of the table."""
    if like is not None and like.origin is not None:
        return like.origin
    try:
        import anndata
        import pandas
    except ImportError:
        raise ImportError("H5AD files need anndata: pip install 'unmix[cells]'.") from None
    if like is None:
        return anndata.AnnData(obs=pandas.DataFrame(index=[str(i) for i in range(len(values))]))
    ids = [str(i) for i in range(len(values))] if like.ids is None else list(map(str, like.ids))
    obs = pandas.DataFrame({name: column for name, column in like.metadata.items()}, index=ids)
    var = pandas.DataFrame(index=list(names_of(like)))
    return anndata.AnnData(X=like.values, obs=obs, var=var)


def _plain(value: Any) -> Any:
    """Turn what AnnData can't store into what it can: nested lists and None into JSON."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, list | tuple):
        flat = all(isinstance(item, str | int | float | bool) for item in value)
        return np.array(value) if flat and len({type(i) for i in value}) == 1 else json.dumps(list(value))
    return value
