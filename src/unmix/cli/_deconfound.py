"""`unmix deconfound`: a table without its batches, and what that cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ..tables import check_writable, names_in, read_metadata
from ._output import Json, Seed, print_json, progress, say, taking, tell
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

EXAMPLE = (
    "Example: [bold]unmix deconfound emb.parquet --meta meta.csv --batch experiment plate --label gene "
    "--control \"gene == 'EMPTY_control'\" --task treatment --out clean.parquet[/]"
)
_FOUND = 0.2  # share of the comparison that is done once components are found
_WORDS = "Several words, commas, or given several times."


def _several(name: str, text: str) -> Any:
    return typer.Option(name, help=text, show_default=False)


@dataclass(frozen=True)
class Deconfound:
    """Options of `unmix deconfound`."""

    x: Annotated[
        str, typer.Argument(metavar="X", help="Table: CSV, TSV, Parquet, Feather, H5AD, NPZ; comes first.")
    ]
    batch: Annotated[
        list[str], _several("--batch", f"Columns that name the batch, from coarse to fine. {_WORDS}")
    ]
    out: Annotated[Path, typer.Option("--out", help="Adjusted table to write, with ids and metadata.")]
    meta: Annotated[
        str | None, typer.Option("--meta", help="Table of metadata, joined by --id.", show_default=False)
    ] = None
    label: Annotated[
        list[str] | None, _several("--label", "Columns that name what was done to a row. Only scored by.")
    ] = None
    control: Annotated[
        str | None,
        typer.Option(
            "--control",
            help="Rows that nothing was done to: \"gene == 'EMPTY'\", with ==, !=, <, >, in [...], and, or, "
            "not, parentheses. Without it all rows stand in for controls.",
            show_default=False,
        ),
    ] = None
    task: Annotated[
        list[str] | None,
        _several(
            "--task", "Columns that name one treatment: the unit of profiles, and what trees tell apart."
        ),
    ] = None
    relation: Annotated[
        list[str] | None, _several("--relation", "Columns that name what different labels share.")
    ] = None
    method: Annotated[
        str, typer.Option(help="What the adjusted table is made by; the table of methods lists them.")
    ] = "anchored"
    compare: Annotated[
        list[str] | None,
        _several("--compare", "Methods to compare; `none` writes the table and no page. [default: all]"),
    ] = None
    max_rows: Annotated[
        int,
        typer.Option(
            "--max-rows", help="Rows to compare methods on, in whole batches; fewer of wide tables."
        ),
    ] = 10_000
    report: Annotated[
        Path | None,
        typer.Option("--report", help="HTML page to write. [default: OUT.html]", show_default=False),
    ] = None
    features: Features = None
    drop: Drop = None
    id: Id = None
    missing: Missing = "error"
    layer: Layer = None
    obsm: Obsm = None
    force: Force = False
    random_state: Seed = 0
    as_json: Json = False


@taking(Deconfound)
def deconfound(given: Deconfound) -> None:
    """Take the effect of batches out of a table, and say what every method gives away and keeps."""
    from .. import deconfound as room

    report = _checked(given, room)
    with progress("Reading") as moved:
        source = room.open_source(given.x, columns_from(given, _columns(given, room)), on_progress=moved)
    metadata = _metadata(source, given, room)
    names = {key: _named(getattr(given, key), metadata) for key in ("batch", "label", "task", "relation")}
    where = room.design(metadata, names.pop("batch"), given.control)
    known = room.known_of(metadata, **names)
    confounded = room.confounding_of(where, known)
    say_notes(source.table.notes)
    _say_first(where, confounded)
    few = None if report is None else _compared_on(source, where, given, room)
    with progress("Adjusting") as moved:
        settings: dict[str, Any] = {"method": given.method, "random_state": given.random_state, "also": few}
        _, rows = room.adjust_file(source, where, given.out, on_progress=moved, **settings)
    say(f"unmix: adjusted table written: {given.out}")
    found = (
        None if few is None else _compared(rows, source.names, where.rows(few), known.rows(few), given, room)
    )
    if report is not None and found is not None:
        _write_page(report, given, found, confounded)
    _tell(given, source, where, confounded, found, report)


def _checked(given: Deconfound, room: Any) -> Path | None:
    """Refuse what can't be written or is not known before anything is read; return the page to write."""
    check_writable(given.out)
    refuse_existing(given.out, given.force)
    compared = _methods(given, room)
    for name in (given.method, *compared):
        if name not in room.METHODS:
            raise ValueError(f"`--method` must be one of {', '.join(room.METHODS)}, got {name!r}.")
    if not compared:
        return None
    report = given.out.with_name(given.out.name + ".html") if given.report is None else given.report
    refuse_existing(check_writable(report, (".html", ".htm")), given.force, option="--report")
    return report


def _columns(given: Deconfound, room: Any) -> list[str]:
    """List the columns that options name, which are therefore no features."""
    named = [given.label, given.task, given.relation]
    return [
        *given.batch,
        *(name for names in named for name in names or ()),
        *room.columns_in(given.control or ""),
    ]


def _methods(given: Deconfound, room: Any) -> list[str]:
    asked = names_in(given.compare or [], list(room.METHODS))
    if asked == ["none"]:
        return []
    return list(dict.fromkeys([*(asked or room.METHODS), given.method]))


def _metadata(source: Any, given: Deconfound, room: Any) -> Mapping[str, np.ndarray]:
    """Return the metadata of the table, and those of another file joined to it."""
    own = dict(source.table.metadata)
    if source.table.ids is not None and not source.table.ids_from:
        own.setdefault(source.table.id_name or given.id or "id", source.table.ids)
    if given.meta is None:
        return own
    other = read_metadata(given.meta)
    key = room.shared_key(list(own), other, given.id)
    there = all(name in own for name in key)
    ids = room.names_of_rows(own, key) if there else source.table.ids
    if ids is None:
        raise ValueError(
            f"`--id` must name a column of X, got {','.join(key)!r}. Its columns are: {', '.join(own)}."
        )
    return {**own, **room.joined_by_id(ids, other, key)}


def _named(given: list[str] | None, metadata: Mapping[str, Any]) -> list[str]:
    return names_in(given or [], list(metadata))


def _say_first(where: Any, confounded: Any) -> None:
    """Say what no method can undo, before any number that might please."""
    if confounded is not None:
        say(f"unmix: note: {confounded}")
    if not where.given:
        say("unmix: note: Without --control all rows stand in for controls: what labels do to the mean of a")
        say("unmix: note: batch is taken out with the batch.")


def _compared_on(source: Any, where: Any, given: Deconfound, room: Any) -> np.ndarray:
    """Draw the rows that methods are compared on, and say so where these are not all."""
    few = room.some_batches(where, source.n_features, given.max_rows, given.random_state)
    if len(few) < source.n_rows:
        told = f"{len(few):,} of {source.n_rows:,} rows, {len(np.unique(where.batch[few])):,} whole batches"
        say(f"unmix: note: Methods are compared on {told}; all rows are adjusted.")
    return few


def _compared(rows: np.ndarray, names: Any, where: Any, known: Any, given: Deconfound, room: Any) -> Any:
    """Score every method, and gather the evidence on components."""
    with progress("Comparing") as moved:
        moved(0.0)
        found = room.components(rows, where, random_state=given.random_state).listed(names)
        scored = room.judged(
            rows,
            where,
            known,
            methods=_methods(given, room),
            random_state=given.random_state,
            on_progress=lambda name, share: moved(_FOUND + (1 - _FOUND) * share),
        )
    return scored, found


def _write_page(report: Path, given: Deconfound, found: tuple[Any, Any], confounded: Any) -> None:
    from .. import report as pages

    scored, listed = found
    pages.deconfounding(
        report,
        scored,
        confounding=confounded,
        components=listed,
        method=given.method,
        source=Path(given.x).name,
    )


def _tell(
    given: Deconfound,
    source: Any,
    where: Any,
    confounded: Any,
    found: tuple[Any, Any] | None,
    report: Path | None,
) -> None:
    size = {"n_samples": source.n_rows, "n_features": source.n_features, "n_batches": len(where.names)}
    if given.as_json:
        scored = {} if found is None else found[0].to_dict() | {"components": found[1]}
        told = {"confounding": None if confounded is None else confounded.to_dict()}
        files = {"out": given.out, "report": report, "method": given.method}
        print_json(files | size | scored | told)
        return
    if found is not None:
        tell(_drawn(found[0]), *found[0].legend, *found[0].notes, "", _technical(found[1]), "")
    tell(f"{source.n_rows:,} rows in {len(where.names):,} batches, adjusted by {given.method}: {given.out}")
    if report is not None:
        tell(f"Report: {report}")


def _drawn(scored: Any) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    heads, rows = scored.lines(intervals=False)
    drawn = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 0))
    for head in heads:
        drawn.add_column(head, no_wrap=head == "method", overflow="fold")
    for row in rows:
        drawn.add_row(*row)
    return drawn


def _technical(listed: list[dict[str, Any]]) -> str:
    """Name the technical components and what they load on."""
    called = [line for line in listed if line["technical"]]
    if not called:
        return (
            f"None of {len(listed)} independent components is technical by what batch explains on controls."
        )
    first = called[0]
    return (
        f"{len(called)} of {len(listed)} independent components are technical; of the first one batch "
        f"explains {first['eta_squared']:.0%} on controls (chance {first['null']:.0%}): "
        f"{', '.join(first['features'])}."
    )
