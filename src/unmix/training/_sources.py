"""Where batches come from: tensors that are held, or rows that are read or drawn as they are needed."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from unmix.rows import Rows

from ._batches import Minibatches, digest_of

_WINDOW = 2**25  # entries of the rows that are shuffled together
_PIECES = 16  # places of the table that a window is read from


class Held:
    """Tensors on their device, with the samples along the first axis."""

    def __init__(self, *tensors: Tensor) -> None:
        self.tensors = tensors

    def __len__(self) -> int:
        return len(self.tensors[0])

    def head(self, n: int) -> tuple[Tensor, ...]:
        """Return the first samples."""
        return tuple(tensor[:n] for tensor in self.tensors)

    def batches(self, **settings: Any) -> Minibatches:
        """Return endless shuffled batches."""
        return Minibatches(*self.tensors, **settings)


class Streamed:
    """Rows of a table larger than memory, of which a window at a time is shuffled.

    Parameters
    ----------
    rows : Rows
    prepare : callable
        Turns rows as they are stored into what networks take, on their device.
    window : int, optional
        Rows that are in memory at a time; by default about 128 MB of them.
    """

    def __init__(self, rows: Rows, prepare: Callable[[Any], Tensor], window: int | None = None) -> None:
        self.rows, self.prepare = rows, prepare
        self.window = window or max(_PIECES, _WINDOW // rows.n_features)

    def __len__(self) -> int:
        return self.rows.n_rows

    def head(self, n: int) -> tuple[Tensor, ...]:
        """Return samples spread over the table."""
        stride = max(1, self.rows.n_rows // n)
        return (torch.cat([self.prepare(block) for block in self.rows.every(stride)])[:n],)

    def batches(self, **settings: Any) -> "Windows":
        """Return endless batches."""
        return Windows(self, **settings)


class Drawn:
    """Samples that are made when they are asked for, such as rendered images; nothing is held.

    Parameters
    ----------
    n_samples : int
    make : callable
        Makes the samples of some numbers, an integer tensor on the CPU, wherever they are to be.

    Examples
    --------
    >>> squares = Drawn(10, lambda rows: rows[:, None] ** 2.0)
    >>> len(squares), squares.head(3)[0].flatten()
    (10, tensor([ 0.,  9., 36.]))
    """

    def __init__(self, n_samples: int, make: Callable[[Tensor], Tensor]) -> None:
        self.n_samples, self.make = n_samples, make

    def __len__(self) -> int:
        return self.n_samples

    def head(self, n: int) -> tuple[Tensor, ...]:
        """Return samples spread over all of them."""
        return (self.make(torch.arange(0, self.n_samples, max(1, self.n_samples // n))[:n]),)

    def batches(self, **settings: Any) -> "DrawnBatches":
        """Return endless batches."""
        return DrawnBatches(self, Minibatches(torch.arange(self.n_samples), **settings))


class DrawnBatches:
    """Endless batches of samples that are made as they are drawn; resumable as the numbers of them are."""

    def __init__(self, source: Drawn, numbers: Minibatches) -> None:
        self.source, self.numbers = source, numbers

    def __iter__(self) -> Iterator[tuple[Tensor, ...]]:
        return self

    def __next__(self) -> tuple[Tensor, ...]:
        rows, *beside = next(self.numbers)
        made = self.source.make(rows)
        return (made, *(part.to(made.device) for part in beside))

    def share(self, rank: int, size: int) -> int:
        """Give one of so many processes its rows of each batch: only those are made."""
        return self.numbers.share(rank, size)

    def state_dict(self) -> dict[str, Any]:
        """Return the place in the batches."""
        return self.numbers.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a place saved by `state_dict`."""
        self.numbers.load_state_dict(state)

    def fingerprint(self) -> dict[str, Any]:
        """Say what is drawn, so that a resumed run notices other data."""
        return self.numbers.fingerprint() | {"samples": digest_of(self.source.head(64))}


class Windows:
    """Endless batches of rows that are read from the table in windows, which resume bit for bit.

    A pass visits pieces of the table in random order. Sixteen of them make a window, whose rows are shuffled;
    a batch may end in the next window, so that every row is seen exactly once in each pass.

    Examples
    --------
    >>> from unmix.rows import array_rows
    >>> rows = array_rows(torch.arange(10.0)[:, None], block=4)
    >>> batches = Windows(Streamed(rows, torch.as_tensor, window=4), 5, torch.Generator().manual_seed(0))
    >>> torch.cat([next(batches)[0], next(batches)[0]]).flatten().sort().values
    tensor([0., 1., 2., 3., 4., 5., 6., 7., 8., 9.])
    """

    def __init__(
        self, source: Streamed, batch_size: int, generator: torch.Generator, noise: int | None = None
    ) -> None:
        self.source, self.generator, self.noise = source, generator, noise
        self.batch_size = min(batch_size, len(source))
        self.piece = max(1, source.window // _PIECES)
        self._seed, self._next, self._cursor = 0, 0, 0  # of the pass; windows read in it; place in the last
        self._held, self._own = self.source.prepare(self.source.rows.take(0, 1))[:0], 0
        self._length, self._rank, self._size = 0, 0, 1  # of the window, of which one process may hold a part

    def __iter__(self) -> Iterator[tuple[Tensor, ...]]:
        return self

    def __next__(self) -> tuple[Tensor, ...]:
        parts, done = [], 0
        while done < self.batch_size:
            if self._cursor == self._length:
                self._turn(done)
            n = min(self.batch_size - done, self._length - self._cursor)
            own = self._own + int(self._owned(done, n).sum())
            parts.append(self._held[self._own : own])
            self._own, self._cursor, done = own, self._cursor + n, done + n
        batch = torch.cat(parts)
        return (batch,) if self.noise is None else (batch, self._normal(batch))

    def share(self, rank: int, size: int) -> int:
        """Give one of so many processes its rows of each batch: of a window it holds only those."""
        self._rank, self._size = rank, size
        self._read_again()
        return self.batch_size

    def _owned(self, place: int, n: int) -> Tensor:
        """Tell which of n rows from a place in a batch on, and in those after it, are of this process."""
        return torch.arange(place, place + n) % self.batch_size % self._size == self._rank

    def _turn(self, place: int) -> None:
        """Read the next window, of a new pass where the last one is over, for a place in a batch."""
        if self._next % -(-self._n_pieces // _PIECES) == 0:
            self._seed = int(torch.randint(2**62, (), generator=self.generator))
            self._next = 0
        self._held, self._own, self._cursor = self._window(self._next, place), 0, 0
        self._next += 1

    @property
    def _n_pieces(self) -> int:
        return -(-len(self.source) // self.piece)

    def _window(self, number: int, place: int) -> Tensor:
        order = torch.randperm(self._n_pieces, generator=torch.Generator().manual_seed(self._seed))
        blocks = [self._read(i) for i in order[number * _PIECES : (number + 1) * _PIECES].tolist()]
        self._length = sum(map(len, blocks))
        shuffle = torch.Generator().manual_seed(self._seed + 1 + number)
        order = torch.randperm(self._length, generator=shuffle)
        if self._size > 1:
            order = order[self._owned(place, self._length)]
        kept, back = order.sort()
        taken, first = [], 0
        for block in blocks:
            here = kept[(kept >= first) & (kept < first + len(block))] - first
            taken.append(self.source.prepare(block if self._size == 1 else block[here.numpy()]))
            first += len(block)
        together = torch.cat(taken)
        return together[back.argsort().to(together.device)]

    def _read(self, index: int) -> Any:
        start = index * self.piece
        return self.source.rows.take(start, min(start + self.piece, len(self.source)))

    def _normal(self, like: Tensor) -> Tensor:
        whole = torch.randn(self.batch_size, self.noise or 0, generator=self.generator)
        return whole[self._rank :: self._size].to(like)

    def state_dict(self) -> dict[str, Any]:
        """Return the pass, the window, the place in it and the generator's state."""
        place = {"seed": self._seed, "next": self._next, "cursor": self._cursor}
        return place | {"generator": self.generator.get_state()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a place saved by `state_dict`: the window is read again."""
        self._seed, self._next, self._cursor = state["seed"], state["next"], state["cursor"]
        self.generator.set_state(state["generator"])
        self._read_again()

    def _read_again(self) -> None:
        """Read the window once more: after a pause, or for another part of it."""
        if self._next:
            place = -self._cursor % self.batch_size  # batches end where places are saved
            self._held = self._window(self._next - 1, place)
            self._own = int(self._owned(place, self._cursor).sum())

    def fingerprint(self) -> dict[str, Any]:
        """Say what is batched and how, so that a resumed run notices other data."""
        head = self.source.rows.head(4)
        return {
            "shape": [self.source.rows.n_rows, self.source.rows.n_features],
            "batch_size": self.batch_size,
            "seed": self.generator.initial_seed(),
            "head": head.astype(float).sum().item(),
        }


Source = Held | Streamed | Drawn
