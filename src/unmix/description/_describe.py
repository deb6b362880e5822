"""`describe`: what each latent of a fitted model stands for."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unmix._findings import ability
from unmix._fitted import Fitted, Loadings, spread_of, thinned, without_names

from . import _enrichment, _relations
from ._enrichment import Enrichment, enrichment
from ._groups import checked_groups
from ._latent import LEVEL, Group, Latent
from ._relations import Relations, relations
from ._rows import carried, ends, histogram
from ._table import Observed, observed
from ._variables import strongest

MOST_SLOPES = 1000  # rows at which slopes are taken


@dataclass(frozen=True, eq=False, repr=False)
class Description:
    """What each latent stands for; see `describe`.

    `str()` is a few lines for each latent, `lines` one for each.

    Attributes
    ----------
    names : tuple of str
        Of the observed variables.
    loadings : array of shape (n_observed, n_latents)
        Change of each variable where a latent rises, in standard deviations of both.
    by : str
        What the loadings were read from: slopes of the decoder, the mixing matrix, or correlation.
    enrichment : Enrichment
        Groups of variables.
    relations : Relations
        Other columns of the table.
    latents : tuple of Latent
        The same, latent by latent.
    n_rows : int
    """

    names: tuple[str, ...]
    moved: Loadings
    enrichment: Enrichment
    relations: Relations
    codes: np.ndarray
    ids: Any = None

    @property
    def loadings(self) -> np.ndarray:
        """How much each latent moves each variable."""
        return self.moved.values

    @property
    def by(self) -> str:
        """What the loadings were read from."""
        return self.moved.by

    @property
    def n_rows(self) -> int:
        """The number of rows that are described."""
        return len(self.codes)

    @cached_property
    def latents(self) -> tuple[Latent, ...]:
        """The description of each latent."""
        top = strongest(self.loadings, self.names, most=8, steadiness=self.moved.steadiness)
        return tuple(self._latent(j, variables) for j, variables in enumerate(top))

    def _latent(self, j: int, variables: Any) -> Latent:
        share = float(np.square(self.loadings[:, j]).mean())
        values, related = self.codes[:, j], self.relations.of[j]
        low, high = ends(values, self.ids)
        shape = (histogram(values), carried(values), self.ids is not None and not named(self.names))
        return Latent(j, share, variables, self._groups(j), related, low, high, *shape)

    def _groups(self, j: int) -> tuple[Group, ...]:
        """Return the groups that stand out, the clearest first."""
        e = self.enrichment
        found = [k for k in range(len(e.names)) if e.p[k, j] <= LEVEL]
        order = sorted(found, key=lambda k: (e.p[k, j], -e.ratio[k, j]))
        told = zip(e.names, e.sizes, e.ratio[:, j], e.p[:, j], e.mixed, e.direction[:, j], strict=True)
        every = [Group(n, int(m), float(r), float(p), float(x), float(s)) for n, m, r, p, x, s in told]
        return tuple(every[k] for k in order)

    @property
    def lines(self) -> tuple[str, ...]:
        """One line for each latent."""
        return tuple(each.line for each in self.latents)

    @property
    def nulls(self) -> tuple[str, ...]:
        """What noise means here, and what the nulls ignore; of what was measured."""
        measured = any(self.relations.of)
        groups = (_enrichment.NULL,) if self.enrichment.names else ()
        return (*groups, *((_relations.NULL,) if measured else ()))

    def __str__(self) -> str:
        left = [f"Left out: {name}, {why}." for name, why in self.relations.left_out.items()]
        return "\n".join([*map(str, self.latents), *self.nulls, *left])

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "by": self.by,
            "n_rows": self.n_rows,
            "latents": [each.to_dict() for each in self.latents],
            "left_out": dict(self.relations.left_out),
            "nulls": list(self.nulls),
        }


def describe(
    model: Any,
    X: Any,
    *,
    metadata: Mapping[str, Any] | None = None,
    ids: Any = None,
    groups: Any = None,
    random_state: int | None = 0,
) -> Description:
    """Say what each latent of a fitted model stands for, in the names that the data bring.

    For each latent: the observed variables that it moves most; groups of variables that it moves more than
    chance would; its relation to every other column; its extreme rows; its histogram. Order, signs and scales
    of latents have no meaning of their own, and a name is no evidence that a latent is right: see
    `unmix.trust`.

    Parameters
    ----------
    model : fitted estimator
        Anything with `transform`; with `jacobian` or `mixing_` loadings are slopes, else correlations.
    X : array-like of shape (n_samples, n_features), path, data frame, AnnData or table of `unmix.tables`
        The data. Columns bring their names; those that the model does not use are metadata.
    metadata : mapping of str to array of shape (n_samples,), or data frame, optional
        Other columns of the same rows, text or numbers, instead of those of X.
    ids : array-like of shape (n_samples,), optional
        Names of the rows; by default those that X has, or their number.
    groups : mapping of str to names of variables, or path of a JSON, GMT or CSV file, optional
        Sets of variables. By default words that the names share; `{}` for none.
    random_state : int, optional
        For the permutations.

    Returns
    -------
    Description

    Examples
    --------
    >>> import unmix
    >>> rng = np.random.default_rng(0)
    >>> z = rng.laplace(size=(500, 2))
    >>> x = np.repeat(z, 4, axis=1) + 0.3 * rng.normal(size=(500, 8))
    >>> model = unmix.FastICA(2, random_state=0).fit(x)
    >>> found = unmix.describe(model, x, metadata={"dose": z[:, 0]})
    >>> sorted(each.metadata[0].short for each in found.latents)[0]
    'dose +0.99'
    """
    data = observed(X, metadata, ids, model=model)
    if ability(model, "transform") is None:
        raise TypeError(f"`model` must have `transform`, got {type(model).__name__}. Pass a fitted model.")
    if np.ndim(data.rows) != 2:
        raise ValueError(
            f"`X` must be a table (n_samples, n_features), got shape {np.shape(data.rows)}. Pixels of images "
            "have no names: look at what `inverse_transform` makes of moved latents."
        )
    with without_names():
        codes = np.asarray(model.transform(data.rows))
    few = thinned(data.rows, MOST_SLOPES)
    spreads = (spread_of(data.rows), spread_of(codes))  # rare values count, too
    fitted = Fitted(model, few, codes=thinned(codes, MOST_SLOPES), most=MOST_SLOPES, spreads=spreads)
    return described(fitted, data, codes, groups=groups, random_state=random_state)


def described(
    fitted: Fitted, data: Observed, codes: np.ndarray, *, groups: Any = None, random_state: int | None = 0
) -> Description:
    """Describe latents whose codes are known already; the model is asked for its loadings alone."""
    loadings: Any = fitted.loadings
    names = names_of(fitted, data, len(loadings.values))
    found = {} if groups is None and not named(names) else checked_groups(groups, names)
    return Description(
        names,
        loadings,
        enrichment(loadings.values, found, random_state=random_state),
        relations(codes, data.metadata, random_state=random_state),
        codes,
        data.ids,
    )


def names_of(fitted: Fitted, data: Observed, n: int) -> tuple[str, ...]:
    """Return the names of the observed variables: the model's own, those of the data, or x0, x1, ..."""
    own = fitted.findings.feature_names_in
    found = data.names if own is None else own
    if found is None or len(found) != n:
        return tuple(f"x{i}" for i in range(n))
    return tuple(map(str, found))


def named(names: tuple[str, ...]) -> bool:
    """Whether names are more than numbers of columns, with or without a word before.

    >>> named(("dim_0", "dim_1")), named(("0", "1")), named(("mass", "age"))
    (False, False, True)
    """
    return len({name.rstrip("0123456789") for name in names}) > 1 or not names[0][-1:].isdigit()
