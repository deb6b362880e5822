"""`unmix compare`: which latents of a run are found in other runs, and up to which map two runs agree."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ..rows import Rows
from ..tables import check_writable
from ._features import compare_features, is_sae
from ._output import Json, Seed, print_json, progress, taking, tell
from ._reading import Force, refuse_existing
from ._runs import Run, open_runs, verdicts
from ._verdict import DOMAINS, Effort, Spend, short

COMPARE_EXAMPLE = (
    "Example: [bold]unmix compare run1.npy run2.npy run3.npy --out runs.html[/] or "
    "[bold]unmix compare model1 model2 --data x.csv[/]"
)
_ENTRIES, _WIDTH = 2 * 10**7, 512  # maps between two runs are fitted up to this size and width


@dataclass(frozen=True)
class Compare:
    """Options of `unmix compare`."""

    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN1 RUN2 ...",
            help="Latents or activations of two or more runs, files or folders of shards; row i of all "
            "belongs to the same input. Or models of `unmix fit`, with --data; or sparse autoencoders in any "
            "layout, with the activations as --data or without. The first is the reference.",
        ),
    ]
    data: Annotated[
        str | None,
        typer.Option("--data", help="Data that the models were fitted to, for codes and verdicts."),
    ] = None
    domains: Annotated[str | None, typer.Option("--domains", help=DOMAINS)] = None
    effort: Spend = Effort["quick"]
    threshold: Annotated[
        float, typer.Option("--threshold", help="The correlation that a latent must reach to replicate.")
    ] = 0.9
    held_out: Annotated[
        float,
        typer.Option(
            "--held-out",
            help="Share of rows to score on that nothing was fitted to; without it a third for the list of "
            "latents, and none for the maps between two runs.",
        ),
    ] = 0.0
    scale: Annotated[
        bool, typer.Option("--scale", help="Let the signed permutation have one common scale.")
    ] = False
    out: Annotated[Path | None, typer.Option("--out", help="HTML file to write a report to.")] = None
    random_state: Seed = 0
    force: Force = False
    as_json: Json = False


@taking(Compare)
def compare(given: Compare) -> None:
    """Say latent by latent whether other runs have it; of two runs also up to which map they agree.

    Beside each latent of a model stands the verdict of `unmix trust`: agreement is not identification.
    """
    if given.out is not None:
        check_writable(given.out, (".html", ".htm"))
    refuse_existing(given.out, given.force)
    if len(given.runs) < 2:
        raise ValueError(
            f"`RUN1 RUN2 ...` must be at least two runs, got {len(given.runs)}. Name another file."
        )
    if all(map(is_sae, given.runs)):
        compare_features(given)
        return
    runs = open_runs(given.runs, given.data, given.domains)
    replication = _replicated(runs, given)
    pair = _maps([run.codes for run in runs], given)
    replication = replication.beside(verdicts(runs, given.effort))
    _write_page(given.out, replication, runs, pair)
    if given.as_json:
        print_json(_document(given.runs, replication, pair))
    else:
        tell(*_story(replication, pair), *([] if given.out is None else [f"Report: {given.out}"]))


def _replicated(runs: list[Run], given: Compare) -> Any:
    from ..metrics import replicate

    with progress("Comparing") as moved:
        return replicate(
            [run.codes for run in runs],
            names=[run.name for run in runs],
            threshold=given.threshold,
            held_out=given.held_out or 1 / 3,
            random_state=given.random_state,
            on_progress=moved,
        )


def _maps(tables: list[Rows], given: Compare) -> tuple[Any, Any] | None:
    """Fit maps between two runs and certify them, where both are small enough to be in memory at once."""
    size = sum(table.n_rows * table.n_features for table in tables)
    if len(tables) > 2 or size > _ENTRIES or max(table.n_features for table in tables) > _WIDTH:
        return None
    from ..metrics import align
    from ..theory import certify_pair

    first, second = map(_whole, tables)
    seed = given.random_state
    found = align(first, second, scale=given.scale, held_out=given.held_out, random_state=seed)
    return found, certify_pair(first, second, scale=True, random_state=seed)


def _story(replication: Any, pair: tuple[Any, Any] | None) -> list[Any]:
    """Say what was found: the list, then the maps, and beside agreement what it is not."""
    notes = [f"Note: {note}" for note in replication.notes]
    parts = [replication, replication.meaning, replication.caveat, *notes]
    if pair is not None:
        found, proved = pair
        parts += [found, found.meaning, *(f"Note: {note}" for note in found.notes), proved.identifies]
    return [*parts, *_trust_story(replication)]


def _trust_story(replication: Any) -> list[str]:
    """Tell the verdict on each latent of the reference as `unmix trust` does; of others how many."""
    trust = replication.verdicts.get(replication.names[0])
    lines = ["", *replication.known] if replication.known else []
    return lines if trust is None else [*lines, "", f"{replication.names[0]}, the reference:", *short(trust)]


def _document(runs: list[str], replication: Any, pair: tuple[Any, Any] | None) -> dict[str, Any]:
    judged = {name: trust.to_dict() for name, trust in replication.verdicts.items()}
    named = {"runs": runs, "replication": replication.to_dict(), "trust": judged}
    if pair is None:
        return named
    found, proved = pair
    return {"run1": runs[0], "run2": runs[1], **found.to_dict(), "certificate": proved.to_dict(), **named}


def _write_page(out: Path | None, replication: Any, runs: list[Run], pair: tuple[Any, Any] | None) -> None:
    if out is None:
        return
    from .. import report

    if pair is None:
        report.replication(out, replication)
        return
    first, second = (_whole(run.codes) for run in runs)
    maps = {"alignment": pair[0], "certificate": pair[1]}
    report.compare(out, first, second, **maps, replication=replication, names=(runs[0].name, runs[1].name))


def _whole(table: Rows) -> np.ndarray:
    return np.asarray(table.take(0, table.n_rows))
