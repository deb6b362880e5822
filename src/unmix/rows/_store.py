"""Activations on disk: a folder of memory-mapped shards, with what is known about them in `index.json`."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ._rows import Rows

_BLOCK = 2**22  # entries of a block


@dataclass(frozen=True, eq=False)
class ActivationStore:
    """Activations, of which a block at a time is read, and what is known of each row.

    Rows that the mask rule leaves out (the first position of each window, outliers) are not among its rows;
    `whole` has them all. `unmix.data.read_activations` opens one.

    Parameters
    ----------
    source : Rows
        All rows, masked or not.
    column : callable (str) -> array or None
        Reads a column of all rows: "token_ids", "position", "document", "masked", "norms".
    info : dict
        Model, site, mask rule, mean, norms and hashes.
    masked : bool
        Whether the mask rule is applied.
    decode : callable (sequence of int) -> list of str, optional
        The text of tokens, where the tokenizer is known.

    Examples
    --------
    >>> import tempfile, unmix
    >>> path = f"{tempfile.mkdtemp()}/x.npy"
    >>> np.save(path, np.vstack([np.eye(3), [[99.0, 0.0, 0.0]]]))
    >>> store = unmix.data.read_activations(path)
    >>> store.shape, store.whole.shape
    ((3, 3), (4, 3))
    """

    source: Rows
    column: Callable[[str], np.ndarray | None]
    info: dict[str, Any] = field(repr=False)
    masked: bool = True
    decode: Callable[[Any], list[str]] | None = field(default=None, repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.kept), self.source.n_features

    def __len__(self) -> int:
        return len(self.kept)

    @property
    def whole(self) -> "ActivationStore":
        """The same with the rows that the mask rule leaves out."""
        return replace(self, masked=False)

    @cached_property
    def kept(self) -> np.ndarray:
        """Which of all rows each row is."""
        hidden = self.column("masked") if self.masked else None
        return np.arange(self.source.n_rows) if hidden is None else np.flatnonzero(~hidden)

    @cached_property
    def token_ids(self) -> np.ndarray | None:
        """The token of each row."""
        return self._known("token_ids")

    @cached_property
    def position(self) -> np.ndarray | None:
        """The place of each row in its window."""
        return self._known("position")

    @cached_property
    def document(self) -> np.ndarray | None:
        """The number of each row's window."""
        return self._known("document")

    @property
    def mean(self) -> np.ndarray:
        """The mean of the rows that are not masked."""
        return np.asarray(self.info["mean"])

    def rows(self, block: int | None = None) -> Rows:
        """Return the rows as estimators read them, in blocks."""
        n, d = self.shape
        size = max(1, _BLOCK // d) if block is None else block
        return Rows(self.take, n, d, self.source.dtype, size)

    def take(self, start: int, stop: int) -> np.ndarray:
        """Return rows from `start` to `stop`."""
        place = self.kept[start:stop]
        if not len(place):
            return np.empty((0, self.source.n_features), self.source.dtype)
        found = np.asarray(self.source.take(int(place[0]), int(place[-1]) + 1))
        return found if len(found) == len(place) else found[place - place[0]]

    def blocks(self, size: int | None = None) -> Iterator[np.ndarray]:
        """Yield the rows in blocks."""
        return self.rows(size).blocks()

    def text(self, token_ids: Any) -> list[str]:
        """Return the text of tokens; of each its number, where no tokenizer is known."""
        ids = [int(token) for token in np.ravel(token_ids)]
        return [str(token) for token in ids] if self.decode is None else self.decode(ids)

    def _known(self, name: str) -> np.ndarray | None:
        found = self.column(name)
        return None if found is None else found[self.kept]
