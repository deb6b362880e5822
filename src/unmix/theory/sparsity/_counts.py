"""How many edges models of another kind have beyond those of the truth."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf


@dataclass(frozen=True)
class Count:
    """The fewest edges of a kind of model beyond those of the truth, which is one of them.

    Attributes
    ----------
    least : float
        Of all; 0 where none is sparser than the truth.
    other : float
        Of those that have fewer edges or contradict the theorems, so the same where `least` is below 0;
        infinite where there are none.
    order, latents : tuple of int
        Observed variables and the latents that they replace in a model with `other` edges.
    mixing : float
        Of those that contradict the theorems, with the edges that others save.
    """

    least: float
    other: float
    order: tuple[int, ...] = ()
    latents: tuple[int, ...] = ()
    mixing: float = inf

    def named(self, rows: Iterable[int], columns: Iterable[int]) -> "Count":
        """Rename observed variables and latents, from those of a part to those of the whole."""
        rows, columns = list(rows), list(columns)
        return replace(
            self,
            order=tuple(int(rows[k]) for k in self.order),
            latents=tuple(int(columns[j]) for j in self.latents),
        )


def joined(parts: Iterable[Count]) -> Count:
    """Depart from the truth where that costs least; elsewhere stay, or be sparser where that is possible.

    Examples
    --------
    >>> joined([Count(0, 3), Count(0, 0, (1,), (0,)), Count(-1, -1, (4,), (2,))])
    Count(least=-1, other=-1, order=(4,), latents=(2,), mixing=inf)
    """
    parts = list(parts)
    least = sum(part.least for part in parts)
    mixing = least + min((part.mixing - part.least for part in parts), default=inf)
    departing = min(parts, key=lambda part: part.other, default=Count(0, inf))
    chosen = [part for part in parts if part.least < 0] or [departing]
    order, latents = ([k for part in chosen for k in getattr(part, name)] for name in ("order", "latents"))
    return Count(least, least or departing.other, tuple(order), tuple(latents), mixing)
