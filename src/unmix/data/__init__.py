"""Generators of data whose hidden variables are known.

`read_activations` and `collect_activations` are for what models compute of texts.

Every generator is called as `name(n_samples, ..., random_state)` and returns a `LatentDataset`. A
`FactorDataset` holds images of known factors. Estimators never import this room: a method that can't see
ground truth can't leak it. Rooms within: `images` and `language`, loaded when one of their
names is asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from unmix.rows import ActivationStore

from ._activations import MaskRule, read_activations, store_activations, verify_activations
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

if TYPE_CHECKING:  # rendering and language models need torch, which nothing else here does
    from .images import (
        Balls,
        Renderer,
        avatars,
        balls,
        cars3d,
        domain_of,
        dsprites,
        load_factors,
        mpi3d,
        paired_styles,
        read_images,
        shapes3d,
        two_colours,
        write_images,
    )
    from .language import (
        SITES,
        LanguageModel,
        Site,
        SplicedLosses,
        collect_activations,
        read_language_model,
        site_named,
        spliced_losses,
    )

_WITHIN = {  # rooms within this one, and what they offer here
    "images": (
        "Balls",
        "Renderer",
        "avatars",
        "balls",
        "cars3d",
        "domain_of",
        "dsprites",
        "load_factors",
        "mpi3d",
        "paired_styles",
        "read_images",
        "shapes3d",
        "two_colours",
        "write_images",
    ),
    "language": (
        "SITES",
        "LanguageModel",
        "Site",
        "SplicedLosses",
        "collect_activations",
        "read_language_model",
        "site_named",
        "spliced_losses",
    ),
}

__all__ = [
    "ActivationStore",
    "Balls",
    "DegenerateMixture",
    "DomainSources",
    "DomainWorld",
    "DominantMixing",
    "FactorDataset",
    "LanguageModel",
    "LatentDataset",
    "LayeredMixing",
    "LinearSCM",
    "MaskRule",
    "Renderer",
    "SITES",
    "Site",
    "SlotMixing",
    "SparseMixing",
    "SplicedLosses",
    "World",
    "avatars",
    "balls",
    "cars3d",
    "collect_activations",
    "degenerate_mixture",
    "domain_of",
    "dsprites",
    "load_factors",
    "mpi3d",
    "multi_domain",
    "paired_styles",
    "read_activations",
    "read_images",
    "read_language_model",
    "shapes3d",
    "site_named",
    "slots",
    "sparse_mixing",
    "spliced_losses",
    "store_activations",
    "two_colours",
    "verify_activations",
    "write_images",
]


def __getattr__(name: str) -> Any:
    """Import a room within this one the first time one of its names is asked for (PEP 562)."""
    for room, names in _WITHIN.items():
        if name == room or name in names:
            found = import_module(f"{__name__}.{room}")
            return found if name == room else getattr(found, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
