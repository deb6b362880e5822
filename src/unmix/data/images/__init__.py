"""Images of known factors: rendered twins of public sets, the public files themselves, and folders of ours.

Every set is a `FactorDataset`. A twin is rendered when its images are asked for, on the CPU or a GPU, so
that nothing of it needs to be on disk.
"""

from ._avatars import avatars
from ._balls import Balls, balls
from ._cars3d import cars3d
from ._dsprites import dsprites
from ._folder import check_folder, write_images
from ._mpi3d import mpi3d
from ._read import are_images, load_factors, read_images
from ._renderer import Renderer
from ._shapes3d import shapes3d
from ._styles import domain_of, paired_styles
from ._two_colours import two_colours

__all__ = [
    "Balls",
    "Renderer",
    "are_images",
    "avatars",
    "balls",
    "cars3d",
    "check_folder",
    "domain_of",
    "dsprites",
    "load_factors",
    "mpi3d",
    "paired_styles",
    "read_images",
    "shapes3d",
    "two_colours",
    "write_images",
]
