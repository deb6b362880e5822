"""`unmix choose`: how many latents a table has, and which methods it could support."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ..tables import check_writable
from ._known import labels, read_with_truth, take_out
from ._output import Json, Seed, print_json, say, taking, tell
from ._reading import (
    Drop,
    Features,
    Force,
    Id,
    Layer,
    Missing,
    Obsm,
    columns_from,
    refuse_existing,
    say_notes,
)

EXAMPLE = "Example: [bold]unmix choose data.csv --out choice.html[/]"


@dataclass(frozen=True)
class Choose:
    """Options of `unmix choose`."""

    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA", help="Table: CSV or TSV (also gzipped), Parquet, Feather, H5AD, NPY or NPZ."
        ),
    ]
    domains: Annotated[
        str | None,
        typer.Option("--domains", help="Column that says where each row comes from, or a file of labels."),
    ] = None
    most: Annotated[int, typer.Option("--most", help="Latents to look for, at most.", min=1)] = 30
    out: Annotated[Path | None, typer.Option("--out", help="HTML page to write.")] = None
    features: Features = None
    drop: Drop = None
    id: Id = None
    missing: Missing = "error"
    layer: Layer = None
    obsm: Obsm = None
    force: Force = False
    random_state: Seed = 0
    as_json: Json = False


@taking(Choose)
def choose(given: Choose) -> None:
    """Say how many latents a table has and why, and which methods the data could support."""
    if given.out is not None:
        check_writable(given.out, (".html", ".htm"))
    refuse_existing(given.out, given.force)
    table, _ = read_with_truth(given.data, columns=columns_from(given), labels=(given.domains,))
    rest, taken = take_out(table, (given.domains,))
    known = labels(given.domains, taken, "--domains", table="DATA", rows=table)
    say_notes(table.notes)
    from ..choice import choose as look

    found = look(
        rest.values, domains=known, most=given.most, random_state=given.random_state, tell=_tell_step
    )
    if given.out is not None:
        from ..report import choice as write

        write(given.out, found)
    if given.as_json:
        print_json(found.to_dict() | {"out": given.out})
    else:
        tell(str(found), *([] if given.out is None else ["", f"Page: {given.out}"]))


def _tell_step(words: str) -> None:
    say(f"unmix: {words}")
