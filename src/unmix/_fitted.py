"""A model beside its data: what it makes of them, each worked out once."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple
from warnings import catch_warnings, filterwarnings

import numpy as np
from scipy.sparse import issparse

from ._findings import Findings, ability, findings_of


class Loadings(NamedTuple):
    """How much each latent moves each observed variable, shape (n_observed, n_latents).

    `values` are standard deviations of the variable for one of the latent, `steadiness` is 1 where the
    variable always goes the same way and 0 where ups and downs cancel, `by` says what they were read from.
    """

    values: np.ndarray
    steadiness: np.ndarray
    by: str


class Fitted:
    """A model and the rows that it is judged on; what it can't tell, or not without rows, is None.

    Parameters
    ----------
    model : fitted estimator or None
        With any of `transform`, `inverse_transform` and `jacobian`.
    x : array or data frame of shape (n_samples, n_observed), optional
    codes : array of shape (n_samples, n_latents), optional
        The latents of the rows, where they are known already.
    most : int
        Number of rows at which Jacobians are taken, at most; they are spread over the data.
    spreads : pair of arrays, optional
        Standard deviations of the observed variables and of the latents, where these rows are a part of more.
    """

    def __init__(
        self,
        model: Any,
        x: Any = None,
        *,
        codes: np.ndarray | None = None,
        most: int = 1000,
        spreads: tuple[np.ndarray, np.ndarray] | None = None,
    ):
        if np.ndim(x) not in (0, 2):
            raise ValueError(
                f"`x` must be a table (n_samples, n_observed), got shape {np.shape(x)}. Flatten it."
            )
        self.model, self.x, self.most, self._spreads = model, x, most, spreads
        if codes is not None:
            self.codes = codes

    @cached_property
    def findings(self) -> Findings:
        """What the model found."""
        return findings_of(self.model)

    @cached_property
    def codes(self) -> np.ndarray | None:
        """The latents of each row."""
        return self._asked("transform", self.x)

    @cached_property
    def jacobians(self) -> np.ndarray | None:
        """The decoder's Jacobian at rows spread over the data, in the units of x."""
        return self._asked("jacobian", None if self.x is None else thinned(self.x, self.most))

    @cached_property
    def loadings(self) -> Loadings | None:
        """What the latents move, by the decoder's slopes, a linear mixing, or else correlation."""
        if self.x is None or self.codes is None:
            return None
        of_x, of_codes = self._spreads or (spread_of(self.x), spread_of(self.codes))
        spread, linear = of_codes / of_x[:, None], getattr(self.model, "mixing_", None)
        if self.jacobians is not None:
            size, mean = np.abs(self.jacobians).mean(0), self.jacobians.mean(0)
            steady = np.divide(np.abs(mean), size, out=np.ones_like(size), where=size > 0)
            return Loadings(np.where(mean < 0, -size, size) * spread, steady, "slopes of the decoder")
        if linear is not None and np.shape(linear) == spread.shape:
            return Loadings(np.asarray(linear) * spread, np.ones_like(spread), "the mixing matrix")
        return Loadings(_correlation(self.x, self.codes), np.ones_like(spread), "correlation")

    @cached_property
    def explained(self) -> float | None:
        """The share of the variance of x that the model reconstructs."""
        decoded = self._asked("inverse_transform", None if self.x is None else self.codes)
        total = 0.0 if decoded is None else float(np.asarray(self.x).var(0).sum())
        if decoded is None or total <= 0:
            return None
        return 1.0 - float(np.square(np.asarray(self.x) - decoded).mean(0).sum()) / total

    def _asked(self, name: str, values: Any) -> Any:
        ask = None if values is None else ability(self.model, name)
        with without_names():
            found = None if ask is None else ask(values)
        return found if found is None or issparse(found) else np.asarray(found)


@contextmanager
def without_names() -> Iterator[None]:
    """Let a model that was fitted on a data frame take arrays, whose columns were compared before."""
    with catch_warnings():
        filterwarnings("ignore", "X does not have valid feature names")
        yield


def spread_of(values: Any) -> np.ndarray:
    """Return the standard deviation of each column, 1 where it does not vary.

    >>> spread_of([[0.0, 5.0], [2.0, 5.0]]).tolist()
    [1.0, 1.0]
    """
    spread = np.asarray(values).std(0, dtype=np.float64)
    return np.where(spread > 0, spread, 1.0)


def _correlation(x: Any, codes: np.ndarray) -> np.ndarray:
    standard = [(np.asarray(v) - np.mean(v, axis=0)) / spread_of(v) for v in (np.asarray(x, float), codes)]
    return standard[0].T @ standard[1] / len(codes)


def thinned(rows: Any, most: int) -> Any:
    """Return every k-th row, with the smallest k that leaves no more than `most`.

    >>> thinned(np.arange(7), 3).tolist()
    [0, 3, 6]
    """
    return rows[:: max(1, -(-len(rows) // most))]
