"""Images of known factors: rendered twins of public sets, the public files themselves, and folders of ours.

Every set is a `FactorDataset`. A twin is rendered when its images are asked for, on the CPU or a GPU, so
that nothing of it needs to be on disk.
"""

from ._balls import Balls, balls
from ._renderer import Renderer

__all__ = ["Balls", "Renderer", "balls"]
