"""`unmix fit`: from a table to a model, and to the verdict on it."""

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from .._findings import ability
from .._names import COMMANDS
from ..tables import Table, check_writable, is_large, survey
from ._fit_images import BOTH, fit_images
from ._images import is_images
from ._known import dataset, labels, read_with_truth, slots_of, take_out
from ._models import (
    checkpoint_beside,
    fit_and_save,
    forget_checkpoint,
    kind_of,
    make,
    recipe_of,
    remember_verdict,
)
from ._naming import Sets, beside, checked, described, named
from ._output import Json, Seed, one_line, print_json, progress, say, taking, tell
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
from ._verdict import Effort, Spend, judged, short

FIT_EXAMPLE = (
    "Example: [bold]unmix fit data.npz --n-components 5 --out model[/]. Killed? The same command goes on."
)

Method = StrEnum("Method", [*COMMANDS, BOTH])  # type: ignore[misc]


@dataclass(frozen=True)
class Fit:
    """Options of `unmix fit`."""

    x: Annotated[
        str,
        typer.Argument(
            metavar="X",
            help="Table: CSV or TSV (also gzipped), Parquet, Feather, H5AD, NPY or NPZ; or images: a folder, "
            "or NPY with four axes.",
        ),
    ]
    out: Annotated[Path, typer.Option("--out", help="Where to write the model.")]
    n_components: Annotated[
        int | None,
        typer.Option(
            "--n-components",
            help="Number of latents, or `auto`. [default: found first, as by `unmix choose`]",
            metavar="NUMBER",
            parser=lambda text: _asked(str(text)),
            show_default=False,
        ),
    ] = None
    method: Annotated[
        Method,
        typer.Option(
            help="ddl: diverse dictionary learning; pdgmm: latents that rest in some components of a "
            "mixture; cgvae: latents that change between domains; slots: latents in groups that move "
            "variables of their own; ica: independent components; sparse-basis: latents that rest "
            "at a value, behind a linear mixing; ae, vae, factorvae, tcvae, bioae, qlae, vqvae, ivae (which "
            "needs --domains): autoencoders to compare with, all but ivae also of images; ae+ica, "
            "of images: independent components of the code of an autoencoder; gan, cggan (which needs "
            "--domains), of images: generators; encdiff, disco, of images: scalars that a diffusion model is "
            "told, and directions of a GAN that is trained first."
        ),
    ] = Method["ddl"]
    preset: Annotated[
        str | None,
        typer.Option(
            help="Of images: a published recipe, hsu2023, locatello2019, yang2024 (encdiff) or ren2022 "
            "(disco). "
            "[default: its settings with networks for the size of the images, and 50 passes]",
            show_default=False,
        ),
    ] = None
    n_restarts: Annotated[int | None, typer.Option("--n-restarts", help="Random starts.")] = None
    max_iter: Annotated[int | None, typer.Option("--max-iter", help="Passes over the data.")] = None
    weight: Annotated[float | None, typer.Option(help="Weight of the penalty (ddl, cgvae, slots).")] = None
    domains: Annotated[
        str | None,
        typer.Option(
            "--domains",
            help="For cgvae and ivae: a column of X, several as one (a,b), or a file with a label per "
            "row; for cggan: a factor of the images, or such a file.",
        ),
    ] = None
    slots: Annotated[
        str | None,
        typer.Option(
            help="For slots: how many equal ones, or the latents of each (0,1/2,3). [default: counted]",
            show_default=False,
        ),
    ] = None
    samples: Annotated[
        Path | None,
        typer.Option(
            "--samples", help="For gan, cggan, encdiff and disco: folder for pictures while it trains."
        ),
    ] = None
    generator: Annotated[
        Path | None,
        typer.Option(
            "--generator",
            help="For disco: file of a fitted generator or autoencoder of such images. [default: a GAN is "
            "trained first, which takes much longer]",
            show_default=False,
        ),
    ] = None
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto"
    effort: Spend = Effort["none"]
    causal: Annotated[
        bool,
        typer.Option("--causal", help="Look for the causal graph of the latents, and draw it in a report."),
    ] = False
    report: Annotated[
        Path | None,
        typer.Option("--report", help="HTML report to write. [default with --causal: OUT.html]"),
    ] = None
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Forget the checkpoint of an earlier, killed fit.")
    ] = False
    features: Features = None
    drop: Drop = None
    id: Id = None
    variable_sets: Sets = None
    missing: Missing = "error"
    layer: Layer = None
    obsm: Obsm = None
    force: Force = False
    random_state: Seed = 0
    as_json: Json = False


@taking(Fit)
def fit(given: Fit) -> None:
    """Fit a model that explains the table by a few latents, save it, and say which can be trusted."""
    checkpoint, report = checkpoint_beside(given.out), _report_file(given)
    refuse_existing(given.out, given.force)
    refuse_existing(report, given.force, option="--report")
    if given.causal and find_spec("causallearn") is None:
        raise ImportError("`--causal` needs causal-learn: pip install 'unmix[causal]'.")
    if is_images(given.x):
        return fit_images(given, report)
    _refuse_what_is_for_images(given)
    table, truth, rows = _read(given)
    rest, known = _known(table, given.method, given.domains)
    sets = checked(given.variable_sets, rest)
    say_notes(table.notes)
    if given.fresh:
        forget_checkpoint(checkpoint)
    model = fit_and_save(_estimator(given, rest.values), rest, given.out, rows=rows, **known)
    with _saved(given):
        graph = _causal_graph(model, rest.values) if given.causal else None
        trust = judged(model, rest.values, known.get("domains"), given.effort)
        remember_verdict(model, trust, given.out)
        data, verdict = dataset(rest, truth, model), "none" if trust is None else trust
        _write(report, model, data=data, graph=graph, trust=verdict, **beside(rest, sets))
        about = described(model, rest, sets)
    _tell(given, model.findings(), trust, {"graph": graph, "report": report, "description": about})


def _read(given: Fit) -> tuple[Table, dict[str, Any], Any]:
    """Read the table and what is known of it; of one larger than memory some rows, and how to read all."""
    columns = columns_from(given)
    streams = given.domains is None and "rows" in getattr(kind_of(given.method), "takes", ())
    if streams and is_large(given.x, columns):
        with progress("Reading") as moved:
            found = survey(given.x, columns, on_progress=moved)
        shown = f"{len(found.table.values):,} of {found.rows.n_rows:,} rows"
        say(f"unmix: note: The table is read in blocks; what is told of it is told of {shown}.")
        return found.table, {}, found.rows
    return *read_with_truth(given.x, columns=columns, labels=(given.domains,)), None


def _write(report: Path | None, model: Any, **shown: Any) -> None:
    """Write the page, where one is wanted."""
    if report is not None:
        from ..report import write

        write(report, model=model, notes="\n\n".join(recipe_of(model).story), **shown)


@contextmanager
def _saved(given: Fit) -> Iterator[None]:
    """Say, where somebody waits no longer, that the model is there and how to check it."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"unmix: interrupted. The model is saved. To check it: {_check(given)}")
        sys.exit(130)


def _tell(given: Fit, found: Any, trust: Any, more: dict[str, Any]) -> None:
    """Print what was found, what it stands for, and the verdict on it."""
    about = more.pop("description")
    if given.as_json:
        more["description"] = about.to_dict()
        told = {"out": given.out, "trust": None if trust is None else trust.to_dict()}
        print_json(told | found.to_dict() | more)
    else:
        written = [f"Model: {given.out}", *([f"Report: {more['report']}"] if more["report"] else [])]
        tell(*found.story, "", *named(about), "", *short(trust, _check(given)), "", *written)


def _check(given: Fit) -> str:
    """Name the command that checks the model."""
    domains = [] if given.domains is None else ["--domains", given.domains]
    effort = "quick" if given.effort == "none" else "full"
    return shlex.join(["unmix", "trust", str(given.out), given.x, *domains, "--effort", effort])


def _report_file(given: Fit) -> Path | None:
    """Name the page to write, and refuse one that can't be written."""
    beside = given.out.with_name(given.out.name + ".html") if given.causal else None
    report = beside if given.report is None else given.report
    return report if report is None else check_writable(report, (".html", ".htm"))


def _estimator(given: Fit, x: np.ndarray) -> Any:
    slots = None if given.slots is None else slots_of(given.slots)
    settings = {name: vars(given)[name] for name in ("n_restarts", "max_iter", "weight", "device")}
    n = _number(x) if given.n_components is None else given.n_components
    return make(given.method, n, random_state=given.random_state, slots=slots, **settings)


def _asked(text: str) -> int | None:
    """Read a number of latents; None where it is to be found."""
    if text == "auto":
        return None
    if not text.lstrip("-").isdigit():
        raise typer.BadParameter(f"must be a whole number or auto, got {text!r}.")
    return int(text)


def _number(x: np.ndarray) -> int:
    """Find the number of latents, and say so."""
    from ..estimators import found_number

    say("unmix: note: Looking for the number of latents, since --n-components says none.")
    n = found_number(x)
    say(f"unmix: note: {n} latents; `unmix choose` shows why.")
    return n


def _refuse_what_is_for_images(given: Fit) -> None:
    asked = {
        "--preset": given.preset is not None,
        "--samples": given.samples is not None,
        "--generator": given.generator is not None,
        f"--method {given.method.value}": _for_images_alone(given.method.value),
    }
    options = [option for option, is_asked in asked.items() if is_asked]
    if options and not Path(given.x).exists():
        raise ValueError(f"`{given.x}` must be a file or folder that exists. Check the path.")
    if options:
        raise ValueError(f"`{options[0]}` must be left out for tables: it is for images.")


def _for_images_alone(method: str) -> bool:
    return method == BOTH or "tables" not in getattr(kind_of(method), "takes", ("tables",))


def _known(table: Table, method: str, domains: str | None) -> tuple[Table, dict[str, Any]]:
    """Separate the domains from the observed variables, for the methods that use them."""
    if (domains is not None) != kind_of(method).needs_domains:
        what = "name a column of X or a file" if domains is None else "be left out"
        raise ValueError(f"`--domains` must {what} for --method {method}, got {domains or 'nothing'}.")
    rest, taken = take_out(table, (domains,))
    if domains is None:
        return rest, {}
    return rest, {"domains": labels(domains, taken, "--domains", table="X", rows=table)}


def _causal_graph(model: Any, x: np.ndarray) -> np.ndarray | None:
    """Find the causal graph of the latents, where they are active if the model can tell; or say why not."""
    from ..estimators import causal_graph

    told = ability(model, "activity")
    try:
        return causal_graph(model.transform(x), active=None if told is None else told(x))
    except ValueError as error:  # the fit is worth keeping
        say(f"unmix: warning: no causal graph: {one_line(str(error))}")
        return None
