"""Images of known factors: rendered twins of public sets, the public files themselves, and folders of ours.

Every set is a `FactorDataset`. A twin is rendered when its images are asked for, on the CPU or a GPU, so
that nothing of it needs to be on disk.
"""

from ._balls import Balls, balls
from ._cars3d import cars3d
from ._dsprites import dsprites
from ._mpi3d import mpi3d
from ._renderer import Renderer
from ._shapes3d import shapes3d

__all__ = ["Balls", "Renderer", "balls", "cars3d", "dsprites", "mpi3d", "shapes3d"]
