"""Penalties on decoders: functions `(decoder, z) -> scalar tensor`, varied by `functools.partial`.

Each sums over the entries of a sample and averages over the batch. `check_penalty` verifies one of your own.
"""

from ._check import PenaltyReport, check_penalty
from ._compositional import compositional_contrast
from ._domains import domain_code, edge_count, mask_sparsity, perturbation_sparsity
from ._orthogonality import hessian_penalty, ima_contrast, orojar
from ._slots import slot_sparsity
from ._sparsity import dependency_sparsity, jacobian_sparsity, latent_sparsity

__all__ = [
    "dependency_sparsity",
    "jacobian_sparsity",
    "latent_sparsity",
    "orojar",
    "hessian_penalty",
    "compositional_contrast",
    "ima_contrast",
    "perturbation_sparsity",
    "edge_count",
    "domain_code",
    "mask_sparsity",
    "slot_sparsity",
    "check_penalty",
    "PenaltyReport",
]
