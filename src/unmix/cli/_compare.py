"""`unmix compare`: which latents of a run are found in other runs, and up to which map two runs agree."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ..rows import Rows, array_rows, file_rows, keys_of
from ..tables import check_writable
from ._known import read_latents
from ._output import Json, Seed, print_json, progress, tell

COMPARE_EXAMPLE = "Example: [bold]unmix compare run1.npy run2.npy run3.npy --out runs.html[/]"
_KEYS = ("z_hat", "z", "x")
_ENTRIES, _WIDTH = 2 * 10**7, 512  # maps between two runs are fitted up to this size and width
_STREAMED = (".npy", ".parquet", ".safetensors")


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN1 RUN2 ...",
            help="Latents or activations of two or more runs, files or folders of shards; row i of all "
            "belongs to the same input. The first is the reference.",
        ),
    ],
    threshold: Annotated[
        float, typer.Option("--threshold", help="The correlation that a latent must reach to replicate.")
    ] = 0.9,
    held_out: Annotated[
        float,
        typer.Option(
            "--held-out",
            help="Share of rows to score on that nothing was fitted to; without it a third for the list of "
            "latents, and none for the maps between two runs.",
        ),
    ] = 0.0,
    scale: Annotated[
        bool, typer.Option("--scale", help="Let the signed permutation have one common scale.")
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", help="HTML file to write a report to.")] = None,
    random_state: Seed = 0,
    as_json: Json = False,
) -> None:
    """Say latent by latent whether other runs have it; of two runs also up to which map they agree."""
    if out is not None:
        check_writable(out, (".html", ".htm"))
    if len(runs) < 2:
        raise ValueError(f"`RUN1 RUN2 ...` must be at least two runs, got {len(runs)}. Name another file.")
    names = _names(runs)
    tables = [_opened(run, name) for run, name in zip(runs, names, strict=True)]
    replication = _replicated(tables, names, threshold, held_out, random_state)
    pair = _maps(tables, scale, held_out, random_state)
    _write_page(out, replication, tables, pair, names)
    if as_json:
        print_json(_document(runs, replication, pair))
    else:
        tell(*_story(replication, pair), *([] if out is None else [f"Report: {out}"]))


def _replicated(tables: list[Rows], names: list[str], threshold: float, held_out: float, seed: int) -> Any:
    from ..metrics import replicate

    with progress("Comparing") as moved:
        return replicate(
            tables,
            names=names,
            threshold=threshold,
            held_out=held_out or 1 / 3,
            random_state=seed,
            on_progress=moved,
        )


def _maps(tables: list[Rows], scale: bool, held_out: float, seed: int) -> tuple[Any, Any] | None:
    """Fit maps between two runs and certify them, where both are small enough to be in memory at once."""
    size = sum(table.n_rows * table.n_features for table in tables)
    if len(tables) > 2 or size > _ENTRIES or max(table.n_features for table in tables) > _WIDTH:
        return None
    from ..metrics import align
    from ..theory import certify_pair

    first, second = map(_whole, tables)
    found = align(first, second, scale=scale, held_out=held_out, random_state=seed)
    return found, certify_pair(first, second, scale=True, random_state=seed)


def _story(replication: Any, pair: tuple[Any, Any] | None) -> list[Any]:
    """Say what was found: the list, then the maps, and beside agreement what it is not."""
    notes = [f"Note: {note}" for note in replication.notes]
    parts = [replication, replication.meaning, replication.caveat, *notes]
    if pair is None:
        return parts
    found, proved = pair
    return [*parts, found, found.meaning, *(f"Note: {note}" for note in found.notes), proved.identifies]


def _document(runs: list[str], replication: Any, pair: tuple[Any, Any] | None) -> dict[str, Any]:
    named = {"runs": runs, "replication": replication.to_dict()}
    if pair is None:
        return named
    found, proved = pair
    return {"run1": runs[0], "run2": runs[1], **found.to_dict(), "certificate": proved.to_dict(), **named}


def _write_page(
    out: Path | None, replication: Any, tables: list[Rows], pair: tuple[Any, Any] | None, names: list[str]
) -> None:
    if out is None:
        return
    from .. import report

    if pair is None:
        report.replication(out, replication)
        return
    first, second = map(_whole, tables)
    maps = {"alignment": pair[0], "certificate": pair[1]}
    report.compare(out, first, second, **maps, replication=replication, names=(names[0], names[1]))


def _names(runs: list[str]) -> list[str]:
    """Call runs by the names of their files, or by their whole paths where these are alike."""
    short = [Path(run).name for run in runs]
    return short if len(set(short)) == len(runs) else runs


def _opened(run: str, name: str) -> Rows:
    """Open a run: in blocks what can be read in blocks, else whole."""
    path = Path(run)
    suffix = path.suffix.lower()
    several = suffix == ".safetensors" and path.is_file() and len(keys_of(path)) > 1
    if not path.is_dir() and (suffix not in _STREAMED or several):
        return array_rows(read_latents(run, _KEYS).values, 8192)
    try:
        return file_rows(path, lambda n_columns: 8192)
    except ValueError as error:
        raise ValueError(str(error).replace("`X`", f"`{name}`")) from None


def _whole(table: Rows) -> np.ndarray:
    return np.asarray(table.take(0, table.n_rows))
