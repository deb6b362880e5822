"""`unmix certify`: which theorems apply, what would then be identified, and what is missing for more."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from .._files import atomic_write
from .._waiting import waiting
from ..tables import check_writable, read
from ._features import is_sae
from ._images import of_images, pixels_of
from ._images import read as read_images
from ._judge import refuse_columns
from ._known import (
    array,
    labels,
    named_sets,
    numbers_in_parts,
    partition_of,
    read_latents,
    source_of,
    table_of,
)
from ._models import columns_for
from ._naming import Sets, checked, described, named
from ._output import Json, Seed, print_json, taking, tell, write_json
from ._reading import Force, Id, refuse_existing
from ._verdict import Effort, Spend, judged, short

EXAMPLE = (
    "Example: [bold]unmix certify mask.csv --set A=0,1 --set B=2,3 --ask 'A - B'[/] or "
    "[bold]unmix certify model --data x.npy --stability 100 --out answer.html[/]"
)
_OUT = (".html", ".htm", ".json", ".txt")


@dataclass(frozen=True)
class Certify:
    """Options of `unmix certify`."""

    source: Annotated[
        Path,
        typer.Argument(metavar="MASK|MODEL", help="Structure of 0 and 1 (CSV, NPY, JSON, NPZ) or a model."),
    ]
    data: Annotated[
        str | None, typer.Option("--data", help="Data that the model was fitted to: codes and Jacobians.")
    ] = None
    id: Id = None
    variable_sets: Sets = None
    independent: Annotated[
        bool, typer.Option("--independent", help="Assume that the latents are independent.")
    ] = False
    groups: Annotated[
        str | None, typer.Option("--groups", help="Observed variables that count as one: 0,1/2,3/4.")
    ] = None
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", help="A named set of observed variables, A=0,1; two are compared."),
    ] = None
    ask: Annotated[
        str | None, typer.Option("--ask", help="A region to ask about, such as '(A & B) - C'.")
    ] = None
    domains: Annotated[
        str | None,
        typer.Option(
            "--domains", help="Number of domains, a column of the data, or a file with one label per row."
        ),
    ] = None
    masks: Annotated[
        str | None, typer.Option("--masks", help="Which latents vary in which kind of sample: a row each.")
    ] = None
    components: Annotated[
        str | None, typer.Option("--components", help="The kind of each row: a column of the data or a file.")
    ] = None
    jacobians: Annotated[
        str | None,
        typer.Option("--jacobians", help="Jacobians, an NPY file of shape (n, observed, latents)."),
    ] = None
    partition: Annotated[
        str | None,
        typer.Option("--partition", help="Slots of latents: their number, 0,1/2,3, or `finest`."),
    ] = None
    codes: Annotated[
        str | None, typer.Option("--codes", help="Latents of each row. [default: of the model]")
    ] = None
    against: Annotated[
        str | None, typer.Option("--against", help="Latents of the same rows in a second run.")
    ] = None
    refits: Annotated[
        list[Path] | None, typer.Option("--refit", help="Mask or model of a refit; give at least two.")
    ] = None
    n_refits: Annotated[
        int, typer.Option("--refits", help="Number of refits to random halves of the data.")
    ] = 0
    effort: Spend = Effort["none"]
    stability: Annotated[int, typer.Option("--stability", help="Number of Jacobian resamples.")] = 0
    out: Annotated[
        Path | None, typer.Option("--out", help="File to write the answer to: .html, .json or .txt.")
    ] = None
    random_state: Seed = 0
    force: Force = False
    as_json: Json = False


@taking(Certify)
def certify(given: Certify) -> None:
    """Say which theorems apply, what they would identify up to what, and what is missing for more.

    With a model and its data the verdict on the fit comes first: it is that of `unmix trust`.
    """
    out = given.out
    if out is not None:
        check_writable(out, _OUT)
    refuse_existing(out, given.force)
    if given.stability and given.jacobians is None and given.data is None:
        raise ValueError("`--stability` must be given with --data or --jacobians, got neither. Add one.")
    if is_sae(given.source):
        raise ValueError(
            "`MASK|MODEL` must be a structure or a model of a table or images, got a sparse autoencoder. For "
            "its verdict: unmix trust MODEL DATA."
        )
    structure, model = source_of(given.source)
    rows, table, taken = _rows_of(given, model)
    sets = None if rows is None else checked(given.variable_sets, rows)
    from ..theory import explain

    facts = _of_kept(_facts(given, model, table, taken), rows)
    found = explain(structure, model=model, x=table, **facts)
    trust = None if table is None else _verdict(model, table, facts["domains"], given.effort)
    about = None if rows is None else described(model, rows, sets)
    _write(out, found, trust, about)
    if given.as_json:
        print_json(_document(found, trust, about))
    else:
        tell(_text(found, trust, about), *([] if out is None else [f"Written: {out}"]))


def _rows_of(given: Certify, model: Any) -> tuple[Any, Any, dict[str, np.ndarray]]:
    """Return the table of a model, None for images, what the model takes of it, and labels by name."""
    if model is not None and given.data is not None and of_images(model):
        refuse_columns("a model of images", given.id, given.variable_sets)
        data = read_images(given.data)
        return None, pixels_of(data), dict(zip(data.names, data.factors.T, strict=True))
    rows, taken = table_of(given.data, model, (given.domains, given.components), id=given.id)
    return rows, None if rows is None else columns_for(model, rows), taken


def _verdict(model: Any, table: np.ndarray, domains: Any, effort: str) -> Any:
    """Judge the fit; a number of domains tells nothing of single rows."""
    return judged(model, table, None if np.ndim(domains) == 0 else domains, effort)


def _document(found: Any, trust: Any, about: Any) -> dict[str, Any]:
    more = {"trust": trust, "description": about}
    return found.to_dict() | {name: part.to_dict() for name, part in more.items() if part is not None}


def _text(found: Any, trust: Any, about: Any) -> str:
    """Tell the verdict on the fit, what each latent stands for, and what theorems say about what it found."""
    parts = ([] if trust is None else short(trust), named(about), [str(found)])
    return "\n\n".join("\n".join(part) for part in parts if part)


def _facts(given: Certify, model: Any, table: Any, taken: dict[str, np.ndarray]) -> dict[str, Any]:
    """Read what options and their files say, as `explain` takes it."""
    return {
        "jacobians": _read(given.jacobians, lambda path: array(path, 3, "--jacobians")),
        "z": _read(given.codes, lambda path: read_latents(path, ("z_hat", "z")).values),
        "independent_latents": given.independent,
        "groups": _read(given.groups, lambda text: numbers_in_parts(text, "--groups")),
        **named_sets(given.sets or [], given.ask),
        "domains": labels(given.domains, taken, "--domains", counts=True),
        "masks": _read(given.masks, lambda path: read(path, keys=("masks",)).values),
        "components": labels(given.components, taken, "--components"),
        "partition": _read(given.partition, partition_of),
        "second_run": _read(given.against, lambda path: read_latents(path, ("z_hat", "z", "x")).values),
        "structures": _refitted(given, model, table),
        "n_resamples": given.stability,
        "random_state": given.random_state,
    }


def _of_kept(facts: dict[str, Any], rows: Any) -> dict[str, Any]:
    """Leave out of what is known of every row what belongs to rows that are not judged."""
    if rows is None or rows.kept is None:
        return facts
    known = {name: facts[name] for name in ("z", "second_run", "domains", "components")}
    whole = {name: each for name, each in known.items() if np.shape(each)[:1] == (len(rows.kept),)}
    return facts | {name: np.asarray(each)[rows.kept] for name, each in whole.items()}


def _read(text: str | None, how: Callable[[str], Any]) -> Any:
    return None if text is None else how(text)


def _refitted(given: Certify, model: Any, table: Any) -> Any:
    """Return the structures of refits: those in files, and those fitted here."""
    known = [_structure_of(path) for path in given.refits or []]
    if not given.n_refits:
        return known or None
    if model is None or table is None:
        raise ValueError("`--refits` must be given with a model and --data, got less. Add what is missing.")
    from ..theory import refitted_structures

    with waiting(True, "refits", plan=f"{given.n_refits} refits to halves of {len(table):,} rows"):
        found = refitted_structures(model, table, given.n_refits, random_state=given.random_state)
    return [*known, *found]


def _structure_of(path: Path) -> Any:
    structure, model = source_of(path)
    return model.structure_ if structure is None else structure


def _write(out: Path | None, found: Any, trust: Any, about: Any) -> None:
    """Write the answer in the format that the suffix names, atomically."""
    if out is None:
        return
    if out.suffix.lower() == ".json":
        write_json(out, _document(found, trust, about))
    elif out.suffix.lower() == ".txt":
        atomic_write(out, f"{_text(found, trust, about)}\n")
    else:
        atomic_write(out, found.to_html(trust=trust, description=about))
