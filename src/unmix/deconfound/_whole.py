"""One call for a table with batches: adjusted, judged, and its independent components listed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unmix.tables import EVERY, Columns

from ._components import components
from ._deconfound import fit_transform, names_of, opened
from ._evaluate import evaluate
from ._methods import DEFAULT
from ._scores import Evaluation

_BASE = "base"  # the table as it is


@dataclass(frozen=True, eq=False)
class Deconfounded:
    """A table without the effect of its batches, and what is known of it.

    Parameters
    ----------
    adjusted : array, frame or AnnData
        As the table was given; the same rows in the same order.
    components : list of dict
        The independent components of the table, the most technical first: share of the variance of controls
        that batch explains, beside what chance explains, and the columns that weigh most.
    evaluation : Evaluation
        The method beside the table as it is, with intervals and chance.
    """

    adjusted: Any
    components: list[dict[str, Any]]
    evaluation: Evaluation

    @property
    def scores(self) -> list[dict[str, Any]]:
        """One line for each method and one for chance, with the names of `Evaluation.columns`."""
        shown = self.evaluation.columns
        rows = [
            {"method": method, **{name: row[name].value if name in row else np.nan for name in shown}}
            for method, row in self.evaluation.scores.items()
        ]
        return [*rows, {"method": "chance", **{name: self.evaluation.chance(name) for name in shown}}]

    def __str__(self) -> str:
        technical = sum(line["technical"] for line in self.components)
        return (
            f"{self.evaluation}\n{technical} of {len(self.components)} independent components are technical."
        )


def deconfounded(
    table: Any,
    metadata: Any = None,
    *,
    batch: str | Sequence[str],
    label: str | Sequence[str] | None = None,
    control: str | None = None,
    method: str = DEFAULT,
    relation: str | Sequence[str] | None = None,
    columns: Columns = EVERY,
    random_state: int = 0,
) -> Deconfounded:
    """Take the effect of batches out of a table, judge the result, and list technical components.

    This is what `unmix.deconfound(...)` calls.

    Parameters
    ----------
    table : array, pandas or Polars frame, AnnData, Table or path
        Numeric columns are features, all others metadata.
    metadata : mapping from names to columns or data frame, optional
        Beside an array; row i belongs to row i.
    batch : str or sequence of str
        Columns that name the batch, from coarse to fine.
    label : str or sequence of str, optional
        Columns that name what was done to a row. Nothing is fitted to it.
    control : str, optional
        Expression that is true for rows that nothing was done to, as `gene == 'EMPTY_control'`.
    method : str
        A name of `METHODS`; all of them are compared by `evaluate`.
    relation : str or sequence of str, optional
        Columns that name what different labels share, such as a mechanism.
    columns : Columns
        Which columns are features, and what becomes of missing values.
    random_state : int

    Returns
    -------
    Deconfounded

    Examples
    --------
    >>> import unmix
    >>> rng = np.random.default_rng(0)
    >>> plate = np.repeat(np.arange(10), 40)
    >>> x = rng.normal(size=(400, 5)) + 3 * rng.normal(size=(10, 5))[plate]
    >>> found = unmix.deconfound(x, {"plate": plate}, batch="plate")
    >>> found.adjusted.shape, [line["method"] for line in found.scores]
    ((400, 5), ['base', 'anchored', 'chance'])
    >>> found.scores[0]["leak"] > 0.7 > 0.2 > found.scores[1]["leak"]
    True
    """
    roles: dict[str, Any] = {"batch": batch, "label": label, "relation": relation}
    roles = {name: names_of(value) for name, value in roles.items()}
    labels = (*roles["label"], *roles["relation"])
    read, known, where = opened(table, metadata, (batch, labels, control), columns, None)
    given: dict[str, Any] = {"control": control, "random_state": random_state}
    adjusted = fit_transform(
        table, metadata, batch=batch, label=roles["label"], method=method, columns=columns, **given
    )
    judged = evaluate(read.values, known, methods=list(dict.fromkeys((_BASE, method))), **roles, **given)
    found = components(read.values, where, random_state=random_state)
    return Deconfounded(adjusted, found.listed(read.names), judged)
