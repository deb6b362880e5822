"""The options that say how a table is read, the same in every command, and what may be overwritten."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ..tables import MISSING, Columns
from ._alone import claim
from ._output import say

PATTERNS = "Names or patterns ('Cells_*'), with commas between them or given several times."
Features = Annotated[
    list[str] | None,
    typer.Option("--features", help=f"Columns to use. {PATTERNS} [default: all numbers]", show_default=False),
]
Drop = Annotated[
    list[str] | None, typer.Option("--drop", help=f"Columns to leave out. {PATTERNS}", show_default=False)
]
Id = Annotated[
    str | None,
    typer.Option(
        "--id",
        help="Column that names the rows, or several that do so together (plate,well).",
        show_default=False,
    ),
]
Missing = Annotated[
    str,
    typer.Option(
        "--missing", help="What becomes of missing values: error, drop-rows, drop-columns or median."
    ),
]
Layer = Annotated[
    str | None, typer.Option("--layer", help="Of an H5AD file: a layer instead of X.", show_default=False)
]
Obsm = Annotated[
    str | None, typer.Option("--obsm", help="Of an H5AD file: an array of obsm.", show_default=False)
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite a file that exists.")]


def columns_from(given: Any, labels: Sequence[str | None] = ()) -> Columns:
    """Read the options of a command into one value; `labels` are columns that other options use."""
    if given.missing not in MISSING:
        raise ValueError(f"`--missing` must be one of {', '.join(MISSING)}, got {given.missing!r}.")
    if given.layer is not None and given.obsm is not None:
        raise ValueError("`--layer` must be given without --obsm, got both. Choose one array.")
    return Columns(
        features=tuple(getattr(given, "features", None) or ()),
        drop=tuple(given.drop or ()),
        id=given.id,
        labels=tuple(name for name in labels if name is not None),
        missing=given.missing,
        layer=given.layer,
        obsm=given.obsm,
    )


def refuse_no_folder(path: Path, option: str = "--out") -> None:
    """Refuse what is there and is no folder, or would lie in what is none, before any work is done."""
    there = next((place for place in (path, *path.parents) if place.exists()), path)
    if there.exists() and not there.is_dir():
        which = "which" if there == path else f"but {str(there)!r}"
        raise ValueError(
            f"`{option}` must be a folder, got {str(path)!r}, {which} is a file, a device or a pipe. Choose "
            "another name."
        )


def refuse_existing(
    path: str | Path | None, force: bool = False, *, option: str = "--out", what: str = "a new file"
) -> None:
    """Refuse to overwrite a file, or anything that is none, before any work is done; keep others from it."""
    if path is None:
        return
    place = Path(path)
    if place.is_symlink() and not place.exists():
        raise ValueError(
            f"`{option}` must be a regular file, got {str(path)!r}, a link to nothing. Name a file, or "
            "remove the link."
        )
    if place.exists() and not (place.is_file() or place.is_dir()):
        raise ValueError(
            f"`{option}` must be a regular file, got {str(path)!r}, a device or a pipe. Name a file."
        )
    if not force and place.exists():
        raise ValueError(
            f"`{option}` must be {what}, {str(path)!r} exists. Add --force to overwrite it, or choose "
            "another name."
        )
    claim(place, option)


def say_notes(notes: Sequence[str]) -> None:
    """Say in a line each what was done to a table when it was read."""
    for note in notes:
        say(f"unmix: note: {note}")
