"""How far two runs agree, and up to which map."""

from ._align import align
from ._diameter import Diameter, diameter
from ._result import Alignment, MapError
