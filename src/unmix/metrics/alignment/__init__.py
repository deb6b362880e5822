"""How far runs agree: two up to which map, and many latent by latent."""

from ._align import align
from ._diameter import Diameter, diameter
from ._listing import CAVEAT
from ._replicate import replicate
from ._replication import Counterparts, Replication
from ._result import Alignment, MapError
from ._spans import Subspace
