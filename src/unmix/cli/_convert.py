"""`unmix convert`: a sparse autoencoder from the layout of one program to that of another."""

import shutil
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ._output import Json, print_json, taking, tell
from ._reading import Force, refuse_existing

EXAMPLE = "Example: [bold]unmix convert layers.15 sae --to sae_lens[/]"
Layout = StrEnum("Layout", ["sae_lens", "sparsify", "dictionary_learning", "gemma_scope", "unmix"])  # type: ignore[misc]
_ROWS = 256  # random rows whose codes are compared


@dataclass(frozen=True)
class Convert:
    """Options of `unmix convert`."""

    source: Annotated[
        Path,
        typer.Argument(
            metavar="SAE",
            help="Folder or file of SAELens, sparsify, dictionary_learning, Gemma Scope, or of ours.",
        ),
    ]
    target: Annotated[
        Path | None, typer.Argument(metavar="TO", help="Folder (or file) to write; the same as --out.")
    ] = None
    out: Annotated[Path | None, typer.Option("--out", help="Folder (or file) to write.")] = None
    to: Annotated[
        Layout | None,
        typer.Option("--to", help="Layout. [default: unmix, or sae_lens for ours]", show_default=False),
    ] = None
    force: Force = False
    as_json: Json = False


@taking(Convert)
def convert(given: Convert) -> None:
    """Write a sparse autoencoder in another layout, and check that it gives the same codes."""
    from ..estimators import load_sae, save_sae

    target = given.out if given.target is None else given.target
    if target is None or (given.out is not None and given.target is not None):
        raise ValueError("`--out` must name one place to write to, got none or two. Give TO or --out.")
    refuse_existing(target, given.force)
    model = load_sae(given.source)
    layout = given.to or ("sae_lens" if _is_ours(given.source) else "unmix")
    if given.force and target.is_dir() and _is_sae(target):
        shutil.rmtree(target)
    written = save_sae(model, target, layout=str(layout))
    off = difference(model, load_sae(written))
    if given.as_json:
        m, d = model.dictionary_.shape
        told = {"activation": model.activation, "n_components": m, "n_features": d}
        print_json({"out": written, "layout": str(layout), **told, "max_difference": off})
    else:
        tell(f"{layout}: {written}", f"Largest difference of codes on {_ROWS} random rows: {off:.1e}")


def _is_ours(path: Path) -> bool:
    return path.is_file() and path.suffix not in (".npz", ".pt", ".safetensors", ".json")


def _is_sae(folder: Path) -> bool:
    names = {"sae_weights.safetensors", "sae.safetensors", "ae.pt", "params.npz"}
    return any(file.name in names for file in folder.iterdir())


def difference(first: Any, second: Any) -> float:
    """Return the largest difference of codes of random rows, as a share of the largest code."""
    d = first.dictionary_.shape[1]
    noise = np.random.default_rng(0).normal(size=(_ROWS, d)).astype(np.float32)
    size = float(np.linalg.norm(first.bias_) / np.sqrt(d)) or 1.0
    rows = first.bias_ + size * noise
    ours, theirs = first.transform(rows), second.transform(rows)
    return float(abs(ours - theirs).max() / max(float(abs(ours).max()), 1e-12))
