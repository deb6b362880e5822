"""The call for tables in memory: arrays, frames and AnnData in, the same kind out."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from unmix.tables import EVERY, Columns, Table, generated, read

from ._confounding import confounding, refuse_if_determined
from ._design import Design, column, design, joined
from ._methods import DEFAULT, NAMED_AFTER_FEATURES, method_named
from ._query import columns_in
from ._rotations import fitting_rows, pca_ica, pca_random, pca_white

OBSM = "X_deconfounded"
_FITTED_TO_ROWS = {"pca": pca_white, "pca+ica": pca_ica, "pca+random": pca_random}


def fit_transform(
    X: Any,
    metadata: Any = None,
    *,
    batch: str | Sequence[str],
    control: str | None = None,
    label: str | Sequence[str] = (),
    method: str = DEFAULT,
    fit_on: str = "all",
    train: np.ndarray | None = None,
    rep: str | None = None,
    key_added: str = OBSM,
    columns: Columns = EVERY,
    random_state: int = 0,
) -> Any:
    """Return a table without the effect of its batches, as far as a method can tell it.

    Parameters
    ----------
    X : array, pandas or Polars frame, or AnnData
        Numeric columns are features, all others metadata.
    metadata : mapping from names to columns or data frame, optional
        Beside an array; row i belongs to row i of X.
    batch : str or sequence of str
        Columns that name the batch, from coarse to fine: `["experiment", "plate"]`.
    control : str, optional
        Expression that is true for rows that nothing was done to, as `gene == 'EMPTY_control'`; without it
        all rows stand in for controls, and whatever differs between batches is taken out.
    label : str or sequence of str
        Columns that name what was done. Used for one thing: where the batch determines it, this is an error.
    method : str
        A name of `METHODS`.
    fit_on : {"all", "train", "controls"}
        Rows that principal and independent components are fitted to.
    train : array of bool of shape (n_samples,), optional
        Rows for `fit_on="train"`.
    rep : str, optional
        Of AnnData, the array of obsm to take instead of X.
    key_added : str
        Of AnnData, the array of obsm to write.
    columns : Columns
        Which columns are features, and what becomes of missing values.
    random_state : int

    Returns
    -------
    array, frame or AnnData
        Rows in the same order. A frame has the metadata first; AnnData is the object given, with
        `obsm[key_added]` and `uns[key_added]`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> plate = np.repeat(["p1", "p2"], 100)
    >>> x = rng.normal(size=(200, 3)) + np.where(plate == "p1", 0, 5)[:, None]
    >>> y = fit_transform(x, {"plate": plate}, batch="plate")
    >>> bool(np.abs(y[plate == "p1"].mean(0) - y[plate == "p2"].mean(0)).max() < 1e-9)
    True
    """
    chosen = method_named(method)
    table, known, where = opened(X, metadata, (batch, label, control), columns, rep)
    if label:
        values = joined([column(known, name, "label") for name in names_of(label)])
        refuse_if_determined(confounding(where.batch, values))
    fit = fitting_rows(fit_on, where, train)
    if fit is not None and method not in _FITTED_TO_ROWS:
        raise ValueError(
            f"`fit_on` must be 'all' for the method {method!r}, got {fit_on!r}. It is for "
            f"{', '.join(_FITTED_TO_ROWS)}."
        )
    more = {} if fit is None else {"fit": fit}
    adjusted = chosen(table.values, where, random_state=random_state, **more)
    return _like(X, table, adjusted, names_out(table, method, adjusted), key_added, told_of(where, method))


def names_out(table: Table, method: str, adjusted: np.ndarray) -> list[str]:
    """Name the adjusted columns: after the features, where each still belongs to its own, else z0, z1, ..."""
    if method in NAMED_AFTER_FEATURES:
        return list(table.names or generated(adjusted.shape[1]))
    return [f"z{j}" for j in range(adjusted.shape[1])]


class Opened(NamedTuple):
    """A table, all that is known of its rows, and where they come from."""

    table: Table
    known: dict[str, np.ndarray]
    where: Design


def opened(X: Any, metadata: Any, roles: tuple[Any, Any, Any], columns: Columns, rep: str | None) -> Opened:
    """Read a table whose batch, label and control are named."""
    batch, label, control = roles
    labels = (*columns.labels, *names_of(batch), *names_of(label), *columns_in(control or ""))
    table = read(X, columns=replace(columns, labels=labels, obsm=rep or columns.obsm))
    known = {**table.metadata, **_columns_of(metadata, len(table.values))}
    return Opened(table, known, design(known, names_of(batch), control))


def names_of(given: str | Sequence[str] | None) -> list[str]:
    """Return a list of names, also of one or none."""
    return [given] if isinstance(given, str) else list(given or ())


def _columns_of(metadata: Any, n_rows: int) -> dict[str, np.ndarray]:
    """Return metadata as columns, whatever frame or mapping they come in."""
    if metadata is None:
        return {}
    names = list(metadata.keys()) if isinstance(metadata, Mapping) else list(metadata.columns)
    columns = {str(name): np.asarray(metadata[name]) for name in names}
    wrong = [name for name, values in columns.items() if len(values) != n_rows]
    if wrong:
        raise ValueError(
            f"`metadata` must have one value per row of X ({n_rows:,}), got {len(columns[wrong[0]]):,} in "
            f"column {wrong[0]!r}. Join them by the names of the rows first."
        )
    return columns


def told_of(where: Design, method: str) -> dict[str, Any]:
    """Return what `uns` of AnnData says of an adjustment."""
    return {
        "method": method,
        "n_batches": len(where.names),
        "n_controls": int(where.control.sum()) if where.given else 0,
    }


def _like(X: Any, table: Table, values: np.ndarray, names: list[str], key: str, told: dict[str, Any]) -> Any:
    """Return the result as the kind of object that was given."""
    if table.source == "anndata":
        X.obsm[key] = values
        X.uns[key] = {**told, "names": np.array(names, dtype=object)}
        return X
    if table.source not in ("pandas", "polars"):
        return values
    columns = {**table.metadata, **dict(zip(names, values.T, strict=True))}
    if table.source == "pandas":
        return type(X)(columns, index=X.index if table.kept is None else X.index[table.kept])
    import polars

    return polars.DataFrame(columns)
