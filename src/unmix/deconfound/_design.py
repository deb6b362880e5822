"""Who is where: the batch of every row, the coarser batch around it, and whether the row is a control."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ._query import matching

_SHOWN = 5


@dataclass(frozen=True, eq=False)
class Design:
    """The batches and the controls of a table.

    Parameters
    ----------
    batch : array of int of shape (n_samples,)
        Number of the finest batch of each row: of the pair, where several columns say it together.
    names : tuple of str
        What these numbers stand for.
    outer : array of int of shape (n_samples,)
        Number of the coarsest batch: of the first column. The same as `batch` where there is but one column.
    outer_names : tuple of str
    control : array of bool of shape (n_samples,)
        Rows that nothing was done to. Whatever differs between those of two batches is technical.
    given : bool
        Whether somebody said which rows are controls; if not, all rows stand in for them.

    Examples
    --------
    >>> made = design({"week": [1, 1, 2], "plate": ["a", "b", "a"]}, ["week", "plate"])
    >>> made.names, made.outer.tolist()
    (('1|a', '1|b', '2|a'), [0, 0, 1])
    """

    batch: np.ndarray
    names: tuple[str, ...]
    outer: np.ndarray
    outer_names: tuple[str, ...]
    control: np.ndarray
    given: bool = False

    @property
    def nested(self) -> bool:
        """Whether batches lie in coarser ones."""
        return len(self.names) > len(self.outer_names)

    def __len__(self) -> int:
        return len(self.batch)

    def rows(self, chosen: Any) -> "Design":
        """Return the design of some rows."""
        return replace(self, batch=self.batch[chosen], outer=self.outer[chosen], control=self.control[chosen])

    def with_controls(self, control: np.ndarray) -> "Design":
        """Return the same design with other controls, such as one half of them."""
        return replace(self, control=control)


def joined(columns: Sequence[Any]) -> np.ndarray:
    """Join columns into one of strings: the pair is what names a batch, since plate 1 is in every experiment.

    >>> joined([["e1", "e2"], [1.0, 1.0]]).tolist()
    ['e1|1', 'e2|1']
    """
    if len(columns) == 1:
        return np.array([_text(value) for value in columns[0]], dtype=str)
    return np.array(["|".join(map(_escaped, row)) for row in zip(*columns, strict=True)], dtype=str)


def _text(value: Any) -> str:
    whole = isinstance(value, float | np.floating) and float(value).is_integer()
    return str(int(value)) if whole else str(value)


def _escaped(value: Any) -> str:
    """Keep what separates columns out of their values, so that different pairs stay different."""
    return _text(value).replace("\\", "\\\\").replace("|", "\\|")


def column(metadata: Mapping[str, Any], name: str, asked: str) -> np.ndarray:
    """Return a column of the metadata without missing values, or say which there are."""
    if name not in metadata:
        listed = ", ".join(metadata) or "none"
        raise ValueError(f"`{asked}` must name a column, got {name!r}. The columns are: {listed}.")
    values = np.asarray(metadata[name])
    missing = np.array([value is None or value != value for value in values], dtype=bool)
    if missing.any():
        row = int(np.flatnonzero(missing)[0])
        raise ValueError(
            f"`{asked}` must be known for every row, got {missing.sum():,} missing in column {name!r} (first in "
            f"row {row}). Fill them in or leave these rows out."
        )
    return values


def design(metadata: Mapping[str, Any], batch: Sequence[str], control: str | None = None) -> Design:
    """Read batches and controls off the metadata.

    Parameters
    ----------
    metadata : mapping from names to columns
    batch : sequence of str
        One column, or several from coarse to fine, whose pairs are the batches: `["experiment", "plate"]`.
    control : str, optional
        An expression that is true for controls, as `gene == 'EMPTY_control'`; without it all rows are.

    Returns
    -------
    Design
    """
    if not batch:
        raise ValueError("`batch` must name at least one column, got none. Add --batch COLUMN.")
    columns = [column(metadata, name, "batch") for name in batch]
    outer_names, outer = np.unique(joined(columns[:1]), return_inverse=True)
    names, codes = np.unique(joined(columns), return_inverse=True)
    if len(names) < 2:
        raise ValueError(
            f"`batch` must have at least two values, got {str(names[0])!r} only. Name the column that tells "
            "batches apart."
        )
    chosen = np.ones(len(codes), dtype=bool) if control is None else matching(control, metadata)
    made = Design(
        codes, tuple(names.tolist()), outer, tuple(outer_names.tolist()), chosen, control is not None
    )
    _check_controls(made, control)
    return made


def _check_controls(made: Design, control: str | None) -> None:
    """Refuse controls that are missing in a batch: nothing is known of what the batch does there."""
    if not made.control.any():
        raise ValueError(
            f"`control` must match some rows, got {control!r}, which matches none. Check the value's spelling."
        )
    counts = np.bincount(made.batch[made.control], minlength=len(made.names))
    without = [made.names[k] for k in np.flatnonzero(counts == 0)]
    if without:
        listed = ", ".join(map(repr, without[:_SHOWN])) + (", ..." if len(without) > _SHOWN else "")
        raise ValueError(
            f"`control` must match rows in every batch, got none in {len(without):,} of {len(made.names):,} "
            f"({listed}). Leave these rows out, or name a coarser --batch."
        )
