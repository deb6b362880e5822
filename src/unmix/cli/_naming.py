"""What latents stand for, as the commands tell it, and the options that bring names."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from ..tables import Table
from ._models import columns_for

MOST = 24  # latents that are told, a line each; the JSON document has them all

Sets = Annotated[
    Path | None,
    typer.Option(
        "--variable-sets",
        help="Sets of columns to name latents by: JSON, GMT or CSV. [default: words that names share]",
        show_default=False,
    ),
]


def beside(table: Table, sets: Any = None) -> dict[str, Any]:
    """Return what a report is told beside the data: other columns, ids, and sets of variables."""
    return {"metadata": table.metadata, "ids": table.ids, "groups": sets}


def checked(sets: Path | None, table: Table) -> Any:
    """Read the sets of variables, where there are any, and look for them in the table before any work."""
    from ..description import read_groups

    if sets is None:
        return None
    try:
        found = read_groups(sets)
    except ValueError as error:
        raise ValueError(str(error).replace("`groups`", "`--variable-sets`", 1)) from None
    names = set(table.names or ())
    if not any(names & set(members) for members in found.values()):
        there = f"such as {table.names[0]!r}" if table.names else "but X has no names"
        raise ValueError(
            f"`--variable-sets` must hold names of columns, {there}, got none of them. Compare both files."
        )
    return found


def described(model: Any, table: Table, sets: Any = None) -> Any:
    """Describe the latents of a model on the table that it was fitted to."""
    from ..description import describe

    values = columns_for(model, table)
    names = table.names if values.shape == table.values.shape else None  # else those of the model are taken
    return describe(model, replace(table, values=values, names=names), groups=sets)


def named(found: Any) -> list[str]:
    """Tell a line for each latent: what it moves, and what it goes with."""
    if found is None:
        return []
    more = len(found.lines) - MOST
    return [
        "What each latent stands for:",
        *found.lines[:MOST],
        *([f"... and {more} more."] if more > 0 else []),
    ]
