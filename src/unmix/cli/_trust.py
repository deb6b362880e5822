"""`unmix trust`: one calibrated verdict for each latent of a model, with its evidence."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from .._files import atomic_write
from ..tables import check_writable
from ._features import is_sae, trust_features
from ._images import domains_of, of_images, pixels_of
from ._images import read as read_images
from ._known import dataset, labels, read_with_truth, take_out
from ._models import columns_for, load
from ._naming import beside
from ._output import Json, print_json, taking, tell, write_json
from ._reading import Force, refuse_existing
from ._verdict import DOMAINS, Effort, Spend, evidence, short

EXAMPLE = "Example: [bold]unmix trust model data.npz --effort full --out verdict.html[/]"
_OUT = (".html", ".htm", ".json", ".txt")


@dataclass(frozen=True)
class Trust:
    """Options of `unmix trust`."""

    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model written by `unmix fit`.")]
    data: Annotated[str, typer.Argument(metavar="DATA", help="The data that it was fitted to.")]
    domains: Annotated[str | None, typer.Option("--domains", help=DOMAINS)] = None
    effort: Spend = Effort["quick"]
    out: Annotated[
        Path | None, typer.Option("--out", help="File to write the verdict to: .html, .json or .txt.")
    ] = None
    random_state: Annotated[
        int | None,
        typer.Option(
            "--random-state", "--seed", help="Seed of halves and refits. [default: that of the model]"
        ),
    ] = None
    force: Force = False
    as_json: Json = False


@taking(Trust)
def trust(given: Trust) -> None:
    """Say of each latent how likely it is right, by which evidence, and what the weakest link is."""
    from ..evidence import trust as judge

    if given.out is not None:
        check_writable(given.out, _OUT)
    refuse_existing(given.out, given.force)
    if is_sae(given.model):
        _judge_features(given)
        return
    fitted = load(given.model)
    if of_images(fitted):
        return _of_images(fitted, given)
    table, truth = read_with_truth(given.data, model=fitted, labels=(given.domains,))
    rest, taken = take_out(table, (given.domains,))
    known = labels(given.domains, taken, "--domains", table="DATA", rows=table)
    settings: dict[str, Any] = {"effort": given.effort, "random_state": given.random_state, "verbose": True}
    found = judge(fitted, columns_for(fitted, rest), domains=known, **settings)
    _tell(given, found, model=fitted, data=dataset(rest, truth, fitted), **beside(rest))


def _of_images(fitted: Any, given: Trust) -> None:
    """Judge a model of images."""
    from ..evidence import trust as judge

    data = read_images(given.data, "DATA")
    known = domains_of(given.domains, fitted, data, needed=False)
    settings: dict[str, Any] = {"effort": given.effort, "random_state": given.random_state, "verbose": True}
    _tell(given, judge(fitted, pixels_of(data), domains=known, **settings), model=fitted, data=data)


def _judge_features(given: Trust) -> None:
    """Judge a sparse autoencoder in any layout, on a store of activations."""
    model, store, found = trust_features(given)
    _tell(given, found, model=model, data=store)


def _tell(given: Trust, found: Any, **known: Any) -> None:
    """Write the verdict where that is asked for, and print it."""
    lines = [*short(found), *evidence(found)]
    _write(given.out, found, lines, **known)
    if given.as_json:
        print_json(found.to_dict())
    else:
        tell(*lines, *([] if given.out is None else [f"Written: {given.out}"]))


def _write(out: Path | None, found: Any, lines: list[str], **known: Any) -> None:
    """Write the verdict in the format that the suffix names, atomically."""
    if out is None or out.suffix.lower() == ".json":
        write_json(out, found.to_dict())
    elif out.suffix.lower() == ".txt":
        atomic_write(out, "\n".join(lines) + "\n")
    else:
        from ..report import write

        write(out, trust=found, **known)
