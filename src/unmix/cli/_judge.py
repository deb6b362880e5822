"""`unmix evaluate` and `unmix report`: what the latents are worth, and why."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ..tables import Columns, check_writable
from ._features import is_sae, report_features
from ._images import domains_of, of_images
from ._images import read as read_images
from ._known import dataset, labels, read_with_truth, take_out
from ._models import columns_for, load, recipe_of
from ._naming import Sets, beside, checked
from ._output import Json, Seed, print_json, tell
from ._reading import Force, Id, refuse_existing
from ._scored import scored
from ._verdict import DOMAINS, Effort, Spend, short, warn

EVALUATE_EXAMPLE = (
    "Example: [bold]unmix evaluate data.npz latents.csv --x data.npz --metrics mcc,r2 --out scores.html[/]"
)
REPORT_EXAMPLE = (
    "Example: [bold]unmix report model --data data.npz --out report.html[/] or [bold]unmix report results[/]"
)
OF_TABLES = ("--id", "--variable-sets")
SCORES = (".json", ".csv", ".html")


def evaluate(
    z_true: Annotated[
        str,
        typer.Argument(
            metavar="Z_TRUE", help="True latents (`z` of an NPZ file), or images of known factors."
        ),
    ],
    z_hat: Annotated[str, typer.Argument(metavar="Z_HAT", help="Estimated latents, same rows.")],
    x: Annotated[
        str | None,
        typer.Option(
            "--x", help="Observed data, to score raw x beside the estimate; of images, PCA + ICA of pixels."
        ),
    ] = None,
    metrics: Annotated[
        str,
        typer.Option(
            "--metrics",
            help="Names of metrics with commas between them, or `all` (without the slow dci.boosting).",
        ),
    ] = "mcc,r2",
    discrete: Annotated[
        str | None,
        typer.Option(
            "--discrete", help="Columns of discrete factors (0,2), `all` or `none`. [default: detect]"
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="File to write the scores to: .json, .csv or .html.")
    ] = None,
    force: Force = False,
    random_state: Seed = 0,
    as_json: Json = False,
) -> None:
    """Score estimated latents against the truth, beside raw x and the rotation floor."""
    from ..metrics import evaluate as score

    if out is not None:
        check_writable(out, SCORES)
    refuse_existing(out, force)
    given, said = scored(z_true, z_hat, x, random_state)
    names = [name.strip() for name in metrics.split(",") if name.strip()]
    declared = _discrete(discrete, given["z_true"].shape[1])
    found = score(**given, metrics=names, discrete=declared, random_state=random_state)
    if out is not None:
        found.write(out)
    if as_json:
        print_json(found.to_dict())
    else:
        hint = "Pass --x to see what raw x scores: without it a score means little."
        tell(found, *([said] if said else []), *([hint] if x is None else []))


def report(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL|RESULTS",
            help="Model of `unmix fit`, sparse autoencoder in any layout, or folder of `unmix reproduce`.",
        ),
    ],
    data: Annotated[
        str | None,
        typer.Option("--data", help="Data to report on; an NPZ file with z also brings the truth."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="HTML file to write, or .md for RESULTS. [default: report.html in RESULTS]"
        ),
    ] = None,
    force: Force = False,
    effort: Spend = Effort["none"],
    domains: Annotated[str | None, typer.Option("--domains", help=DOMAINS)] = None,
    id: Id = None,
    variable_sets: Sets = None,
    title: Annotated[str | None, typer.Option(help="Heading of the page.")] = None,
    notes: Annotated[str, typer.Option(help="Free text for the page.")] = "",
    as_json: Json = False,
) -> None:
    """Write one HTML page: what was recovered and what can be trusted, or the papers' numbers and ours."""
    heading: dict[str, Any] = {"notes": notes} | ({} if title is None else {"title": title})
    target = source / "report.html" if out is None and source.is_dir() else out
    if target is None:
        raise ValueError("`--out` must name the HTML file to write, got nothing.")
    check_writable(target, (".html", ".htm", ".md") if source.is_dir() else (".html", ".htm"))
    refuse_existing(out, force or _has_marks(target))
    found = None
    if target.suffix == ".md":
        _write_summary(target, source)
    elif is_sae(source):
        if data is None:
            raise ValueError("`--data` must name the activations to report on, got nothing.")
        found = report_features(target, source, data, effort, heading)
    elif source.is_dir():
        from ..report import results

        results(target, source, **heading)
    else:
        if data is None:
            raise ValueError("`--data` must name the data to report on, got nothing.")
        told = {"domains": domains, "id": id, "sets": variable_sets}
        found = _write_fit(target, source, data, effort=effort, heading=heading, **told)
    if as_json:
        verdict = None if found is None else found.to_dict()
        print_json({"out": target, "bytes": target.stat().st_size, "trust": verdict})
    else:
        tell(*([] if found is None else short(found)), f"Report: {target}")


def _has_marks(out: Path) -> bool:
    """Whether a file has a place for the counts, and keeps everything else that is in it."""
    from ..experiments.engine import has_marks

    return out.suffix == ".md" and has_marks(out)


def _write_summary(out: Path, folder: Path) -> None:
    from ..experiments import Store, read_reasons, summarise, write_markdown

    write_markdown(out, summarise(Store(folder).records(), read_reasons(folder)))


def _write_fit(
    out: Path,
    path: Path,
    data: str,
    *,
    domains: Any,
    id: Any,
    sets: Any,
    effort: str,
    heading: dict[str, Any],
) -> Any:
    """Write the page about a model, and return the verdict that it shows."""
    fitted = load(path)
    if of_images(fitted):
        refuse_columns("a model of images", id, sets)
        return _write_images(out, fitted, data, domains=domains, effort=effort, heading=heading)
    from ..evidence import verdict_or_reason
    from ..report import write

    table, truth = read_with_truth(data, columns=Columns(id=id), model=fitted, labels=(domains,))
    rest, taken = take_out(table, (domains,))
    beside_it = beside(rest, checked(sets, rest))
    given = dataset(rest, truth, fitted)
    known = labels(domains, taken, "--domains", rows=table)
    settings = {"domains": known, "effort": effort, "verbose": True}
    found, reason = verdict_or_reason(fitted, columns_for(fitted, rest), **settings)
    notes = "\n\n".join([heading.pop("notes"), *recipe_of(fitted).story])
    verdict: Any = "none" if found is None else found
    shown: dict[str, Any] = {"domains": known, "trust": verdict, "notes": notes, **heading}
    write(out, model=fitted, data=given, **shown, **beside_it)
    warn(reason)
    return found


def _write_images(
    out: Path, model: Any, data: str, *, domains: str | None, effort: str, heading: dict[str, Any]
) -> Any:
    """Write the page about a model of images, and return the verdict that it shows."""
    from ..report import write
    from ..report._image_material import judged

    images = read_images(data)
    found, reason = judged(model, images, effort, domains_of(domains, model, images, needed=False))
    write(out, model=model, data=images, trust=effort if found is None else found, **heading)
    warn(reason)
    return found


def refuse_columns(what: str, *values: Any) -> None:
    """Refuse options that name columns of a table."""
    given = [name for name, value in zip(OF_TABLES, values, strict=True) if value is not None]
    if given:
        raise ValueError(f"`{given[0]}` must be left out for {what}, which has no columns.")


def _discrete(text: str | None, n_factors: int) -> bool | list[bool] | None:
    """Read which factors are discrete: `all`, `none`, columns counted from 0, or nothing said."""
    if text is None or text in ("all", "none"):
        return None if text is None else text == "all"
    cells = [cell.strip() for cell in text.split(",")]
    if not all(cell.isdecimal() and int(cell) < n_factors for cell in cells):
        raise ValueError(
            f"`--discrete` must be `all`, `none` or columns 0 to {n_factors - 1} with commas between them, "
            f"got {text!r}. For example `--discrete 0`."
        )
    return [str(k) in {str(int(cell)) for cell in cells} for k in range(n_factors)]
