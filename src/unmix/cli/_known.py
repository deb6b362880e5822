"""What a user may know beside a structure, as options and files give it."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from .. import _tables
from ._models import columns_for, load

MASKS = (".csv", ".npy", ".json")
TRUTH = ("z", "structure", "labels", "masks", "graph")


def source_of(path: Path) -> tuple[Any, Any]:
    """Read a mask as a structure, or load a model; one of the two is None."""
    from ..structure import Structure

    if ".npz" in path.name:
        return mask_of(str(path)), None
    if path.suffix.lower() in MASKS:
        return Structure.read(path), None
    return None, load(path)


def mask_of(path: str) -> Any:
    """Read a structure from a table, `structure` in an NPZ file."""
    from ..structure import Structure

    return Structure(_tables.read(path, keys=("structure",)).values)


def read_with_truth(path: str) -> tuple[_tables.Table, dict[str, Any]]:
    """Read x and, where an NPZ file has it, what `unmix simulate` knows of its latents, from one read."""
    table, more = _tables.read_with(path, also=() if ".npz:" in path else TRUTH)
    if "z" not in more:
        return table, {}
    more["z"] = _tables.checked(more["z"], source=f"{path}:z").values
    if "structure" in more:
        more["structure"] = _tables.checked(more["structure"], source=f"{path}:structure").values
    return table, more


def dataset(table: _tables.Table, truth: dict[str, Any], model: Any) -> Any:
    """Return data for a report: x alone, or with the truth where it is known."""
    from ..structure import Structure

    x = columns_for(model, table)
    if not truth:
        return x
    mask = None if truth.get("structure") is None else Structure(truth["structure"])
    return SimpleNamespace(x=x, **truth | {"structure": mask})


def table_of(
    data: str | None, model: Any, wanted: tuple[str | None, ...]
) -> tuple[np.ndarray | None, dict[str, np.ndarray]]:
    """Read the data of a model, and take out the columns that options name."""
    if data is None:
        return None, {}
    if model is None:
        raise ValueError(
            "`--data` must be given with a model, got a mask. Give latents as --codes, or Jacobians."
        )
    rest, taken = take_out(_tables.read(data), wanted)
    return columns_for(model, rest), taken


def take_out(
    table: _tables.Table, wanted: tuple[str | None, ...]
) -> tuple[_tables.Table, dict[str, np.ndarray]]:
    """Separate the columns that options name from the rest of a table."""
    names = table.names or ()
    taken = {name: table.values[:, names.index(name)] for name in wanted if name in names}
    kept = [k for k in range(table.values.shape[1]) if not names or names[k] not in taken]
    return _tables.Table(table.values[:, kept], tuple(names[k] for k in kept) if names else None), taken


def labels(
    text: str | None,
    taken: dict[str, np.ndarray],
    option: str,
    *,
    counts: bool = False,
    table: str = "--data",
) -> Any:
    """Return a number, where one will do, or the label of each row: a column of the data, or a file."""
    if text is None or text in taken:
        return None if text is None else taken[text]
    if counts and text.lstrip("+-").isdecimal():
        return int(text)
    if not _tables_file(text):
        number = "a number, " if counts else ""
        raise ValueError(
            f"`{option}` must be {number}a column of {table} or a file, got {text!r}. Check the name."
        )
    found = array(text, None, option)
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1:
        raise ValueError(f"`{option}` must hold one label per row, got shape {found.shape}. Pick one column.")
    return found


def array(path: str, ndim: int | None, option: str) -> np.ndarray:
    """Read an array of numbers: any shape from NPY and NPZ, two axes from other tables."""
    found = _tables.read_array(path)
    if found.dtype.kind not in "fiub" or (ndim is not None and found.ndim != ndim):
        axes = "numbers" if ndim is None else f"numbers with {ndim} axes"
        raise ValueError(f"`{option}` must hold {axes}, got {found.dtype} of shape {found.shape}.")
    return found


def _tables_file(text: str) -> bool:
    return Path(text.partition(".npz:")[0] + (".npz" if ".npz:" in text else "")).is_file()


def named_sets(pairs: list[str], ask: str | None) -> dict[str, Any]:
    """Read `A=0,1` and the expression over such names; two sets without one are compared."""
    sets = dict(_named(pair) for pair in pairs)
    if len(sets) < len(pairs):
        raise ValueError("`--set` must give each name once, got one of them twice. Rename it.")
    if ask is not None:
        return {"ask": ask, "sets": sets}
    if sets and len(sets) != 2:
        raise ValueError(
            f"`--set` must be given twice to compare two sets, got {len(sets)}. Ask about more with --ask."
        )
    return dict(zip(("a", "b"), sets.values(), strict=True)) if sets else {}


def _named(pair: str) -> tuple[str, list[int]]:
    name, equals, members = pair.partition("=")
    if not equals or not name.strip().isidentifier():
        raise ValueError(f"`--set` must be a name and numbers such as A=0,1, got {pair!r}.")
    return name.strip(), numbers(members, "--set")


def partition_of(text: str) -> Any:
    """Read slots: a number of equal ones, the latents of each, or `finest`."""
    return text if text == "finest" else slots_of(text, "--partition")


def slots_of(text: str, option: str = "--slots") -> Any:
    """Read slots: a number of equal ones, or the latents of each."""
    return int(text) if text.isdecimal() else numbers_in_parts(text, option)


def numbers_in_parts(text: str, option: str) -> list[list[int]]:
    """Read `0,1/2,3` as [[0, 1], [2, 3]]."""
    return [numbers(part, option) for part in text.split("/")]


def numbers(text: str, option: str) -> list[int]:
    """Read `0,1` as [0, 1]."""
    cells = [cell.strip() for cell in text.split(",")]
    if not all(cell.isdecimal() for cell in cells):
        raise ValueError(
            f"`{option}` must hold numbers counted from 0 with commas between them, got {text!r}."
        )
    return [int(cell) for cell in cells]
