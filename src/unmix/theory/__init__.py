"""Certificates: what can be identified from what you have, up to what, and by which theorem.

`certify` reads a dependency structure and says, latent by latent, what sparsity identifies. It keeps two
relations apart: what always follows (`may_depend`), and what the paper states (`separated_in_paper`), which
needs independent latents where children are nested. Other certifiers read mixtures, domains, Jacobians,
decoders and pairs of runs, and `explain` joins what they say. What is estimated from samples (resamples,
refits) takes a `random_state`; all else is exact.
"""

from ._between import Between, between
from ._certificate import Certificate
from ._certify import StructureCertificate, certify
from ._certify_decoder import DecoderCertificate, certify_decoder
from ._certify_pair import PairCertificate, certify_pair
from ._change_ranks import RankCheck
from ._changes import SufficientChanges, sufficient_changes
from ._common_basis import CommonBasis, StandardBasis
from ._components import certify_components
from ._counterexample import Counterexample, counterexample
from ._derivatives import finite_differences
from ._domains import DomainCertificate, LatentPlan, certify_domains
from ._explain import explain
from ._explanation import Explanation
from ._finest import FinestPartition, factor_graph, finest_partition
from ._genericity import Genericity
from ._ica_constants import Curvature, ica_constant, ica_curvature, whitening_constants
from ._identify import Region, identify
from ._mechanism_types import Mechanism
from ._mechanisms import MechanismCertificate, certify_mechanisms
from ._mixture import MixtureCertificate, certify_mixture, certify_supports
from ._near_isometry import isometric_constant, near_isometry_bound
from ._nonlinearity import Nonlinearity, nonlinearity
from ._reading import Reading, Unused, resampled_structures
from ._refits import refitted_structures
from ._softmax import SoftmaxDiversity, softmax_diversity
from ._sparsity_gap import SparsityGap, sparsity_gap
from ._stability import Stability, stability
from ._tangent import tangent_factors
from ._triangular import TriangularAlternative, triangular_alternative
from ._variability import SupportVariability

__all__ = [
    "certify",
    "StructureCertificate",
    "Certificate",
    "between",
    "Between",
    "identify",
    "Region",
    "explain",
    "Explanation",
    "Reading",
    "Unused",
    "nonlinearity",
    "Nonlinearity",
    "triangular_alternative",
    "TriangularAlternative",
    "counterexample",
    "Counterexample",
    "stability",
    "Stability",
    "resampled_structures",
    "refitted_structures",
    "certify_mixture",
    "certify_supports",
    "certify_components",
    "MixtureCertificate",
    "Genericity",
    "CommonBasis",
    "StandardBasis",
    "SupportVariability",
    "sufficient_changes",
    "SufficientChanges",
    "RankCheck",
    "certify_domains",
    "DomainCertificate",
    "LatentPlan",
    "certify_mechanisms",
    "MechanismCertificate",
    "Mechanism",
    "finest_partition",
    "FinestPartition",
    "factor_graph",
    "tangent_factors",
    "sparsity_gap",
    "SparsityGap",
    "finite_differences",
    "certify_decoder",
    "DecoderCertificate",
    "certify_pair",
    "PairCertificate",
    "softmax_diversity",
    "SoftmaxDiversity",
    "near_isometry_bound",
    "isometric_constant",
    "ica_curvature",
    "Curvature",
    "whitening_constants",
    "ica_constant",
]
