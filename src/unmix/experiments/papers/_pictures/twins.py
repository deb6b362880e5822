"""The sets of images: twins of public ones, at the size that a budget affords.

The public files can't be had everywhere, so that every number is about another set of images than the
paper's: the same factors with the same values, but cameras, lights and shapes of ours.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from torch import Tensor

from unmix.data import cars3d, dsprites, mpi3d, shapes3d

OTHER = "another set of images"
TWINS: dict[str, Callable[..., Any]] = {
    "Shapes3D twin": shapes3d,
    "MPI3D twin": mpi3d,
    "Cars3D twin": cars3d,
    "dSprites twin": dsprites,
}
TUNED_FOR = {"Shapes3D twin": "shapes3d", "MPI3D twin": "mpi3d"}  # sets that recipes have settings for
SIZE = {"smoke": 16, "laptop": 16, "gpu": 64}
IMAGES = {"smoke": 48, "laptop": 10_000, "gpu": 10**9}
SCORED = {"smoke": 48, "laptop": 3000, "gpu": 10_000}
FEW = {"Cars3D twin": 4}  # levels of each factor at the smallest budget, where they are not two


@dataclass(frozen=True)
class Pictures:
    """Some images of a twin, or all of them.

    Attributes
    ----------
    name : str
    data : FactorDataset
        The whole twin; its images are drawn when they are asked for.
    rows : int array
        Which images are trained on, in the order of their codes.
    scored : int array
        Which of these are scored: positions in `rows`.
    """

    name: str
    data: Any
    rows: np.ndarray
    scored: np.ndarray

    @property
    def factors(self) -> np.ndarray:
        """Factors of the images that are scored."""
        return self.data.factors[self.rows[self.scored]]

    @property
    def whole(self) -> bool:
        """Whether every combination of factors is there."""
        return len(self.rows) == len(self.data)

    def images(self, device: Any, at: np.ndarray | None = None) -> Tensor:
        """Draw the images on a device, all or those at some positions, bytes of shape (n, h, w, c)."""
        return self.data.images.rendered(self.rows if at is None else self.rows[at], device)


@lru_cache(maxsize=2)
def pictures(twin: str, budget: str, size: int = 0) -> Pictures:
    """Choose images of a twin: the same for all seeds, which tell apart trainings and not data.

    Parameters
    ----------
    twin : str
        One of `TWINS`.
    budget : {"smoke", "laptop", "gpu"}
    size : int
        Height and width; 0 for that of the budget.

    Returns
    -------
    Pictures
    """
    data = TWINS[twin](size=size or SIZE[budget])
    rng = np.random.default_rng(0)
    most = FEW.get(twin, 2) if budget == "smoke" else max(data.sizes)
    few = np.flatnonzero((data.factors < most).all(1))
    rows = few if len(few) <= IMAGES[budget] else np.sort(rng.choice(few, IMAGES[budget], replace=False))
    scored = rng.permutation(len(rows))[: SCORED[budget]]
    return Pictures(twin.partition(" ")[0], data, rows, scored)
