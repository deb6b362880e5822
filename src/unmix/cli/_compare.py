"""`unmix compare`: whether two runs agree, and up to what."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .. import _tables
from ._output import Json, Seed, print_json, tell

COMPARE_EXAMPLE = "Example: [bold]unmix compare run1.npy run2.npy --out runs.html[/]"
_KEYS = ("z_hat", "z", "x")


def compare(
    run1: Annotated[str, typer.Argument(metavar="RUN1", help="Latents or activations of the first run.")],
    run2: Annotated[
        str, typer.Argument(metavar="RUN2", help="The same inputs in the second run, same rows.")
    ],
    held_out: Annotated[
        float, typer.Option("--held-out", help="Share of rows to score on that the maps do not see.")
    ] = 0.0,
    scale: Annotated[
        bool, typer.Option("--scale", help="Let the signed permutation have one common scale.")
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", help="HTML file to write a report to.")] = None,
    random_state: Seed = 0,
    as_json: Json = False,
) -> None:
    """Measure up to which map two runs agree: signed permutation, rotation, linear map or ICA."""
    if out is not None:
        _tables.check_writable(out, (".html", ".htm"))
    first, second = (_tables.read(run, keys=_KEYS).values for run in (run1, run2))
    if len(first) != len(second):
        raise ValueError(
            f"`{run2}` must have as many rows as `{run1}`, got {len(second)} and {len(first)}. "
            "Row i of both must come from the same input."
        )
    from ..metrics import align
    from ..theory import certify_pair

    found = align(first, second, scale=scale, held_out=held_out, random_state=random_state)
    proved = certify_pair(first, second, scale=True, random_state=random_state)
    _write_page(out, first, second, found, proved, (run1, run2))
    if as_json:
        print_json({"run1": run1, "run2": run2, **found.to_dict(), "certificate": proved.to_dict()})
    else:
        notes = [f"Note: {note}" for note in found.notes]
        tell(found, found.meaning, *notes, proved.identifies, *([] if out is None else [f"Report: {out}"]))


def _write_page(
    out: Path | None, first: Any, second: Any, found: Any, proved: Any, runs: tuple[str, str]
) -> None:
    if out is None:
        return
    from ..report import compare as write

    names = (Path(runs[0]).name, Path(runs[1]).name)
    write(out, first, second, alignment=found, certificate=proved, names=names)
