"""Degenerate Gaussian mixtures: what index sets and components identify."""

from ._common_basis import CommonBasis, StandardBasis
from ._components import certify_components
from ._genericity import Genericity
from ._mixture import MixtureCertificate, certify_mixture, certify_supports
from ._theorems import MODEL
from ._variability import SupportVariability, blocks_of
