"""Metadata from another file, joined by the names of the rows."""

from collections.abc import Mapping, Sequence

import numpy as np

from unmix.tables import names_in, paired

_SHOWN = 3


def joined_by_id(
    ids: np.ndarray, metadata: Mapping[str, np.ndarray], on: str | Sequence[str]
) -> dict[str, np.ndarray]:
    """Bring metadata into the order of ids.

    Parameters
    ----------
    ids : array of shape (n_samples,)
        Names of the rows of a table.
    metadata : mapping from names to columns
        In any order, and of more rows, perhaps.
    on : str or sequence of str
        The column that holds the names, or several that do so together.

    Returns
    -------
    dict from names to columns of shape (n_samples,)

    Examples
    --------
    >>> meta = {"well": np.array(["b", "a", "c"]), "plate": np.array([2, 1, 3])}
    >>> joined_by_id(np.array(["a", "b"]), meta, "well")["plate"].tolist()
    [1, 2]
    """
    names = [on] if isinstance(on, str) else list(on)
    keys, on = _texts(names_of_rows(metadata, names)), ",".join(names)
    _refuse_repeated(keys, f"`--meta` must name each row once in {on!r}")
    _refuse_repeated(_texts(ids), "`X` must name each row once")
    place = {key: k for k, key in enumerate(keys)}
    missing = [key for key in _texts(ids) if key not in place]
    if missing:
        raise ValueError(
            f"`--meta` must have every row of X, got no {on} {_listed(missing)}. Add these rows to the "
            "metadata, or leave them out of X."
        )
    order = np.array([place[key] for key in _texts(ids)])
    return {name: np.asarray(column)[order] for name, column in metadata.items()}


def names_of_rows(columns: Mapping[str, np.ndarray], names: Sequence[str]) -> np.ndarray:
    """Return the column that names rows, or one text for several.

    >>> names_of_rows({"plate": np.array([1, 2]), "well": np.array(["A1", "A1"])}, ["plate", "well"]).tolist()
    ['1|A1', '2|A1']
    """
    return columns[names[0]] if len(names) == 1 else paired([columns[name] for name in names])


def shared_key(columns: Sequence[str], metadata: Mapping[str, np.ndarray], asked: str | None) -> list[str]:
    """Return the columns by which two files are joined: those asked for, or the only one that both have."""
    shared = [name for name in columns if name in metadata]
    wanted = [] if asked is None else names_in([asked], list(metadata))
    if wanted and all(name in metadata for name in wanted):
        return wanted
    if asked is None and len(shared) == 1:
        return shared
    told = "none" if not shared else ", ".join(map(repr, shared))
    raise ValueError(
        f"`--id` must name the column of row names that X and --meta share, got {asked!r}. They share {told}."
    )


def _texts(values: np.ndarray) -> list[str]:
    return [str(int(v)) if isinstance(v, float) and v.is_integer() else str(v) for v in values.tolist()]


def _refuse_repeated(keys: list[str], rule: str) -> None:
    seen: set[str] = set()
    again = list(dict.fromkeys(key for key in keys if key in seen or seen.add(key)))  # type: ignore[func-returns-value]
    if again:
        raise ValueError(f"{rule}, got {_listed(again)} more than once. Keep one row of each.")


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return ", ".join(map(repr, names[:_SHOWN])) + more
