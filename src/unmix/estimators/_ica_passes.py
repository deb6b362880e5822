"""How far a fit of independent components is: passes over a file, then rotations."""

import math
from collections.abc import Callable
from itertools import accumulate
from typing import Any

from unmix._waiting import Show
from unmix.rows import DaskRows, Rows
from unmix.solvers.ica import HELD, Goal

_PRODUCTS = 500  # columns of which all products take as long as reading the row
_TURNS = 30  # passes that rotations take
_SLOPES = 30  # products that take as long as one slope of the contrast
_TURN = 375.0  # products of white rows that are done while one number is read from a file

Told = Callable[[float], None]


def told(rows: Rows | DaskRows, tell: Told) -> Any:
    """Return the same rows, which tell how far a pass over them is."""
    if not isinstance(rows, Rows) or rows.resident:
        return rows
    take, n_rows = rows.take, rows.n_rows

    def telling(start: int, stop: int) -> Any:
        tell(start / n_rows)
        return take(start, stop)

    return rows._replace(take=telling)


def passes_end(rows: Rows | DaskRows, n_components: Any) -> tuple[float, float]:
    """Return the shares of a fit at which the two passes over a file end, for the bar.

    The first multiplies all columns with each other, the second is hardly more than reading; rotations are
    quick where the white rows were kept, and else pass over the file again and again.

    >>> from unmix.rows import array_rows
    >>> import numpy as np
    >>> file = array_rows(np.zeros((1, 2000)), 1)._replace(n_rows=10**6, resident=False)
    >>> [round(share, 2) for share in passes_end(file, 8)]
    [0.83, 1.0]
    """
    if not isinstance(rows, Rows) or rows.resident:
        return 0.0, 0.0
    d = rows.n_features
    n = n_components if isinstance(n_components, int) else d
    held = rows.n_rows * n <= HELD
    turns = _TURNS * (n + _SLOPES) * n / (_TURN * d) if held else _TURNS * (1 + n / _PRODUCTS)
    first, second, whole = accumulate((1 + d / _PRODUCTS, 1 + n / _PRODUCTS, max(turns, 0.02)))
    return first / whole, second / whole


def parts(first: float, show: Show, n: int) -> list[Told]:
    """Divide what is left of a bar among solutions, each of which tells its own share."""
    each = (1 - first) / n

    def part(k: int) -> Told:
        return lambda share: show(first + each * (k + share), f"rotation {k + 1} of {n}")

    return [part(k) for k in range(n)]


def nearness(goal: Goal, max_iter: int) -> float:
    """Return the share of a solution that is done: of the way of the gradient to its goal, or of the passes.

    >>> goal = Goal(1e-4, lambda excess: excess > 1)
    >>> goal.gradients += [1.0, 1e-2]
    >>> nearness(goal, 200)
    0.5
    """
    seen = goal.gradients
    if not seen or min(seen) <= goal.tol or seen[0] <= goal.tol:
        return float(bool(seen))
    return max(math.log(seen[0] / min(seen)) / math.log(seen[0] / goal.tol), len(seen) / max_iter)
