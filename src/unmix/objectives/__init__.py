"""What is minimised: modules that map a batch to named terms, unweighted.

An objective holds its networks and the law of its code; `forward(*batch)` returns the terms, `encode` the
codes. The weights of the terms, restarts and steps belong to `training`.
"""

from ._adversarial import moved_code, moving, path_deviation, path_lengths, r1, to_expose, to_pass
from ._augment import augmented
from ._codes import FlowCode, LabelCode, MonotoneFlow, NoiseCode
from ._contrast import SPARSE, ContrastObjective, Navigator, ReadBack, Rendering
from ._diffusion import (
    TARGETS,
    THROUGH,
    DiffusionDecoder,
    DiffusionObjective,
    Grids,
    Pixels,
    cosine_schedule,
)
from ._domain import DomainEncoder, DomainObjective, beside_tangents
from ._domain_priors import KINDS, PRIORS, DomainCorrelated, DomainGaussian
from ._energy import EnergyObjective
from ._gan import SPARSE_TERMS, CodedGenerator, GameObjective
from ._likelihood import LOSSES, Penalty, likely
from ._mixture import MixtureOfGaussians, VaDEObjective
from ._moments import LabelledObjective
from ._quantised import Codebook, QuantisedDecoder, QuantisedEncoder, QuantisedObjective
from ._slot import AdditiveDecoder, SlotObjective
from ._sparse_coder import ACTIVATIONS as SPARSE_ACTIVATIONS
from ._sparse_coder import SparseCoder, SparseRecipe
from ._sparse_pair import SparsePair, Units
from ._spikes_and_slabs import MixtureObjective, SpikesAndSlabs
from ._total_correlation import CriticObjective, DecomposedObjective, decomposed, shuffled
from ._vae import Objective, as_floats, in_chunks

__all__ = [
    "AdditiveDecoder",
    "beside_tangents",
    "Codebook",
    "ContrastObjective",
    "cosine_schedule",
    "CriticObjective",
    "decomposed",
    "DecomposedObjective",
    "DiffusionDecoder",
    "DiffusionObjective",
    "DomainCorrelated",
    "DomainEncoder",
    "DomainGaussian",
    "DomainObjective",
    "EnergyObjective",
    "Grids",
    "in_chunks",
    "KINDS",
    "LabelledObjective",
    "likely",
    "LOSSES",
    "MixtureObjective",
    "MixtureOfGaussians",
    "Navigator",
    "Objective",
    "as_floats",
    "Penalty",
    "Pixels",
    "PRIORS",
    "QuantisedDecoder",
    "QuantisedEncoder",
    "QuantisedObjective",
    "ReadBack",
    "Rendering",
    "shuffled",
    "SlotObjective",
    "SPARSE",
    "SPARSE_ACTIVATIONS",
    "SparseCoder",
    "SparsePair",
    "SparseRecipe",
    "TARGETS",
    "THROUGH",
    "Units",
    "SpikesAndSlabs",
    "VaDEObjective",
    "GameObjective",
    "CodedGenerator",
    "SPARSE_TERMS",
    "NoiseCode",
    "LabelCode",
    "FlowCode",
    "MonotoneFlow",
    "augmented",
    "moved_code",
    "moving",
    "path_deviation",
    "path_lengths",
    "r1",
    "to_expose",
    "to_pass",
]
