"""`unmix fit` and `unmix transform`: from a table to a model, and from a model to latents."""

import shutil
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from .. import _tables
from ._known import labels, slots_of, take_out
from ._models import DOMAINS, checkpoint_beside, columns_for, fit_and_save, load, make
from ._output import Json, Seed, one_line, print_json, say, tell

FIT_EXAMPLE = (
    "Example: [bold]unmix fit data.npz --n-components 5 --out model[/]. Killed? The same command goes on."
)
TRANSFORM_EXAMPLE = "Example: [bold]unmix transform model data.npz --out latents.csv[/]"

_CHANGING = ("domains_", "domain_means_", "domain_scales_", "guaranteed_", "needed_domains_")
_SLOTS = ("partition_",)
_RESTING = ("found_", "spike_mass_", "masks_", "weights_", "flags_")  # of latents that rest in a mixture

Data = Annotated[
    str, typer.Argument(metavar="X", help="Table to read: CSV, NPY, Parquet or NPZ (`file.npz:key`).")
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="Model written by `unmix fit`.")]


class Method(StrEnum):
    """Methods that `unmix fit` knows."""

    ddl = "ddl"
    ae = "ae"
    vae = "vae"
    pdgmm = "pdgmm"
    cgvae = "cgvae"
    ivae = "ivae"
    slots = "slots"


def fit(
    x: Data,
    n_components: Annotated[int, typer.Option("--n-components", help="Number of latents to look for.")],
    out: Annotated[Path, typer.Option("--out", help="Where to write the model.")],
    method: Annotated[
        Method,
        typer.Option(
            help="ddl: diverse dictionary learning; pdgmm: latents that rest in some components of a "
            "mixture; cgvae: latents that change between domains; slots: latents in groups that move "
            "variables of their own; ae, vae, ivae (which is told the domains): autoencoders to compare with."
        ),
    ] = Method.ddl,
    n_restarts: Annotated[int | None, typer.Option("--n-restarts", help="Random starts.")] = None,
    max_iter: Annotated[int | None, typer.Option("--max-iter", help="Passes over the data.")] = None,
    weight: Annotated[float | None, typer.Option(help="Weight of the penalty (ddl, cgvae, slots).")] = None,
    domains: Annotated[
        str | None,
        typer.Option(
            "--domains",
            help="For cgvae and ivae: a column of X, or a file with one number per row (x.npz:u).",
        ),
    ] = None,
    slots: Annotated[
        str | None,
        typer.Option(
            help="For slots: how many equal ones, or the latents of each (0,1/2,3). [default: counted]",
            show_default=False,
        ),
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    causal: Annotated[
        bool,
        typer.Option("--causal", help="Look for the causal graph of the latents, and draw it in a report."),
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option("--report", help="HTML report to write. [default with --causal: OUT.html]"),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Forget the checkpoint of an earlier, killed fit.")
    ] = False,
    random_state: Seed = 0,
    as_json: Json = False,
) -> None:
    """Fit a model that explains the table by a few latents, and save it."""
    checkpoint = checkpoint_beside(out)
    report = out.with_name(out.name + ".html") if causal and report is None else report
    if report is not None:
        _tables.check_writable(report, (".html", ".htm"))
    if causal and find_spec("causallearn") is None:
        raise ImportError("`--causal` needs causal-learn: pip install 'unmix[causal]'.")
    table, known = _known(_tables.read(x), method, domains)
    if fresh:
        shutil.rmtree(checkpoint, ignore_errors=True)
    settings = {"n_restarts": n_restarts, "max_iter": max_iter, "weight": weight, "device": device}
    settings["slots"] = None if slots is None else slots_of(slots)
    model = fit_and_save(
        make(method, n_components, random_state=random_state, **settings), table, out, **known
    )
    graph = _causal_graph(model, table.values) if causal else None
    if report is not None:
        _write_report(report, model, x, graph)
    if as_json:
        print_json(fit_document(out, model) | {"graph": graph, "report": report})
    else:
        tell(*fit_story(model), f"Model: {out}", *([] if report is None else [f"Report: {report}"]))


def _known(table: _tables.Table, method: str, domains: str | None) -> tuple[_tables.Table, dict[str, Any]]:
    """Separate the domains from the observed variables, for the methods that use them."""
    if (domains is not None) != (method in DOMAINS):
        what = "name a column of X or a file" if domains is None else "be left out"
        raise ValueError(f"`--domains` must {what} for --method {method}, got {domains or 'nothing'}.")
    rest, taken = take_out(table, (domains,))
    return rest, {} if domains is None else {"domains": labels(domains, taken, "--domains", table="X")}


def _causal_graph(model: Any, x: np.ndarray) -> np.ndarray | None:
    """Find the causal graph of the latents, where they are active if the model can tell; or say why not."""
    from ..estimators import causal_graph

    active = model.activity(x) if hasattr(model, "activity") else None
    try:
        return causal_graph(model.transform(x), active=active)
    except ValueError as error:  # the fit is worth keeping
        say(f"unmix: warning: no causal graph: {one_line(str(error))}")
        return None


def _write_report(path: Path, model: Any, x: str, graph: np.ndarray | None) -> None:
    from ..report import write
    from ._judge import dataset

    write(path, model=model, data=dataset(x, model), graph=graph)


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


def fit_document(out: Path, model: Any) -> dict[str, Any]:
    """Return what a program wants to know about a fit."""
    return {
        "out": out,
        "method": type(model).__name__,
        "n_components": model.structure_.n_latents,
        "n_features_in": model.n_features_in_,
        "n_iter": model.n_iter_,
        "structure": model.structure_.support.astype(int),
        "margin": model.structure_.margin,
        "restarts": getattr(model, "restarts_", None),
        "history": {name: term[-1] for name, term in model.history_.terms.items() if len(term)},
    } | {
        name.rstrip("_"): getattr(model, name)
        for name in (*_RESTING, *_CHANGING, *_SLOTS)
        if hasattr(model, name)
    }


def fit_story(model: Any) -> tuple[Any, ...]:
    """Return what a person wants to know about a fit."""
    if hasattr(model, "masks_"):  # latents that rest: the mixing itself is dense, and no news
        clear = f"{int(model.found_.sum())} of {len(model.found_)} latents have a clear value of rest"
        return (f"{type(model).__name__}: {clear}; {len(model.masks_)} components.",)
    structure = model.structure_
    margin = "" if structure.margin is None else f", margin {structure.margin:.1f}"
    found = f"{type(model).__name__}: {structure.n_edges} dependencies of {structure.support.size}{margin}"
    return (*_domain_story(model), *_slot_story(model), found, structure)


def _domain_story(model: Any) -> tuple[str, ...]:
    """Say which latents the learnt graph and the domains at hand guarantee."""
    if not hasattr(model, "guaranteed_"):
        return ()
    sure, n = int(model.guaranteed_.sum()), model.n_domains_
    rest = "" if sure == len(model.guaranteed_) else f"; all would need {model.needed_domains_.max()} domains"
    return (f"{n} domains guarantee {sure} of {len(model.guaranteed_)} latents of this graph{rest}.",)


def _slot_story(model: Any) -> tuple[str, ...]:
    """Say which latents make up each slot."""
    if not hasattr(model, "partition_"):
        return ()
    slots = model.partition_
    named = "; ".join(", ".join(f"z{j}" for j in slot) for slot in slots)
    return (f"{len(slots)} slot{'s' * (len(slots) != 1)}: {named}.",)
