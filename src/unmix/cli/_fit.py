"""`unmix fit` and `unmix transform`: from a table to a model, and from a model to latents."""

import shutil
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from .. import _tables
from .._findings import ability
from .._names import COMMANDS
from ._known import dataset, labels, read_with_truth, slots_of, take_out
from ._models import checkpoint_beside, columns_for, fit_and_save, kind_of, load, make
from ._output import Json, Seed, one_line, print_json, say, taking, tell
from ._verdict import Effort, Spend, judged, short

FIT_EXAMPLE = (
    "Example: [bold]unmix fit data.npz --n-components 5 --out model[/]. Killed? The same command goes on."
)
TRANSFORM_EXAMPLE = "Example: [bold]unmix transform model data.npz --out latents.csv[/]"

Data = Annotated[
    str, typer.Argument(metavar="X", help="Table to read: CSV, NPY, Parquet or NPZ (`file.npz:key`).")
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="Model written by `unmix fit`.")]


Method = StrEnum("Method", list(COMMANDS))  # type: ignore[misc]


@dataclass(frozen=True)
class Fit:
    """Options of `unmix fit`."""

    x: Data
    n_components: Annotated[int, typer.Option("--n-components", help="Number of latents to look for.")]
    out: Annotated[Path, typer.Option("--out", help="Where to write the model.")]
    method: Annotated[
        Method,
        typer.Option(
            help="ddl: diverse dictionary learning; pdgmm: latents that rest in some components of a "
            "mixture; cgvae: latents that change between domains; slots: latents in groups that move "
            "variables of their own; ae, vae, ivae (which needs --domains): autoencoders to compare with."
        ),
    ] = Method["ddl"]
    n_restarts: Annotated[int | None, typer.Option("--n-restarts", help="Random starts.")] = None
    max_iter: Annotated[int | None, typer.Option("--max-iter", help="Passes over the data.")] = None
    weight: Annotated[float | None, typer.Option(help="Weight of the penalty (ddl, cgvae, slots).")] = None
    domains: Annotated[
        str | None,
        typer.Option(
            "--domains",
            help="For cgvae and ivae: a column of X, or a file with one number per row (x.npz:u).",
        ),
    ] = None
    slots: Annotated[
        str | None,
        typer.Option(
            help="For slots: how many equal ones, or the latents of each (0,1/2,3). [default: counted]",
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
    random_state: Seed = 0
    as_json: Json = False


@taking(Fit)
def fit(given: Fit) -> None:
    """Fit a model that explains the table by a few latents, save it, and say which can be trusted."""
    checkpoint, report = checkpoint_beside(given.out), _report_file(given)
    if given.causal and find_spec("causallearn") is None:
        raise ImportError("`--causal` needs causal-learn: pip install 'unmix[causal]'.")
    table, truth = read_with_truth(given.x)
    rest, known = _known(table, given.method, given.domains)
    if given.fresh:
        shutil.rmtree(checkpoint, ignore_errors=True)
    model = fit_and_save(_estimator(given), rest, given.out, **known)
    graph = _causal_graph(model, rest.values) if given.causal else None
    trust = judged(model, rest.values, known.get("domains"), given.effort)
    if report is not None:
        from ..report import write

        verdict = "none" if trust is None else trust
        write(report, model=model, data=dataset(rest, truth, model), graph=graph, trust=verdict)
    _tell(given, model.findings(), trust, {"graph": graph, "report": report})


def _tell(given: Fit, found: Any, trust: Any, more: dict[str, Any]) -> None:
    """Print what was found and the verdict on it."""
    if given.as_json:
        told = {"out": given.out, "trust": None if trust is None else trust.to_dict()}
        print_json(told | found.to_dict() | more)
    else:
        written = [f"Model: {given.out}", *([f"Report: {more['report']}"] if more["report"] else [])]
        tell(*found.story, "", *short(trust, _check(given)), "", *written)


def _check(given: Fit) -> str:
    """Name the command that checks the model."""
    domains = "" if given.domains is None else f" --domains {given.domains}"
    effort = "quick" if given.effort == "none" else "full"
    return f"unmix trust {given.out} {given.x}{domains} --effort {effort}"


def _report_file(given: Fit) -> Path | None:
    """Name the page to write, and refuse one that can't be written."""
    beside = given.out.with_name(given.out.name + ".html") if given.causal else None
    report = beside if given.report is None else given.report
    return report if report is None else _tables.check_writable(report, (".html", ".htm"))


def _estimator(given: Fit) -> Any:
    slots = None if given.slots is None else slots_of(given.slots)
    settings = {name: vars(given)[name] for name in ("n_restarts", "max_iter", "weight", "device")}
    return make(given.method, given.n_components, random_state=given.random_state, slots=slots, **settings)


def _known(table: _tables.Table, method: str, domains: str | None) -> tuple[_tables.Table, dict[str, Any]]:
    """Separate the domains from the observed variables, for the methods that use them."""
    if (domains is not None) != kind_of(method).needs_domains:
        what = "name a column of X or a file" if domains is None else "be left out"
        raise ValueError(f"`--domains` must {what} for --method {method}, got {domains or 'nothing'}.")
    rest, taken = take_out(table, (domains,))
    return rest, {} if domains is None else {"domains": labels(domains, taken, "--domains", table="X")}


def _causal_graph(model: Any, x: np.ndarray) -> np.ndarray | None:
    """Find the causal graph of the latents, where they are active if the model can tell; or say why not."""
    from ..estimators import causal_graph

    told = ability(model, "activity")
    try:
        return causal_graph(model.transform(x), active=None if told is None else told(x))
    except ValueError as error:  # the fit is worth keeping
        say(f"unmix: warning: no causal graph: {one_line(str(error))}")
        return None


def transform(
    model: Model,
    x: Data,
    out: Annotated[Path, typer.Option("--out", help="Table of latents to write: CSV, NPY, NPZ or Parquet.")],
    as_json: Json = False,
) -> None:
    """Compute the latents of every row of a table."""
    _tables.check_writable(out)
    fitted = load(model)
    z_hat = np.asarray(fitted.transform(columns_for(fitted, _tables.read(x))))
    _tables.write(out, z_hat, [f"z{j}" for j in range(z_hat.shape[1])], key="z")
    if as_json:
        print_json({"out": out, "n_samples": len(z_hat), "n_components": z_hat.shape[1]})
    else:
        tell(f"{len(z_hat):,} rows of {z_hat.shape[1]} latents: {out}")
