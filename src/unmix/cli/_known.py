"""What a user may know beside a structure, as options and files give it."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from .. import tables
from ..tables import EVERY, Columns, Table, label_of, names_in, prepared
from ._long import spread_rows, stride_of, thinned
from ._models import columns_for, load, recipe_of

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

    return Structure(tables.read(path, keys=("structure",)).values)


def read_with_truth(
    path: str, *, columns: Columns = EVERY, model: Any = None, labels: tuple[str | None, ...] = ()
) -> tuple[Table, dict[str, Any]]:
    """Read x and, where an NPZ file has it, what `unmix simulate` knows of its latents, from one read.

    For a model that is yet to be fitted, columns that nothing can be learnt from are left out; for a fitted
    one the columns are its own, and rows are left out that it can't be asked about. Of long tables rows that
    are spread over them are enough to judge it.
    """
    columns = replace(columns, labels=tuple(name for name in labels if name is not None))
    also = () if ".npz:" in path else TRUTH
    if model is None:
        table, more = tables.read_with(path, columns=columns, also=also)
        table = prepared(table, path)
    elif (stride := stride_of(path, recipe_of(model))) > 1:
        return spread_rows(path, recipe_of(model), columns, stride), {}
    else:
        recipe = recipe_of(model)
        (table, whole), more = tables.read_like_with(path, recipe, columns=columns, also=also)
        kept = thinned(path, whole, recipe)
        table = table if kept.all() else replace(table.take(kept), kept=kept)
    return table, _known_of(more, table, path)


def read_latents(path: str, keys: tuple[str, ...]) -> Table:
    """Read latents; of a table with columns `z0`, `z1`, ... these, whatever stands beside them."""
    table = tables.read(path, keys=keys)
    latents = [name for name in table.names or () if name[:1] == "z" and name[1:].isdecimal()]
    return table if not latents else without(table, set(table.names or ()) - set(latents))


def _known_of(more: dict[str, Any], table: Table, path: str) -> dict[str, Any]:
    """Return what is known of the rows and columns that are left."""
    if "z" not in more:
        return {}
    rows = slice(None) if table.kept is None else table.kept
    known = {name: value[rows] if name in ("z", "labels") else value for name, value in more.items()}
    known["z"] = tables.read(known["z"]).values
    if "structure" in more:
        assert table.recipe is not None
        support = tables.read(more["structure"]).values
        all_there = table.recipe.named or len(support) != table.recipe.n_columns
        at = [] if all_there else [int(name[1:]) for name in table.recipe.features]
        known["structure"] = support if all_there else support[at]
    return known


def dataset(table: Table, truth: dict[str, Any], model: Any) -> Any:
    """Return data for a report: x alone, or with the truth where it is known."""
    from ..structure import Structure

    x = columns_for(model, table)
    if not truth:
        return x
    mask = None if truth.get("structure") is None else Structure(truth["structure"])
    return SimpleNamespace(x=x, **truth | {"structure": mask})


def table_of(
    data: str | None, model: Any, wanted: tuple[str | None, ...], *, id: str | None = None
) -> tuple[Table | None, dict[str, np.ndarray]]:
    """Read the data of a model, and the columns that options name."""
    if data is None:
        return None, {}
    if model is None:
        raise ValueError(
            "`--data` must be given with a model, got a mask. Give latents as --codes, or Jacobians."
        )
    table, _ = read_with_truth(data, columns=Columns(id=id), model=model, labels=wanted)
    return take_out(table, wanted)


def take_out(table: Table, wanted: tuple[str | None, ...]) -> tuple[Table, dict[str, np.ndarray]]:
    """Return the labels that options name, one column or several each, and the table without them."""
    there = [*table.metadata, *(table.names or ())]
    named = {text: names_in([text], there) for text in wanted if text is not None}
    taken = {
        text: label_of(table, names) for text, names in named.items() if names and set(names) <= set(there)
    }
    used = {name for text in taken for name in named[text]}
    return without(table, used), taken


def without(table: Table, used: set[str]) -> Table:
    """Leave out features that are labels after all."""
    if table.names is None or not used & set(table.names):
        return table
    kept = [k for k, name in enumerate(table.names) if name not in used]
    names = tuple(table.names[k] for k in kept)
    recipe = None if table.recipe is None else replace(table.recipe, features=names)
    return replace(table, values=table.values[:, kept], names=names, recipe=recipe)


def labels(
    text: str | None,
    taken: dict[str, np.ndarray],
    option: str,
    *,
    counts: bool = False,
    table: str = "--data",
    rows: Table | None = None,
) -> Any:
    """Return a number, where one will do, or the label of each row: columns of the data, or a file."""
    if text is None or text in taken:
        return None if text is None else taken[text]
    if counts and text.lstrip("+-").isdecimal():
        return int(text)
    if not _tables_file(text):
        number = "a number, " if counts else ""
        there = [] if rows is None else [*rows.metadata, *(rows.names or ())]
        hint = tables.nearest(text, there) if there else "Check the name."
        raise ValueError(f"`{option}` must be {number}a column of {table} or a file, got {text!r}. {hint}")
    return _for_rows(_labels_in(text, option), rows, option)


def _labels_in(path: str, option: str) -> np.ndarray:
    """Read a file of labels: one column of anything, or an array with one axis."""
    if tables.is_array_file(path):
        found = array(path, None, option)
        found = found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
    else:
        found = tables.read_column(path, option)
    if found.ndim != 1:
        raise ValueError(f"`{option}` must hold one label per row, got shape {found.shape}. Pick one column.")
    return found


def _for_rows(found: np.ndarray, rows: Table | None, option: str) -> np.ndarray:
    """Compare the number of labels with that of rows; those of rows that were dropped go with them."""
    if rows is None:
        return found
    n = len(rows.values) if rows.kept is None else len(rows.kept)
    if len(found) != n:
        raise ValueError(
            f"`{option}` must have one label for each of the {n:,} rows, got {len(found):,}. "
            + ("Does its first line lack a name?" if len(found) == n - 1 else "Is it of another table?")
        )
    return found if rows.kept is None else found[rows.kept]


def array(path: str, ndim: int | None, option: str) -> np.ndarray:
    """Read an array of numbers: any shape from NPY and NPZ, two axes from other tables."""
    found = tables.read_array(path)
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
    """Read slots: a number of equal ones, the latents of each, or `unions`, how to find them."""
    if text == "unions" and option == "--slots":
        return text
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
