"""Certificates: what can be identified from what you have, up to what, and by which theorem.

`certify` reads a dependency structure and says, latent by latent, what sparsity identifies. It keeps two
relations apart: what always follows (`may_depend`), and what the paper states (`separated_in_paper`), which
needs independent latents where children are nested. Everything here is exact and free of randomness.
"""

from ._between import Between, between
from ._certificate import Certificate
from ._certify import StructureCertificate, certify
from ._explain import explain
from ._nonlinearity import Nonlinearity, nonlinearity

__all__ = [
    "certify",
    "StructureCertificate",
    "Certificate",
    "between",
    "Between",
    "explain",
    "nonlinearity",
    "Nonlinearity",
]
