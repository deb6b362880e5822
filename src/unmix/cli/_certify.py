"""`unmix certify`: which theorems apply, what is then identified, and what is missing for more."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .. import _tables
from .._files import atomic_write
from ._known import array, labels, named_sets, numbers_in_parts, partition_of, source_of, table_of
from ._output import Json, Seed, print_json, tell, write_json

EXAMPLE = (
    "Example: [bold]unmix certify mask.csv --set A=0,1 --set B=2,3 --ask 'A - B'[/] or "
    "[bold]unmix certify model --data x.npy --stability 100 --out answer.html[/]"
)
_OUT = (".html", ".htm", ".json", ".txt")


def certify(
    source: Annotated[
        Path,
        typer.Argument(metavar="MASK|MODEL", help="Structure of 0 and 1 (CSV, NPY, JSON, NPZ) or a model."),
    ],
    data: Annotated[
        str | None, typer.Option("--data", help="Data that the model was fitted to: codes and Jacobians.")
    ] = None,
    independent: Annotated[
        bool, typer.Option("--independent", help="Assume that the latents are independent.")
    ] = False,
    groups: Annotated[
        str | None, typer.Option("--groups", help="Observed variables that count as one: 0,1/2,3/4.")
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", help="A named set of observed variables, A=0,1; two are compared."),
    ] = None,
    ask: Annotated[
        str | None, typer.Option("--ask", help="A region to ask about, such as '(A & B) - C'.")
    ] = None,
    domains: Annotated[
        str | None,
        typer.Option(
            "--domains", help="Number of domains, a column of the data, or a file with one label per row."
        ),
    ] = None,
    masks: Annotated[
        str | None, typer.Option("--masks", help="Which latents vary in which kind of sample: a row each.")
    ] = None,
    components: Annotated[
        str | None, typer.Option("--components", help="The kind of each row: a column of the data or a file.")
    ] = None,
    jacobians: Annotated[
        str | None,
        typer.Option("--jacobians", help="Jacobians, an NPY file of shape (n, observed, latents)."),
    ] = None,
    partition: Annotated[
        str | None,
        typer.Option("--partition", help="Slots of latents: their number, 0,1/2,3, or `finest`."),
    ] = None,
    codes: Annotated[
        str | None, typer.Option("--codes", help="Latents of each row. [default: of the model]")
    ] = None,
    against: Annotated[
        str | None, typer.Option("--against", help="Latents of the same rows in a second run.")
    ] = None,
    refits: Annotated[
        list[Path] | None, typer.Option("--refit", help="Mask or model of a refit; give at least two.")
    ] = None,
    n_refits: Annotated[
        int, typer.Option("--refits", help="Fit the model so often to random halves of the data.")
    ] = 0,
    stability: Annotated[
        int, typer.Option("--stability", help="Read the structure so often off resampled Jacobians.")
    ] = 0,
    out: Annotated[
        Path | None, typer.Option("--out", help="File to write the answer to: .html, .json or .txt.")
    ] = None,
    random_state: Seed = 0,
    as_json: Json = False,
) -> None:
    """Say which theorems apply, what they identify up to what, and what is missing for more."""
    if out is not None:
        _tables.check_writable(out, _OUT)
    if stability and jacobians is None and data is None:
        raise ValueError("`--stability` must be given with --data or --jacobians, got neither. Add one.")
    structure, model = source_of(source)
    table, taken = table_of(data, model, (domains, components))
    from ..theory import explain

    found = explain(
        structure,
        model=model,
        x=table,
        jacobians=None if jacobians is None else array(jacobians, 3, "--jacobians"),
        z=None if codes is None else _tables.read(codes, keys=("z_hat", "z")).values,
        independent_latents=independent,
        groups=None if groups is None else numbers_in_parts(groups, "--groups"),
        **named_sets(sets or [], ask),
        domains=labels(domains, taken, "--domains", counts=True),
        masks=None if masks is None else _tables.read(masks, keys=("masks",)).values,
        components=labels(components, taken, "--components"),
        partition=None if partition is None else partition_of(partition),
        second_run=None if against is None else _tables.read(against, keys=("z_hat", "z", "x")).values,
        structures=_refitted(refits or [], n_refits, model, table, random_state),
        n_resamples=stability,
        random_state=random_state,
    )
    _write(out, found)
    if as_json:
        print_json(found.to_dict())
    else:
        tell(str(found), *([] if out is None else [f"Written: {out}"]))


def _refitted(paths: list[Path], n_refits: int, model: Any, table: Any, random_state: int) -> Any:
    """Return the structures of refits: those in files, and those fitted here."""
    known = [_structure_of(path) for path in paths]
    if not n_refits:
        return known or None
    if model is None or table is None:
        raise ValueError("`--refits` must be given with a model and --data, got less. Add what is missing.")
    from ..theory import refitted_structures

    return [*known, *refitted_structures(model, table, n_refits, random_state=random_state)]


def _structure_of(path: Path) -> Any:
    structure, model = source_of(path)
    return model.structure_ if structure is None else structure


def _write(out: Path | None, found: Any) -> None:
    """Write the answer in the format that the suffix names, atomically."""
    if out is None or out.suffix.lower() == ".json":
        write_json(out, found.to_dict())
    else:
        text = f"{found}\n" if out.suffix.lower() == ".txt" else found.to_html()
        atomic_write(out, text)
