"""What is minimised: modules that map a batch to named terms, unweighted.

An objective holds its networks and the law of its code; `forward(*batch)` returns the terms, `encode` the
codes. The weights of the terms, restarts and steps belong to `training`.
"""

from ._domain import DomainEncoder, DomainObjective
from ._domain_priors import KINDS, PRIORS, DomainGaussian
from ._mixture import MixtureOfGaussians, VaDEObjective
from ._moments import LabelledObjective
from ._slot import AdditiveDecoder, SlotObjective
from ._sparse_coder import ACTIVATIONS as SPARSE_ACTIVATIONS
from ._sparse_coder import SparseCoder, SparseRecipe
from ._sparse_pair import SparsePair, Units
from ._spikes_and_slabs import MixtureObjective, SpikesAndSlabs
from ._vae import Objective, Penalty, as_floats, in_chunks

__all__ = [
    "AdditiveDecoder",
    "DomainEncoder",
    "DomainGaussian",
    "DomainObjective",
    "in_chunks",
    "KINDS",
    "LabelledObjective",
    "MixtureObjective",
    "MixtureOfGaussians",
    "Objective",
    "as_floats",
    "Penalty",
    "PRIORS",
    "SlotObjective",
    "SPARSE_ACTIVATIONS",
    "SparseCoder",
    "SparsePair",
    "SparseRecipe",
    "Units",
    "SpikesAndSlabs",
    "VaDEObjective",
]
