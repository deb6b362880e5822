"""`unmix explore`: one page in which latents can be looked at from all sides."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from ..tables import Columns, Table, check_writable
from ._features import is_sae, judged, loaded, store_of
from ._images import domains_of, of_images
from ._images import read as read_images
from ._judge import refuse_columns
from ._known import dataset, labels, read_with_truth, take_out
from ._models import columns_for, load
from ._naming import Sets, beside, checked
from ._output import Json, print_json, taking, tell
from ._reading import Force, Id, refuse_existing
from ._verdict import DOMAINS, Effort, Spend, short, warn

EXAMPLE = "Example: [bold]unmix explore model --data data.csv --out explorer.html[/]"


@dataclass(frozen=True)
class Explore:
    """Options of `unmix explore`."""

    models: Annotated[
        list[Path],
        typer.Argument(
            metavar="MODEL [OTHER ...]",
            help="Model of `unmix fit`, or sparse autoencoder in any layout. Latents of tables are found "
            "again in the other models.",
        ),
    ]
    data: Annotated[str, typer.Option("--data", help="Table, images or activations to show it on.")]
    out: Annotated[Path | None, typer.Option("--out", help="HTML file to write.")] = None
    serve: Annotated[
        bool,
        typer.Option("--serve", help="Serve all rows of a large table to this machine, on 127.0.0.1."),
    ] = False
    port: Annotated[int, typer.Option("--port", help="Port to serve on; 0 for any.", min=0, max=65535)] = 0
    effort: Spend = Effort["none"]
    domains: Annotated[str | None, typer.Option("--domains", help=DOMAINS)] = None
    id: Id = None
    variable_sets: Sets = None
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None
    force: Force = False
    as_json: Json = False


@taking(Explore)
def explore(given: Explore) -> None:
    """Write a page to look around in: latents by trust, what each moves, examples, any two in a plane."""
    _check(given)
    found, trust = _gathered(given)
    if given.out is not None:
        found.write(given.out)
    _say(given, found, trust)
    if given.serve:
        from ..report import serve

        serve(found, port=given.port, told=lambda address: tell(f"Open {address} . Ctrl-C ends it."))


def _check(given: Explore) -> None:
    """Refuse what can't be written before any work is done."""
    if given.out is None and not given.serve:
        raise ValueError("`--out` must name the HTML file to write, got nothing. Or pass --serve.")
    if given.serve and given.as_json:
        raise ValueError("`--json` must be left out with --serve, which does not end by itself.")
    if given.out is not None:
        check_writable(given.out, (".html", ".htm"))
    refuse_existing(given.out, given.force)


def _say(given: Explore, found: Any, trust: Any) -> None:
    if given.as_json:
        assert given.out is not None
        verdict = None if trust is None else trust.to_dict()
        told = {"out": given.out, "bytes": given.out.stat().st_size, "rows": found.n_rows, "trust": verdict}
        print_json(told | {"latents": len(found.about["latents"])})
    else:
        tell(*short(trust), *([] if given.out is None else [f"To look around: {given.out}"]))


def _gathered(given: Explore) -> tuple[Any, Any]:
    """Return what the page shows, and the verdict in it."""
    from ..report import explorer

    title: dict[str, Any] = {} if given.title is None else {"title": given.title}
    first = given.models[0]
    if is_sae(first):
        _alone(given, "a sparse autoencoder")
        if given.domains is not None:
            raise ValueError("`--domains` must be left out for a sparse autoencoder, which has none.")
        model = loaded(first)
        store = store_of(given.data, model)
        trust = judged(model, store, given.effort)
        return explorer(model=model, data=store, trust=trust, **title), trust
    model = load(first)
    if of_images(model):
        return _of_images(given, model, title)
    return _of_table(given, model, title)


def _of_images(given: Explore, model: Any, title: dict[str, Any]) -> tuple[Any, Any]:
    from ..report import explorer
    from ..report._image_material import judged as judge

    _alone(given, "a model of images")
    images = read_images(given.data)
    known = domains_of(given.domains, model, images, needed=False)
    trust, reason = judge(model, images, given.effort, known)
    warn(reason)
    return explorer(model=model, data=images, trust=given.effort if trust is None else trust, **title), trust


def _of_table(given: Explore, model: Any, title: dict[str, Any]) -> tuple[Any, Any]:
    from ..evidence import verdict_or_reason
    from ..report import explorer

    wanted = (given.domains,)
    table, truth = read_with_truth(given.data, columns=Columns(id=given.id), model=model, labels=wanted)
    rest, taken = take_out(table, wanted)
    known = labels(given.domains, taken, "--domains", rows=table)
    named = beside(rest, checked(given.variable_sets, rest))
    others = _others(given.models[1:])
    spent = {"domains": known, "effort": given.effort, "verbose": True}
    trust, reason = verdict_or_reason(model, columns_for(model, rest), **spent)
    warn(reason)
    shown: dict[str, Any] = {"domains": known, "trust": "none" if trust is None else trust, "others": others}
    shown["cells"] = _cells(table)
    data = dataset(rest, truth, model)
    return explorer(model=model, data=data, whole=given.serve, **shown, **named, **title), trust


def _cells(table: Table) -> Any:
    """Return the AnnData object that a table is of, without the rows that were left out."""
    return table.origin if table.origin is None or table.kept is None else table.origin[table.kept]


def _others(paths: list[Path]) -> dict[str, Any]:
    """Load the other models, called by their files, or by their paths where these are alike."""
    short_names = [path.name for path in paths]
    names = short_names if len(set(short_names)) == len(paths) else [str(path) for path in paths]
    return {name: load(path) for name, path in zip(names, paths, strict=True)}


def _alone(given: Explore, what: str) -> None:
    """Refuse options that are for tables."""
    refuse_columns(what, given.id, given.variable_sets)
    if len(given.models) > 1:
        raise ValueError(
            f"`MODEL` must be one for {what}, got {len(given.models)}. To compare: unmix compare."
        )
