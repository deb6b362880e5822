"""What a table is: numbers with names, whatever stood beside them, and what was done to both."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

MISSING = ("error", "drop-rows", "drop-columns", "median")


@dataclass(frozen=True)
class Columns:
    """Which columns of a table are features, and what becomes of missing values.

    Parameters
    ----------
    features : tuple of str
        Names or patterns (`Cells_*`) of the features; without any, every numeric column is one.
    drop : tuple of str
        Names or patterns of columns that are left out altogether.
    id : str, optional
        The column that names the rows, or several that do so together: `"plate,well"`.
    labels : tuple of str
        Columns that other options use (domains, batches): never features, and kept as they are written.
    metadata_prefix : tuple of str
        Columns with such a prefix are metadata even where they hold numbers.
    missing : {"error", "drop-rows", "drop-columns", "median"}
        What becomes of missing and infinite values in features.
    layer, obsm : str, optional
        Of an AnnData object, the array to take instead of X.

    Examples
    --------
    >>> Columns(features=("Cells_*",), missing="median").missing
    'median'
    """

    features: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    id: str | None = None
    labels: tuple[str, ...] = ()
    metadata_prefix: tuple[str, ...] = ("Metadata_",)
    missing: str = "error"
    layer: str | None = None
    obsm: str | None = None

    def __post_init__(self) -> None:
        if self.missing not in MISSING:
            raise ValueError(f"`missing` must be one of {', '.join(MISSING)}, got {self.missing!r}.")


EVERY = Columns()  # every numeric column is a feature, and holes are an error


@dataclass(frozen=True, eq=False)
class Recipe:
    """What was done to a table, so that the same can be done to the next one; it travels with a model.

    Parameters
    ----------
    features : tuple of str
        The columns that are used, in order; of a table without names `x0`, `x1`, ... by position.
    named : bool
        Whether these names are the table's own.
    n_columns : int
        Of a table without names, how many it has.
    missing : str
        What becomes of missing values, as in `Columns`.
    medians, spreads : tuple of float
        Of each feature: its median, and half the range of its middle half.
    dropped : mapping of str to str
        Columns that were left out, and why.
    units : mapping of str to str
        Units of features, where the file tells them.
    notes : tuple of str
        What was done and what looks odd, a sentence each.
    layer, obsm : str, optional
        Of AnnData, the array that was taken instead of X.

    Examples
    --------
    >>> recipe = Recipe(("a",), dropped={"b": "constant"})
    >>> Recipe.from_dict(recipe.to_dict()).dropped
    {'b': 'constant'}
    """

    features: tuple[str, ...]
    named: bool = True
    n_columns: int | None = None
    missing: str = "error"
    medians: tuple[float, ...] = ()
    spreads: tuple[float, ...] = ()
    dropped: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    layer: str | None = None
    obsm: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {name: list(v) if isinstance(v, tuple) else _plain(v) for name, v in vars(self).items()}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "Recipe":
        """Undo `to_dict`; what a later version may have added is passed over."""
        known: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in stored.items()
            if name in cls.__dataclass_fields__
        }
        return cls(**known)

    @property
    def story(self) -> tuple[str, ...]:
        """What was done, in full: columns that were left out by reason, and the treatment of holes.

        >>> Recipe(("a",), missing="median", dropped={"b": "constant", "c": "constant"}).story
        ('Left out (constant): b, c.', 'Missing values are filled with medians of the fit.')
        """
        reasons = dict.fromkeys(self.dropped.values())
        left = {reason: [name for name, why in self.dropped.items() if why == reason] for reason in reasons}
        told = [f"Left out ({reason}): {', '.join(names)}." for reason, names in left.items()]
        holes = {
            "median": "Missing values are filled with medians of the fit.",
            "drop-rows": "Rows with missing values are left out.",
        }
        return (*told, *([holes[self.missing]] if self.missing in holes else []))

    def noting(self, *notes: str) -> "Recipe":
        """Return the recipe with further notes."""
        return replace(self, notes=(*self.notes, *notes))


@dataclass(frozen=True, eq=False)
class Table:
    """Finite numbers, the names of their columns, and what the source has beside them.

    Parameters
    ----------
    values : array of shape (n_rows, n_features)
        Finite; float32 where the source has it, else float64.
    names : tuple of str, optional
        Of the features; None where the source has none.
    metadata : mapping of str to array
        All other columns in the source's order: text, with None where it is missing, or numbers.
    ids : array of str, optional
        Of the rows.
    recipe : Recipe, optional
        What was done to get here.
    source : str
        The kind of source, for instance "csv" or "anndata".
    id_name : str
        What the source calls the ids; often nothing.
    ids_from : tuple of str
        The columns that name the rows together, where there are several; they are among the metadata.
    kept : array of bool, optional
        Which rows of the source these are, where some were dropped.
    origin : object, optional
        The AnnData object that the table is a part of.
    beside : pyarrow.Table, optional
        The metadata as the source stores them, so that they come back unchanged.

    Examples
    --------
    >>> table = Table(np.eye(2), ("a", "b"), {"batch": np.array(["p", "q"], dtype=object)})
    >>> table.take([1]).metadata["batch"].tolist()
    ['q']
    """

    values: np.ndarray
    names: tuple[str, ...] | None = None
    metadata: Mapping[str, np.ndarray] = field(default_factory=dict)
    ids: np.ndarray | None = None
    recipe: Recipe | None = None
    source: str = "array"
    id_name: str = ""
    ids_from: tuple[str, ...] = ()
    kept: np.ndarray | None = None
    origin: Any = None
    beside: Any = None

    @property
    def features(self) -> np.ndarray:
        """The numbers: another name of `values`."""
        return self.values

    def take(self, rows: Any) -> "Table":
        """Return some rows, by numbers or as a mask."""
        return replace(
            self,
            values=self.values[rows],
            metadata={name: column[rows] for name, column in self.metadata.items()},
            ids=None if self.ids is None else self.ids[rows],
            origin=None if self.origin is None else self.origin[np.asarray(rows)],
            beside=None if self.beside is None else self.beside.take(np.arange(len(self.values))[rows]),
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done when the table was read, a sentence each."""
        return () if self.recipe is None else self.recipe.notes


def generated(n_columns: int) -> tuple[str, ...]:
    """Name the columns of a table that has no names.

    >>> generated(2)
    ('x0', 'x1')
    """
    return tuple(f"x{j}" for j in range(n_columns))


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value
