"""Diverse dictionary learning: what a sparse dependency structure identifies."""

from ._between import Between, between
from ._certify import StructureCertificate, certify, check_children
from ._counterexample import Counterexample, counterexample
from ._generic import GenericSparsity, Plan, generic_sparsity, resolution, variables_needed
from ._identify import Region, identify
from ._nonlinearity import Nonlinearity, nonlinearity
from ._refits import refitted_structures
from ._stability import Stability, stability
from ._theorems import INDEPENDENT, NONLINEAR, POSITIVE, SPARSE, SPARSE_GROUPS, assumptions
from ._triangular import TriangularAlternative, triangular_alternative
from ._wording import headline
