"""`unmix simulate`: data with known latents, for trying a method out."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import _tables
from ._output import Json, Seed, print_json, tell

EXAMPLE = "Example: [bold]unmix simulate --profile tall --n-latents 5 --noise 0.1 --out data.npz[/]"


class Profile(StrEnum):
    """Shapes of data to simulate."""

    tall = "tall"
    square = "square"
    dense = "dense"


class Latents(StrEnum):
    """Laws of the simulated latents."""

    normal = "normal"
    uniform = "uniform"
    laplace = "laplace"
    dependent = "dependent"


def simulate(
    out: Annotated[Path, typer.Option("--out", help="NPZ file to write: x, z and structure.")],
    profile: Annotated[Profile, typer.Option(help="Shape of the mixing.")] = Profile.tall,
    n_latents: Annotated[int, typer.Option("--n-latents", "--n", help="Number of latents.")] = 5,
    n_observed: Annotated[
        int | None,
        typer.Option(
            "--n-observed", "--d-x", help="Number of observed variables; the profile's own by default."
        ),
    ] = None,
    structure: Annotated[
        Path | None, typer.Option(help="Dependency structure to use (CSV, NPY or JSON of 0 and 1).")
    ] = None,
    n_samples: Annotated[int, typer.Option("--n-samples", help="Number of samples.")] = 10_000,
    noise: Annotated[float, typer.Option(help="Noise added to x, in standard deviations of x.")] = 0.0,
    latents: Annotated[Latents, typer.Option(help="Law of the latents.")] = Latents.normal,
    random_state: Seed = 0,
    as_json: Json = False,
) -> None:
    """Simulate observed data from known latents, mixed along a sparse structure."""
    _tables.check_writable(out, (".npz",))
    from ..data import sparse_mixing
    from ..structure import Structure

    given = None if structure is None else Structure.read(structure)
    data = sparse_mixing(
        n_samples,
        n_latents if given is None else given.n_latents,
        n_observed if given is None else given.n_observed,
        given,
        profile=profile.value,
        noise=noise,
        latents=latents.value,
        random_state=random_state,
    )
    save(out, data)
    if as_json:
        print_json(_document(out, data, random_state))
    else:
        tell(data.structure, f"{len(data.x):,} samples of {data.structure.n_observed} variables: {out}")


def save(path: Path, data: Any) -> Path:
    """Write a dataset as NPZ: x, z and structure."""
    return _tables.write_npz(path, {"x": data.x, "z": data.z, "structure": data.structure.support})


def _document(out: Path, data: Any, random_state: int) -> dict[str, Any]:
    return {
        "out": out,
        "n_samples": len(data.x),
        "n_latents": data.structure.n_latents,
        "n_observed": data.structure.n_observed,
        "structure": data.structure.support.astype(int),
        "noise": data.noise,
        "latents": data.latents,
        "random_state": random_state,
    }
