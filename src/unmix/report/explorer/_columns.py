"""Columns as a page holds them: numbers in steps of their range, categories by place, in few bytes."""

import base64
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

MOST_LEVELS = 24  # categories that are told apart; the others are one


@dataclass(frozen=True, eq=False)
class Column:
    """One column of the page.

    Attributes
    ----------
    name : str
    role : {"latent", "other", "map", "metadata", "variable"}
    places : ndarray of uint16 or uint8, shape (n_rows,)
        Of a number its place between `low` and `high` in 65,534 or 254 steps; of a category the place of its
        level; the largest number of the type where there is none.
    low, high : float
    levels : tuple of str
        Names of the categories; empty for numbers.
    """

    name: str
    role: str
    places: np.ndarray
    low: float = 0.0
    high: float = 1.0
    levels: tuple[str, ...] = ()

    @property
    def values(self) -> np.ndarray:
        """The numbers as the page shows them; nan where there is none."""
        missing = np.iinfo(self.places.dtype).max
        shares = self.places / (missing - 1)
        return np.where(self.places == missing, np.nan, self.low + shares * (self.high - self.low))

    @property
    def data(self) -> bytes:
        """One or two bytes for each row, the lower first."""
        return self.places.astype(self.places.dtype.newbyteorder("<")).tobytes()

    @property
    def text(self) -> str:
        """The same as text, for a page."""
        return base64.b64encode(self.data).decode()

    def to_dict(self) -> dict[str, Any]:
        """Return what the page must know to read it."""
        told = {"name": self.name, "role": self.role, "low": self.low, "high": self.high}
        return told | {"levels": list(self.levels), "bytes": self.places.itemsize}


def numbers(name: str, role: str, values: Any, *, dtype: Any = np.uint16) -> Column:
    """Keep a column of numbers to 1/65,534 of its range, or to 1/254 in one byte.

    >>> column = numbers("mass", "variable", [0.0, np.nan, 2.0])
    >>> column.values.tolist()
    [0.0, nan, 2.0]
    """
    x = np.asarray(values, dtype=np.float64)
    known = np.isfinite(x)
    seen = x if known.all() else x[known]
    low, high = (float(seen.min()), float(seen.max())) if len(seen) else (0.0, 1.0)
    width = high - low if high > low else 1.0
    missing = np.iinfo(dtype).max
    steps = np.subtract(seen, low)
    for change, by in ((np.divide, width), (np.multiply, missing - 1)):
        change(steps, by, out=steps)
    places = np.full(len(x), missing, dtype=dtype)
    places[known] = np.rint(steps, out=steps).astype(dtype)
    return Column(name, role, places, low, low + width)


def categories(name: str, role: str, values: Any) -> Column:
    """Keep a column of words by the places of its levels, the most frequent first; rare ones are one.

    >>> column = categories("plate", "metadata", ["b", "a", "b", None])
    >>> column.levels, column.places.tolist()
    (('b', 'a'), [0, 1, 0, 65535])
    """
    words = [None if _absent(value) else str(value) for value in values]
    counted = Counter(word for word in words if word is not None).most_common()
    kept = [word for word, _ in counted[:MOST_LEVELS]]
    rest = len(counted) - len(kept)
    place = {word: k for k, word in enumerate(kept)}
    missing = int(np.iinfo(np.uint16).max)
    places = [missing if word is None else place.get(word, len(kept)) for word in words]
    levels = (*kept, *((f"{rest} others",) if rest else ()))
    return Column(name, role, np.asarray(places, dtype=np.uint16), levels=levels)


def _absent(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and np.isnan(value))


def metadata_column(name: str, values: Any) -> Column:
    """Keep a column that is no feature: numbers of more than a few values as numbers, the rest as words."""
    array = np.asarray(values)
    if array.dtype.kind in "fiu" and len(np.unique(array)) > MOST_LEVELS:
        return numbers(name, "metadata", array)
    return categories(name, "metadata", array.tolist())
