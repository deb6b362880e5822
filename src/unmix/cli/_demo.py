"""`unmix demo`: the whole story on built-in data, from a mixture to an answer one can act on."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ..tables import Table, read
from ._alone import claim
from ._models import fit_and_save, make
from ._output import Json, Seed, print_json, tell
from ._reading import Force, refuse_existing, refuse_no_folder
from ._simulate import save
from ._verdict import short

EXAMPLE = "Example: [bold]unmix demo --out demo[/], then open demo/explorer.html"
NOTES = (
    "The data are simulated: five hidden variables were mixed nonlinearly into ten observed ones, two hidden "
    "variables behind each. Fit and verdict saw the mixture only; the truth was used for the scores and for "
    "nothing else."
)


def demo(
    out: Annotated[Path, typer.Option("--out", help="Folder for data, model, report and explorer.")] = Path(
        "unmix-demo"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="A short fit, to check the installation.")] = False,
    force: Force = False,
    random_state: Seed = 0,
    as_json: Json = False,
) -> None:
    """Simulate, fit, check, score and report, in about a minute."""
    folder = _folder(out)
    tell_step = (lambda *_: None) if as_json else _step
    data = _simulate(quick, random_state)
    _refuse_others(folder, data, force)
    save(folder / "data.npz", data)
    tell_step(
        1,
        f"Mixed {data.structure.n_latents} hidden variables into {data.structure.n_observed} observed ones.",
    )
    tell_step(2, "Fitting without a look at the truth ...")
    model = _fit(data, quick, random_state, folder / "model")
    tell_step(3, "Checking what was found, still without a look at the truth ...")
    trust = _checked(model, data)
    tell_step(
        4,
        "The verdict:",
        *short(trust, f"unmix trust {folder / 'model'} {folder / 'data.npz'} --effort full"),
    )
    evaluation = _scored(data, model, random_state)
    tell_step(5, "The truth, beside what raw x and a random rotation of it would get:", evaluation)
    report = _report(folder / "report.html", model, data, evaluation, trust)
    page = _explorer(folder / "explorer.html", model, data, trust)
    if as_json:
        print_json(_document(report, model, evaluation, trust) | {"explorer": page})
    else:
        tell("", f"Report: {report}", f"To look around: {page}")


def _folder(out: Path) -> Path:
    refuse_no_folder(out)
    out.mkdir(parents=True, exist_ok=True)
    claim(out.resolve())
    return out.resolve()


def _refuse_others(folder: Path, data: Any, force: bool) -> None:
    """Refuse to overwrite files that are not of this demo, which its data tell."""
    there = [
        folder / name
        for name in ("data.npz", "model", "report.html", "explorer.html")
        if (folder / name).exists()
    ]
    if there and not _are_there(folder / "data.npz", data):
        refuse_existing(there[0], force)


def _are_there(path: Path, data: Any) -> bool:
    if not path.exists():
        return False
    found = read(path)
    return found.values.shape == data.x.shape and bool((found.values == data.x).all())


def _step(number: int, sentence: str, *more: Any) -> None:
    tell(f"{number}. {sentence}", *more)


def _simulate(quick: bool, random_state: int) -> Any:
    from ..data import sparse_mixing

    return sparse_mixing(
        500 if quick else 10_000, 5, profile="tall", latents="laplace", random_state=random_state
    )


def _fit(data: Any, quick: bool, random_state: int, out: Path) -> Any:
    import torch

    torch.set_num_threads(1)  # networks this small gain nothing from more
    pace = {"max_iter": 3 if quick else 100, "n_restarts": 3, "lr": 4e-3}  # half the default's time
    model = make("ddl", data.structure.n_latents, random_state=random_state, **pace)
    return fit_and_save(model, Table(data.x), out)


def _checked(model: Any, data: Any) -> Any:
    from ..evidence import trust

    return trust(model, data.x, effort="quick", verbose=True)


def _scored(data: Any, model: Any, random_state: int) -> Any:
    from ..metrics import evaluate

    return evaluate(data.z, model.transform(data.x), x=data.x, random_state=random_state)


def _report(path: Path, model: Any, data: Any, evaluation: Any, trust: Any) -> Path:
    from ..report import write

    return write(
        path,
        model=model,
        data=data,
        evaluation=evaluation,
        trust=trust,
        title="Demo: five hidden variables, ten mixtures",
        notes=NOTES,
    )


def _explorer(path: Path, model: Any, data: Any, trust: Any) -> Path:
    from ..report import explore

    return explore(path, model=model, data=data, trust=trust, title="Demo: look around")


def _document(report: Path, model: Any, evaluation: Any, trust: Any) -> dict[str, Any]:
    return {
        "report": report,
        "fit": {"out": report.with_name("model")} | model.findings().to_dict(),
        "trust": trust.to_dict(),
        "scores": evaluation.to_dict(),
    }
