"""How each latent goes with every other column of the table: categories, two values, numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from unmix._fitted import thinned

from ._columns import Column, column_of
from ._enrichment import tail
from ._variables import sign_of

DRAWS, FEWEST = 499, 99  # permutations, and how few there may be
MOST_ROWS = 10_000  # on which relations are measured
_WORK = 5e8  # entries that all permutations may touch
NULL = (
    "Relations to other columns: noise is what 95% of permutations of the rows stay below; a column is told "
    "where p, corrected for all columns and latents, is at most .05. Rows are permuted within no batch "
    "and no group: columns that go together are found together, and replicates count as independent rows."
)


@dataclass(frozen=True)
class Relation:
    """How one latent goes with one column.

    Attributes
    ----------
    column, kind : str
        "eta squared" for categories: the share of the latent's variance that lies between them; "AUROC" for
        two values: the chance that a row with the value `where` has more of the latent than one without;
        "correlation" of ranks for numbers.
    value, noise, p : float
        `noise` is what 95% of permutations of the rows stay below; `p` is corrected for all columns and
        latents.
    where : str
        The category whose mean stands out most, with its sign; of two values the one that has more.
    """

    column: str
    kind: str
    value: float
    noise: float
    p: float
    where: str = ""

    @property
    def strength(self) -> float:
        """A share of variance beyond noise, by which columns of different kinds can be ordered."""
        shares = {"eta squared": self.value, "correlation": self.value**2, "AUROC": (2 * self.value - 1) ** 2}
        noise = {"eta squared": self.noise, "correlation": self.noise**2, "AUROC": (2 * self.noise - 1) ** 2}
        return (shares[self.kind] - noise[self.kind]) / max(1 - noise[self.kind], 1e-12)

    @property
    def short(self) -> str:
        """The column and the number alone."""
        if self.kind == "correlation":
            return f"{self.column} {sign_of(self.value)}{abs(self.value):.2f}"
        number = f"{self.value:.0%}" if self.kind == "eta squared" else f"AUROC {self.value:.2f}"
        return f"{self.column} {number}"

    @property
    def floor(self) -> str:
        """What noise would give, as it is printed beside the number."""
        if self.kind == "eta squared":
            return f"{self.noise:.0%}" if self.noise >= 0.005 else "<1%"
        return f"{self.noise:.2f}"

    def __str__(self) -> str:
        where = f", most {self.where}" if self.where else ""
        return f"{self.short} (noise {self.floor}){where}"


@dataclass(frozen=True, eq=False)
class Relations:
    """For each latent its relation to each column, the clearest first; and the columns left out, with why."""

    of: tuple[tuple[Relation, ...], ...]
    left_out: Mapping[str, str]


def relations(
    codes: Any, metadata: Mapping[str, Any], *, random_state: int | None = 0, n_draws: int | None = None
) -> Relations:
    """Measure how each latent goes with each column of a table.

    Parameters
    ----------
    codes : array of shape (n_samples, n_latents)
    metadata : mapping of str to array of shape (n_samples,)
        Text or numbers. None, NaN and empty text are missing; such rows are left out for that column. Whole
        numbers that take at most 24 values, ten rows each, count as categories. Of more than 10,000 rows
        every k-th is used.
    random_state : int, optional
    n_draws : int, optional
        Permutations; by default 499, fewer where that would take long.

    Returns
    -------
    Relations

    Examples
    --------
    >>> codes = np.random.default_rng(0).normal(size=(200, 2))
    >>> week = np.where(codes[:, 0] > 0, "late", "early")
    >>> found = relations(codes, {"week": week, "well": [f"w{i}" for i in range(200)]})
    >>> print(found.of[0][0])
    week AUROC 1.00 (noise 0.59), most late
    >>> dict(found.left_out)
    {'well': 'nearly every row has a value of its own'}
    """
    values = thinned(np.asarray(codes, dtype=float), MOST_ROWS)
    read = {str(name): _read(str(name), column, len(codes)) for name, column in metadata.items()}
    left_out = {name: found for name, found in read.items() if isinstance(found, str)}
    columns = [found for found in read.values() if isinstance(found, Column)]
    rng, n_latents = np.random.default_rng(random_state), values.shape[1]
    few = int(np.clip(_WORK / (values.size * max(len(columns), 1)), FEWEST, DRAWS))
    measured = [_measured(column, values, n_draws or few, rng) for column in columns]
    greatest = np.max([each.scores.max(1) for each in measured], axis=0) if measured else np.zeros(0)
    found = [_told(column, each, greatest) for column, each in zip(columns, measured, strict=True)]
    of = (sorted((each[j] for each in found), key=lambda one: -one.strength) for j in range(n_latents))
    return Relations(tuple(map(tuple, of)), left_out)


def _read(name: str, column: Any, n_rows: int) -> Column | str:
    values = np.asarray(column)
    if values.shape != (n_rows,):
        raise ValueError(
            f"`metadata` must hold {n_rows} values, one per row, got shape {values.shape} for {name!r}. "
            "Pass the columns of the same table."
        )
    return column_of(name, thinned(values, MOST_ROWS))


class _Measured(NamedTuple):
    value: np.ndarray
    noise: np.ndarray
    score: np.ndarray  # standardised by the permutations
    scores: np.ndarray  # of the permutations themselves, (n_draws, n_latents)
    where: list[str]


def _measured(column: Column, codes: np.ndarray, n_draws: int, rng: Any) -> _Measured:
    z = column.prepared(codes)
    value = column.measure(z)
    drawn = np.array([column.size(column.measure(z[rng.permutation(len(z))])) for _ in range(n_draws)])
    centre, spread = drawn.mean(0), np.maximum(drawn.std(0), 1e-12)
    noise = np.quantile(drawn, 0.95, axis=0) + column.chance
    score, scores = (column.size(value) - centre) / spread, (drawn - centre) / spread
    return _Measured(value, noise, score, scores, column.where(z))


def _told(column: Column, found: _Measured, greatest: np.ndarray) -> list[Relation]:
    shown = column.size(found.value) + column.chance if column.kind == "AUROC" else found.value
    p = tail(greatest, found.score)
    cells = zip(shown, found.noise, p, found.where, strict=True)
    return [Relation(column.name, column.kind, float(v), float(n), float(q), w) for v, n, q, w in cells]
