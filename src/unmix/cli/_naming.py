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


def checked(sets: Path | None) -> Any:
    """Read the sets of variables, where there are any, before any work is done."""
    from ..description import read_groups

    return None if sets is None else read_groups(sets)


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
