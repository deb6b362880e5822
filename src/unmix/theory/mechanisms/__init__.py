"""Mechanistic independence: factors, types D, M, S and H_n, sparsity gaps."""

from ._derivatives import finite_differences
from ._finest import FinestPartition, factor_graph, finest_partition
from ._mechanisms import MechanismCertificate, certify_mechanisms
from ._sparsity_gap import SparsityGap, sparsity_gap
from ._tangent import tangent_factors
from ._theorems import FITS
from ._types import Mechanism
