"""The affine coordinates in which a code is sparsest, row by row.

`sparsest_rows` searches a basis of a code that is known up to an affine map, `rough_basis`
and `among_resting` one behind a mixing that bends, `likely_basis` the likeliest one, and
`lagrangian_rows` solves the published problem.
"""

from ._bent import SEARCHED, among_resting, rough_basis
from ._components import Components, components_of, genericity_gap
from ._flags import flags, too_few
from ._lagrangian import lagrangian_rows
from ._likely import likely_basis
from ._search import SparseRows, share_off, sparsest_rows
from ._spikes import Spikes, contrast, fit_spikes

__all__ = [
    "among_resting",
    "Components",
    "components_of",
    "contrast",
    "fit_spikes",
    "flags",
    "genericity_gap",
    "lagrangian_rows",
    "likely_basis",
    "rough_basis",
    "SEARCHED",
    "share_off",
    "SparseRows",
    "sparsest_rows",
    "Spikes",
    "too_few",
]
