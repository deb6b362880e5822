"""`unmix simulate`: data with known latents, for trying out a method."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from ..tables import check_writable, write_npz
from ._output import Json, Seed, print_json, taking, tell
from ._reading import Force, refuse_existing
from ._simulate_images import ImageSet, simulate_images

_OF_SPARSE = ("n_observed", "structure", "latents")
_OF_MIXTURES = ("components", "mask_size", "graph_degree", "delta", "theta", "n_layers")
_OF_IMAGES = ("size", "n_balls", "apart")
_N_SAMPLES = 10_000
EXAMPLE = "Example: [bold]unmix simulate --profile tall --n-latents 5 --noise 0.1 --out data.npz[/]"

Kind = StrEnum("Kind", ["sparse", "mixture"])
Profile = StrEnum("Profile", ["tall", "square", "dense", "paper", "hard", "linear"])
Latents = StrEnum("Latents", ["normal", "uniform", "laplace", "dependent"])


@dataclass(frozen=True)
class Simulate:
    """Options of `unmix simulate`."""

    out: Annotated[
        Path, typer.Option("--out", help="NPZ file to write: x, z and structure. Of images a folder.")
    ]
    images: Annotated[
        ImageSet | None,
        typer.Argument(
            metavar="[SET]", help="Images instead: shapes3d, dsprites, cars3d, mpi3d, balls, avatars."
        ),
    ] = None
    kind: Annotated[
        Kind,
        typer.Option(
            help="sparse: each observed variable reacts to few latents; mixture: causal latents that rest in "
            "some components of a mixture."
        ),
    ] = Kind.sparse
    profile: Annotated[
        Profile | None,
        typer.Option(
            help="Shape of the mixing: tall, square or dense; of a mixture: paper, hard or linear. "
            "[default: tall, or paper]",
            show_default=False,
        ),
    ] = None
    n_latents: Annotated[int, typer.Option("--n-latents", "--n", help="Number of latents.")] = 5
    n_observed: Annotated[
        int | None,
        typer.Option(
            "--n-observed", "--d-x", help="Number of observed variables; the profile's own by default."
        ),
    ] = None
    structure: Annotated[
        Path | None, typer.Option(help="Dependency structure to use (CSV, NPY or JSON of 0 and 1).")
    ] = None
    n_samples: Annotated[
        int | None,
        typer.Option(
            "--n-samples",
            help="Number of samples. [default: 10000; of images all combinations of factors]",
            show_default=False,
        ),
    ] = None
    size: Annotated[int, typer.Option(help="Of images: pixels along a side, 16, 32, 64 or 128.")] = 64
    n_balls: Annotated[
        int | None, typer.Option("--n-balls", help="Of balls: how many. [default: 2]", show_default=False)
    ] = None
    apart: Annotated[
        bool, typer.Option("--apart", help="Of balls: x and y of a ball rest each for itself, not together.")
    ] = False
    noise: Annotated[float, typer.Option(help="Noise added to x, in standard deviations of x.")] = 0.0
    latents: Annotated[Latents | None, typer.Option(help="Law of the latents.")] = None
    components: Annotated[
        str | None, typer.Option(help="Of a mixture: masked, equal, 'two bases' or full.")
    ] = None
    mask_size: Annotated[
        float | None, typer.Option("--mask-size", help="Of a mixture: share of active latents, or a count.")
    ] = None
    graph_degree: Annotated[
        int | None, typer.Option("--graph-degree", help="Of a mixture: causal edges per latent.")
    ] = None
    delta: Annotated[
        float | None, typer.Option(help="Of a mixture: where latents rest, in standard deviations.")
    ] = None
    theta: Annotated[float | None, typer.Option(help="Of a mixture: angle by which latents are rotated.")] = (
        None
    )
    n_layers: Annotated[
        int | None, typer.Option("--n-layers", help="Of a mixture: layers of the mixing.")
    ] = None
    force: Force = False
    random_state: Seed = 0
    as_json: Json = False


@taking(Simulate)
def simulate(given: Simulate) -> None:
    """Simulate observed data from known latents: mixed sparsely, resting in a mixture, or shown in images."""
    if given.images is not None:
        others = ("kind", "n_latents", *_OF_SPARSE, *_OF_MIXTURES, "profile", "noise")
        _refuse_settings(given, others, "images, which have no such setting")
        return simulate_images(given)
    _refuse_settings(given, _OF_IMAGES, "tables, it is for images. Name a set of these, such as balls")
    check_writable(given.out, (".npz",))
    refuse_existing(given.out, given.force)
    data = _sparse(given) if given.kind is Kind.sparse else _mixture(given)
    save(given.out, data)
    if given.as_json:
        print_json(_document(given.out, data, given.random_state))
    else:
        size = f"{len(data.x):,} samples of {data.structure.n_observed} variables"
        tell(*_story(data), f"{size}: {given.out}")


def _refuse_settings(given: Simulate, names: tuple[str, ...], wanted: str) -> None:
    """Refuse settings of mixings where images are wanted, and the other way round."""
    for name in names:
        if vars(given)[name] != getattr(Simulate, name):
            option = "--" + name.replace("_", "-")
            raise ValueError(f"`{option}` must be left out for {wanted}.")


def _shared(given: Simulate, profiles: tuple[str, ...], others: tuple[str, ...]) -> dict[str, Any]:
    """Return the settings that every kind has, and refuse those that belong to another kind."""
    kind, profile = given.kind.value, given.profile
    if profile is not None and profile.value not in profiles:
        raise ValueError(
            f"`--profile` must be one of {', '.join(profiles)} for --kind {kind}, got {profile.value}."
        )
    if foreign := _given(given, others):
        option = "--" + next(iter(foreign)).replace("_", "-")
        raise ValueError(f"`{option}` must be left out for --kind {kind}, which has no such setting.")
    chosen = profiles[0] if profile is None else profile.value
    return {"noise": given.noise, "random_state": given.random_state, "profile": chosen}


def _given(given: Simulate, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name in names if (value := vars(given)[name]) is not None}


def _sparse(given: Simulate) -> Any:
    from ..data import sparse_mixing
    from ..structure import Structure

    shared = _shared(given, ("tall", "square", "dense"), _OF_MIXTURES)
    known = None if given.structure is None else Structure.read(given.structure)
    return sparse_mixing(
        _N_SAMPLES if given.n_samples is None else given.n_samples,
        given.n_latents if known is None else known.n_latents,
        given.n_observed if known is None else known.n_observed,
        known,
        latents="normal" if given.latents is None else given.latents.value,
        **shared,
    )


def _mixture(given: Simulate) -> Any:
    from ..data import degenerate_mixture

    shared = _shared(given, ("paper", "hard", "linear"), _OF_SPARSE)
    own = _given(given, _OF_MIXTURES)
    size = own.get("mask_size", 0.5)
    if size >= 1 and float(size).is_integer():
        own["mask_size"] = int(size)  # a count of latents, not a share
    n = _N_SAMPLES if given.n_samples is None else given.n_samples
    return degenerate_mixture(n, given.n_latents, **own, **shared)


def _story(data: Any) -> tuple[Any, ...]:
    return (data.structure,) if data.masks is None else (data.description,)


def save(path: Path, data: Any) -> Path:
    """Write a dataset as NPZ: x, z and structure; of a mixture also labels, masks, graph and unrotated z."""
    arrays = {"x": data.x, "z": data.z, "structure": data.structure.support}
    more = {name: getattr(data, name) for name in ("labels", "masks", "graph", "unrotated")}
    return write_npz(path, arrays | {name: value for name, value in more.items() if value is not None})


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
    } | ({} if data.masks is None else {"masks": data.masks.astype(int), "graph": data.graph.astype(int)})
