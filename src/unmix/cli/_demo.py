"""`unmix demo`: the whole story on built-in data, from a mixture to an answer one can act on."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .._tables import Table
from ._models import fit_and_save, make
from ._output import Json, Seed, print_json, tell
from ._simulate import save

EXAMPLE = "Example: [bold]unmix demo --out demo[/], then open demo/report.html"
NOTES = (
    "The data are simulated: five hidden variables were mixed nonlinearly into ten observed ones, two hidden "
    "variables behind each. The fit saw the mixture only; the truth was used for the scores and nothing else."
)


def demo(
    out: Annotated[Path, typer.Option("--out", help="Folder for data, model and report.")] = Path(
        "unmix-demo"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="A short fit, to check the installation.")] = False,
    random_state: Seed = 0,
    as_json: Json = False,
) -> None:
    """Simulate, fit, score, certify and report, in about a minute."""
    folder = _folder(out)
    tell_step = (lambda *_: None) if as_json else _step
    data = _simulate(quick, random_state)
    save(folder / "data.npz", data)
    tell_step(
        1,
        f"Mixed {data.structure.n_latents} hidden variables into {data.structure.n_observed} observed ones.",
    )
    tell_step(2, "Fitting without a look at the truth ...")
    model = _fit(data, quick, random_state, folder / "model")
    evaluation, certificate = _judge(data, model, random_state)
    tell_step(3, "Scores, beside what raw x and a random rotation of the truth would get:", evaluation)
    tell_step(4, "What can be trusted, by the structure that was found:", *certificate.reasons)
    report = _report(folder / "report.html", model, data, evaluation, certificate)
    if as_json:
        print_json(_document(report, model, evaluation, certificate))
    else:
        tell("", f"Report: {report}")


def _folder(out: Path) -> Path:
    if out.exists() and not out.is_dir():
        raise ValueError(f"`--out` must be a folder, got the file {str(out)!r}. Choose another name.")
    out.mkdir(parents=True, exist_ok=True)
    return out.resolve()


def _step(number: int, sentence: str, *more: Any) -> None:
    tell(f"{number}. {sentence}", *more)


def _simulate(quick: bool, random_state: int) -> Any:
    from ..data import sparse_mixing

    return sparse_mixing(500 if quick else 10_000, 5, profile="tall", random_state=random_state)


def _fit(data: Any, quick: bool, random_state: int, out: Path) -> Any:
    import torch

    torch.set_num_threads(1)  # networks this small gain nothing from more
    pace = {"max_iter": 3 if quick else 100, "n_restarts": 3, "lr": 4e-3}  # half the default's time
    model = make("ddl", data.structure.n_latents, random_state=random_state, **pace)
    return fit_and_save(model, Table(data.x, None), out)


def _judge(data: Any, model: Any, random_state: int) -> tuple[Any, Any]:
    from ..metrics import evaluate
    from ..theory import certify

    scores = evaluate(data.z, model.transform(data.x), x=data.x, random_state=random_state)
    return scores, certify(model.structure_)


def _report(path: Path, model: Any, data: Any, evaluation: Any, certificate: Any) -> Path:
    from ..report import write

    return write(
        path,
        model=model,
        data=data,
        evaluation=evaluation,
        certificate=certificate,
        title="Demo: five hidden variables, ten mixtures",
        notes=NOTES,
    )


def _document(report: Path, model: Any, evaluation: Any, certificate: Any) -> dict[str, Any]:
    return {
        "report": report,
        "fit": {"out": report.with_name("model")} | model.findings().to_dict(),
        "scores": evaluation.to_dict(),
        "certificate": certificate.to_dict(),
    }
