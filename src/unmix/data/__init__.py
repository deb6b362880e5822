"""Generators of data whose hidden variables are known.

`read_activations` and `collect_activations` are for what models compute of texts.

Every generator is called as `name(n_samples, ..., random_state)` and returns a `LatentDataset`. A
`FactorDataset` holds images of known factors. Estimators never import this room: a method that can't see
ground truth can't leak it.
"""

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

__all__ = [
    "ActivationStore",
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
    "SITES",
    "Site",
    "SlotMixing",
    "SparseMixing",
    "SplicedLosses",
    "World",
    "collect_activations",
    "degenerate_mixture",
    "multi_domain",
    "read_activations",
    "read_language_model",
    "site_named",
    "slots",
    "sparse_mixing",
    "spliced_losses",
    "store_activations",
    "verify_activations",
]
