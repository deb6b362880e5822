"""`unmix show`: what each latent of a model of images does, as pictures."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from ._images import domains_of, of_images, read
from ._known import numbers
from ._models import load
from ._output import Json, print_json, taking, tell
from ._reading import refuse_existing
from ._verdict import DOMAINS, Effort, Spend, short, warn

EXAMPLE = "Example: [bold]unmix show model --data images --out pictures[/]"


@dataclass(frozen=True)
class Show:
    """Options of `unmix show`."""

    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model of images, written by `unmix fit`.")]
    data: Annotated[
        str,
        typer.Option(
            "--data", help="Images: a folder of `unmix simulate` or of PNG files, or NPY with four axes."
        ),
    ]
    out: Annotated[Path, typer.Option("--out", help="Folder to write: index.html, PNG and GIF files.")]
    n: Annotated[int, typer.Option("--n", help="Number of images that are reconstructed.")] = 8
    latents: Annotated[
        str | None,
        typer.Option(help="Latents to show (0,3). [default: all, at most 24]", show_default=False),
    ] = None
    rows: Annotated[
        str | None,
        typer.Option(
            help="Images to show (12,840): latents of the first move, and it exchanges them with the second. "
            "[default: spread over the data]",
            show_default=False,
        ),
    ] = None
    steps: Annotated[int, typer.Option(help="Positions of each latent, an odd number.")] = 9
    held_out: Annotated[
        str | None,
        typer.Option("--held-out", help="Images that the fit has not seen, to tell how well it holds."),
    ] = None
    effort: Spend = Effort["none"]
    domains: Annotated[str | None, typer.Option("--domains", help=DOMAINS)] = None
    force: Annotated[
        bool, typer.Option("--force", help="Replace the pictures of an earlier call in this folder.")
    ] = False
    as_json: Json = False


@taking(Show)
def show(given: Show) -> None:
    """Show what each latent of a model of images does: traversals, swaps, reconstructions and slopes."""
    from ..report import show as write
    from ..report._image_material import judged
    from ..report._show import free

    refuse_existing(given.out, given.force, what="a new folder")
    with as_options():
        free(given.out)
    asked = {"rows": given.rows, "latents": given.latents}
    chosen = {name: None if text is None else numbers(text, f"--{name}") for name, text in asked.items()}
    fitted = load(given.model)
    if not of_images(fitted):
        raise ValueError(
            f"`{given.model}` must be a model of images, got one of tables. For tables: unmix report."
        )
    data = read(given.data)
    unseen = None if given.held_out is None else read(given.held_out, "--held-out")
    known = domains_of(given.domains, fitted, data, needed=False)
    with as_options():
        trust, reason = judged(fitted, data, given.effort, known)
        shown: dict[str, Any] = {"n": given.n, "n_steps": given.steps, "held_out": unseen, **chosen}
        verdict = given.effort.value if trust is None else trust
        files = write(given.out, model=fitted, data=data, trust=verdict, **shown)
    warn(reason)
    if given.as_json:
        found = None if trust is None else trust.to_dict()
        print_json({"out": given.out, "files": [file.name for file in files], "trust": found})
    else:
        tell(*short(trust), f"{len(files)} files. To look at them: {files[0]}")


@contextmanager
def as_options() -> Iterator[None]:
    """Let errors name the options of the command instead of the arguments in Python."""
    try:
        yield
    except ValueError as error:
        raise ValueError(_as_options(str(error))) from error


def _as_options(text: str) -> str:
    names = {"folder": "out", "n_steps": "steps", "X": "data", "held_out": "held-out"}
    known = ("folder", "n_steps", "n", "X", "data", "held_out", "rows", "latents")
    for name in known:
        text = text.replace(f"`{name}` must", f"`--{names.get(name, name)}` must", 1)
    return text
