"""Cells bring maps of their own, in `obsm` of an AnnData object: these are what one looks at first."""

from typing import Any

import numpy as np

MOST_MAPS = 4
_FIRST = ("umap", "tsne")  # of several, those that were made to be looked at


def is_cells(data: Any) -> bool:
    """Whether data are an AnnData object.

    >>> is_cells(np.eye(2))
    False
    """
    return type(data).__name__ == "AnnData" and hasattr(data, "obsm")


def maps_of(cells: Any) -> dict[str, np.ndarray]:
    """Return the first two columns of each array of `obsm`, by name; none where there are no cells.

    >>> maps_of(None)
    {}
    """
    if cells is None:
        return {}
    found = {str(name): _matrix(cells.obsm[name]) for name in _ordered(cells)}
    wide = {name: values for name, values in found.items() if values.ndim == 2 and values.shape[1] >= 2}
    shown = list(wide.items())[:MOST_MAPS]
    return {f"{short(name)} {k + 1}": values[:, k] for name, values in shown for k in range(2)}


def start_of(cells: Any) -> dict[str, str]:
    """Return what the page shows first: a map of the cells, coloured by the latent that is looked at."""
    names = list(maps_of(cells))
    return {"x": names[0], "y": names[1], "colour": "*"} if names else {}


def short(name: str) -> str:
    """Drop the prefix of AnnData's custom.

    >>> short("X_umap")
    'umap'
    """
    return name.removeprefix("X_")


def _ordered(cells: Any) -> list[Any]:
    return sorted(cells.obsm, key=lambda name: (short(str(name)).lower() not in _FIRST, str(name)))


def _matrix(values: Any) -> np.ndarray:
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values)
