"""Images of known factors, such as the synthetic benchmarks of disentanglement."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from unmix._html import panel, table

from ._checks import at_least, is_count


class Images(Protocol):
    """What can be indexed like an array of images: an array, a memory map, or a renderer."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> Any: ...

    def __len__(self) -> int: ...

    def __getitem__(self, rows: Any) -> Any: ...


@dataclass(frozen=True, eq=False)
class FactorDataset:
    """Images together with the discrete factors that they show.

    Neither images nor factors are copied: images may be a memory map, or any object with `shape`, `dtype`,
    `len` and `images[rows]`, which renders the images of an array of rows.

    For metrics that hold factors still, `render` is the generator where all combinations of factors have an
    image. Elsewhere, give them arrays: ``factor_vae_score(data.factors, encode(data.images))``.

    Attributes
    ----------
    images : array-like of shape (n_images, height, width, n_channels)
        Bytes or floats.
    factors : int array of shape (n_images, n_factors)
        Values from 0 on.
    names : tuple of str
        Of the factors.
    sizes : tuple of int
        Number of values of each factor; without any, nothing is known of the factors.

    Examples
    --------
    >>> grid = np.array([(shape, shade) for shape in range(2) for shade in range(3)])
    >>> images = np.zeros((6, 8, 8, 1), dtype=np.uint8)
    >>> images[:, 4:] = 100 * grid[:, 1].reshape(6, 1, 1, 1)
    >>> images[grid[:, 0] == 1, :4] = 255
    >>> data = FactorDataset(images, grid, names=("shape", "shade"), sizes=(2, 3))
    >>> data.sample(4, fixed={"shade": 2}, random_state=0).factors.tolist()
    [[1, 2], [1, 2], [1, 2], [0, 2]]

    Codes that read the factors off the images are told which factor is held still:

    >>> from unmix.metrics import factor_vae_score
    >>> encode = lambda x: np.stack([x[:, 0, 0, 0] == 255, x[:, 7, 0, 0] / 100], axis=1)
    >>> factor_vae_score(data.factors, encode, generator=data.render, n_train=200, n_eval=200)
    1.0
    """

    images: Images
    factors: np.ndarray
    names: tuple[str, ...]
    sizes: tuple[int, ...]

    def _repr_html_(self) -> str:
        shape = " x ".join(str(n) for n in self.images.shape[1:])
        rows = zip(self.names, self.sizes, strict=True) if self.sizes else ()
        title = f"FactorDataset: {len(self.images):,} images of {shape}"
        return panel(title, table(("factor", "values"), rows))

    def __post_init__(self) -> None:
        factors = np.asarray(self.factors).view()
        factors.setflags(write=False)
        for name, value in (("factors", factors), ("names", tuple(self.names)), ("sizes", tuple(self.sizes))):
            object.__setattr__(self, name, value)
        _check_images(self.images)
        _check_factors(factors, len(self.images), self.names, self.sizes)

    def __len__(self) -> int:
        return len(self.factors)

    def sample(
        self,
        n: int,
        fixed: Mapping[str | int, int] | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> "FactorDataset":
        """Draw images with replacement, every combination of factors that has one being equally likely.

        Parameters
        ----------
        n : int
            Number of images.
        fixed : mapping of factors to values, optional
            Factors that are held still, by name or by position: ``{"shape": 2}``.
        random_state : int, Generator or None

        Returns
        -------
        FactorDataset
            With images in memory.
        """
        at_least(n=(n, 1))
        rng, grid = np.random.default_rng(random_state), self._grid
        chosen = rng.choice(self._showing(fixed or {}), n)
        rows = grid.rows[grid.firsts[chosen] + rng.integers(grid.counts[chosen])]
        return FactorDataset(np.asarray(self.images[rows]), self.factors[rows], self.names, self.sizes)

    def render(self, factors: ArrayLike) -> np.ndarray:
        """Return the image of each combination of factors, the first one where there are several.

        Parameters
        ----------
        factors : array-like of shape (n_samples, n_factors)

        Returns
        -------
        array of shape (n_samples, height, width, n_channels)
        """
        wanted, grid = np.asarray(factors), self._grid
        if wanted.ndim != 2 or wanted.shape[1] != len(self.names):
            raise ValueError(f"`factors` must have one column for each of {self.names}, got {wanted.shape}.")
        codes = self._codes(np.clip(wanted, 0, np.array(self.sizes) - 1))
        rows = grid.rows[grid.firsts[np.searchsorted(grid.codes, codes).clip(max=len(grid.codes) - 1)]]
        missing = np.flatnonzero((self.factors[rows] != wanted).any(1))
        if len(missing):
            raise ValueError(
                f"`factors` must be combinations that have an image, got {wanted[missing[0]].tolist()}. "
                "Use `sample` where some combinations are left out."
            )
        return np.asarray(self.images[rows])

    def _codes(self, factors: np.ndarray) -> np.ndarray:
        """Return one integer for each combination of factors."""
        if not self.sizes:  # images alone
            return np.zeros(len(factors), dtype=np.int64)
        return np.ravel_multi_index(tuple(factors.astype(np.int64).T), self.sizes)

    @cached_property
    def _grid(self) -> "_Grid":
        codes = self._codes(self.factors)
        rows = np.argsort(codes, kind="stable")
        return _Grid(rows, *np.unique(codes[rows], return_index=True, return_counts=True))

    def _showing(self, fixed: Mapping[str | int, int]) -> np.ndarray:
        """Return the combinations in which the fixed factors have their values."""
        values = {self._position(factor): value for factor, value in fixed.items()}
        shown = self.factors[self._grid.rows[self._grid.firsts]][:, list(values)] == list(values.values())
        for (j, value), occurs in zip(values.items(), shown.any(0), strict=True):
            if not occurs:
                raise ValueError(
                    f"`fixed` must be values that occur, got {self.names[j]}={value!r}. "
                    f"Choose one of the {self.sizes[j]} from 0 on that has an image."
                )
        if not shown.all(1).any():
            raise ValueError(
                f"`fixed` must be a combination that has an image, got {fixed}. Fix fewer factors."
            )
        return np.flatnonzero(shown.all(1))

    def _position(self, factor: str | int) -> int:
        known = {name: j for j, name in enumerate(self.names)} | {j: j for j in range(len(self.names))}
        if factor not in known:
            raise ValueError(
                f"`fixed` must name factors among {self.names}, got {factor!r}. Correct the name."
            )
        return known[factor]


class _Grid(NamedTuple):
    """Rows of images, sorted by combination of factors; of each combination its code, first row and count."""

    rows: np.ndarray
    codes: np.ndarray
    firsts: np.ndarray
    counts: np.ndarray


def _check_images(images: Images) -> None:
    if not all(hasattr(images, name) for name in ("shape", "dtype", "__len__", "__getitem__")):
        raise TypeError(f"`images` must be an array or index like one, got {type(images).__name__}.")
    if len(images.shape) != 4 or not len(images):
        raise ValueError(
            f"`images` must have the shape (n_images, height, width, n_channels), got {tuple(images.shape)}. "
            "Give grey images one channel."
        )
    if images.dtype != np.uint8 and not np.issubdtype(images.dtype, np.floating):
        raise TypeError(f"`images` must be bytes (uint8) or floats, got {images.dtype}. Convert them.")


def _check_factors(factors: np.ndarray, n: int, names: tuple[str, ...], sizes: tuple[int, ...]) -> None:
    if not np.issubdtype(factors.dtype, np.integer):
        raise TypeError(f"`factors` must be integers, got {factors.dtype}. Number the values of each factor.")
    if len(set(names)) != len(names) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"`names` must be different strings, got {names}. Name every factor once.")
    if not all(is_count(size) for size in sizes) or math.prod(sizes) >= 2**63:
        raise ValueError(f"`sizes` must be integers of at least 1, with a product below 2**63, got {sizes}.")
    if factors.shape != (n, len(names)) or len(sizes) != len(names):
        raise ValueError(
            f"`factors` must have the shape (n_images, n_factors) = ({n}, {len(names)}) and `sizes` as many "
            f"numbers, got {factors.shape} and {len(sizes)}. Give each image a row, each factor a column."
        )
    outside = ((factors < 0) | (factors >= sizes)).any(0)
    if outside.any():
        j = int(np.flatnonzero(outside)[0])
        raise ValueError(
            f"`factors` must be from 0 to {sizes[j] - 1} for {names[j]}, got values from "
            f"{factors[:, j].min()} to {factors[:, j].max()}. Number values from 0 on, or correct `sizes`."
        )
