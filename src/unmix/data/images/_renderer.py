"""Images that are drawn when they are asked for: rows in, pixels out, on any device."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, final

import numpy as np
import torch
from jaxtyping import Num, UInt8
from torch import Tensor

Paint = Callable[[Num[Tensor, "n k"]], UInt8[Tensor, "n h w c"]]

_HOST, _DEVICE = 2**20, 2**29  # floats that a chunk of images works with: what fits a cache, and a GPU
_REPEATED = 64  # rows in a chunk, at most, for each that takes the full work


@final
class Renderer:
    """Images of which only the numbers that they show are stored.

    It indexes like an array of bytes, and draws the rows that are asked for: the images of a whole
    factorial are never in memory together, unless somebody asks for all of them.

    Parameters
    ----------
    paint : callable
        Takes numbers of shape (n, k) on a device, and returns images there, bytes of shape (n, h, w, c).
    values : array of shape (n_images, k)
        The numbers that each image shows.
    shape : tuple of int
        Height, width and channels.
    work : int
        Floats that painting one image takes, which says how many are painted at a time.
    shared : sequence of int
        Columns of `values` that most of that work depends on, where `paint` does it once for all rows that
        agree in them: such rows then come together, wherever they are among those that were asked for.

    Examples
    --------
    >>> grey = lambda values: values[:, :, None, None].expand(-1, 2, 2, 1).to(torch.uint8)
    >>> images = Renderer(grey, np.array([[0], [100], [200]]), (2, 2, 1), work=4)
    >>> images.shape, images.dtype, images[1, ...].max(), images[[2, 0]][:, 0, 0, 0].tolist()
    ((3, 2, 2, 1), dtype('uint8'), np.uint8(100), [200, 0])
    >>> images.rendered(slice(1, None), "cpu").flatten(1)
    tensor([[100, 100, 100, 100],
            [200, 200, 200, 200]], dtype=torch.uint8)
    """

    dtype, ndim = np.dtype(np.uint8), 4

    def __init__(
        self,
        paint: Paint,
        values: np.ndarray,
        shape: tuple[int, int, int],
        *,
        work: int,
        shared: Sequence[int] = (),
    ) -> None:
        self.paint, self.values, self.work, self.shared = paint, values, work, list(shared)
        self.shape = (len(values), *shape)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> np.ndarray:
        rows, *within = rows if isinstance(rows, tuple) else (rows,)
        chosen = self.values[rows]
        drawn = self._drawn(np.atleast_2d(chosen), torch.device("cpu")).numpy()
        return drawn[(slice(None) if chosen.ndim == 2 else 0, *within)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self[:], dtype=dtype)

    def rendered(self, rows: Any, device: str | torch.device) -> UInt8[Tensor, "n h w c"]:
        """Draw images on a device, in chunks, without a copy on the host.

        Parameters
        ----------
        rows : slice, or array of int or bool
            Which images.
        device : str or torch.device

        Returns
        -------
        Tensor of bytes, of shape (n, height, width, n_channels), on that device
        """
        return self._drawn(self.values[rows], torch.device(device))

    @torch.no_grad()
    def _drawn(self, values: np.ndarray, device: torch.device) -> Tensor:
        chunk = max(1, (_HOST if device.type == "cpu" else _DEVICE) // self.work)
        if len(values) <= chunk:
            return self.paint(torch.tensor(values, device=device))
        images = torch.empty((len(values), *self.shape[1:]), dtype=torch.uint8, device=device)
        for rows in _alike(values[:, self.shared], chunk) if self.shared else _in_turn(len(values), chunk):
            images[rows] = self.paint(torch.tensor(values[rows], device=device))
        return images


def _in_turn(n: int, chunk: int) -> Iterator[slice]:
    """Return rows as they come, a chunk at a time."""
    return (slice(first, first + chunk) for first in range(0, n, chunk))


def _alike(values: np.ndarray, chunk: int) -> Iterator[np.ndarray]:
    """Return rows in the order of their values, a chunk of different values at a time.

    Examples
    --------
    >>> [rows.tolist() for rows in _alike(np.array([[5], [3], [5], [4], [3]]), 2)]
    [[1, 4, 3], [0, 2]]
    """
    order = np.lexsort(values.T)
    changes = (np.diff(values[order], axis=0) != 0).any(1)
    number = np.concatenate([[0], np.cumsum(changes)])
    for rows in np.split(order, np.flatnonzero(np.diff(number // chunk)) + 1):
        # images of a chunk are in memory twice: where very many repeat a value, they are cut as well
        yield from np.split(rows, range(_REPEATED * chunk, len(rows), _REPEATED * chunk))
