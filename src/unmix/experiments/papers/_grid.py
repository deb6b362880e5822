"""The row of a method in a table: each score in each column."""

from collections.abc import Iterable
from typing import Any

from ..engine import Cell


def grid(method: str, columns: Iterable[tuple[str, Any]], *values: str, **cell: Any) -> tuple[Cell, ...]:
    """Return the cells of one method; a user's, `package:Estimator`, is named by its class.

    A column has a name, and the arguments of the generator that make its world.

    Examples
    --------
    >>> [(c.row, c.column, c.value) for c in grid("mine:PCA", [("n = 3", {"n_latents": 3})], "mcc")]
    [('PCA', 'n = 3', 'mcc')]
    """
    return tuple(
        Cell(
            method.rpartition(":")[2],
            column,
            value=value,
            settings={"method": method, "world": dict(world)},
            **cell,
        )
        for column, world in columns
        for value in values
    )
