"""Generators of data whose hidden variables are known.

Every generator is called as `name(n_samples, ..., random_state)` and returns a `LatentDataset`. A
`FactorDataset` holds images of known factors. Estimators never import this room: a method that can't see
ground truth can't leak it. Rooms within: `images`, loaded when one of its names is asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._dataset import LatentDataset, World
from ._degenerate_mixture import DegenerateMixture, degenerate_mixture
from ._domain_sources import DomainSources
from ._dominant_mixing import DominantMixing
from ._factors import FactorDataset
from ._gaussian_scm import LinearSCM
from ._layered_mixing import LayeredMixing
from ._mixing import SparseMixing
from ._multi_domain import DomainWorld, multi_domain
from ._slot_mixing import SlotMixing
from ._slots import slots
from ._sparse_mixing import sparse_mixing

if TYPE_CHECKING:  # rendering needs torch, which nothing else here does
    from .images import (
        Balls,
        Renderer,
        avatars,
        balls,
        cars3d,
        dsprites,
        load_factors,
        mpi3d,
        read_images,
        shapes3d,
        write_images,
    )

_WITHIN = {  # rooms within this one, and what they offer here
    "images": (
        "Balls",
        "Renderer",
        "avatars",
        "balls",
        "cars3d",
        "dsprites",
        "load_factors",
        "mpi3d",
        "read_images",
        "shapes3d",
        "write_images",
    ),
}

__all__ = [
    "Balls",
    "DegenerateMixture",
    "DomainSources",
    "DomainWorld",
    "DominantMixing",
    "FactorDataset",
    "LatentDataset",
    "LayeredMixing",
    "LinearSCM",
    "Renderer",
    "SlotMixing",
    "SparseMixing",
    "World",
    "avatars",
    "balls",
    "cars3d",
    "degenerate_mixture",
    "dsprites",
    "load_factors",
    "mpi3d",
    "multi_domain",
    "read_images",
    "shapes3d",
    "slots",
    "sparse_mixing",
    "write_images",
]


def __getattr__(name: str) -> Any:
    """Import a room within this one the first time one of its names is asked for (PEP 562)."""
    for room, names in _WITHIN.items():
        if name == room or name in names:
            found = import_module(f"{__name__}.{room}")
            return found if name == room else getattr(found, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
