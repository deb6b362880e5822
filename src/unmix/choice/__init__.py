"""Before a fit: how many latents a table has, and which estimator could find them.

The number comes from held-out code lengths (`unmix.solvers.number`) and is shown beside what survives: how
far linear components of two halves of the rows agree. Each estimator rests on something that the data must
have; cheap checks look for it, each beside what noise would show.
"""

from ._agreement import Agreement, agreement
from ._choice import Choice
from ._choose import choose
from ._support import Support

__all__ = ["choose", "Choice", "Support", "Agreement", "agreement"]
