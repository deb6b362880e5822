"""Labels of rows from columns: one column as it is, several as one label that tells them all."""

from collections.abc import Sequence

import numpy as np

from ._choice import nearest
from ._names import names_in
from ._table import Table


def label_of(table: Table, names: str | Sequence[str], *, option: str = "--batch") -> np.ndarray:
    r"""Return the label of each row.

    Parameters
    ----------
    table : Table
    names : str or sequence of str
        Columns, of the metadata or the features; `"experiment,plate"` names two.
    option : str
        What errors call it.

    Returns
    -------
    array of shape (n_rows,)
        Of one column its values, numbers or text; of several one text, `"experiment|plate"`, in which a
        `|` or `\` that a value holds has a `\` before it, so that different rows of values stay different.

    Examples
    --------
    >>> batch = {"week": np.array(["1", "1|2"], dtype=object), "plate": np.array([7, 7])}
    >>> label_of(Table(np.eye(2), None, batch), "week,plate").tolist()
    ['1|7', '1\\|2|7']
    """
    there = [*table.metadata, *(table.names or ())]
    wanted = names_in([names] if isinstance(names, str) else names, there)
    columns = [_column(table, name, there, option) for name in wanted]
    if not columns:
        raise ValueError(f"`{option}` must name a column, got nothing.")
    return columns[0] if len(columns) == 1 else paired(columns)


def paired(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Return one text for the values of several columns in each row; different ones stay different.

    >>> paired([np.array(["p1", "p2"]), np.array([3.0, 3.0])]).tolist()
    ['p1|3', 'p2|3']
    """
    texts = [_tolist(np.asarray(column)) for column in columns]
    return np.array(["|".join(map(_escaped, row)) for row in zip(*texts, strict=True)], dtype=object)


def _column(table: Table, name: str, there: list[str], option: str) -> np.ndarray:
    if name not in there:
        raise ValueError(f"`{option}` must be a column of the table, got {name!r}. {nearest(name, there)}")
    if name in table.metadata:
        values = table.metadata[name]
    else:
        assert table.names is not None
        values = table.values[:, table.names.index(name)]
    missing = sum(value is None or value != value for value in values.tolist())
    if missing:
        raise ValueError(
            f"`{option}` must have a label in every row, {name!r} lacks {missing:,} of {len(values):,}. "
            "Fill them in, or leave these rows out."
        )
    return values


def _tolist(column: np.ndarray) -> list[str]:
    """Write labels as text, whole numbers without a point."""
    return [str(int(v)) if isinstance(v, float) and v.is_integer() else str(v) for v in column.tolist()]


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|")
