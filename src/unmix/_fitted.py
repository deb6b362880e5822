"""A model beside its data: what it makes of them, each worked out once."""

from functools import cached_property
from typing import Any

import numpy as np

from ._findings import Findings, ability, findings_of


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
    """

    def __init__(self, model: Any, x: Any = None, *, codes: np.ndarray | None = None, most: int = 1000):
        if np.ndim(x) not in (0, 2):
            raise ValueError(
                f"`x` must be a table (n_samples, n_observed), got shape {np.shape(x)}. Flatten it."
            )
        self.model, self.x, self.most = model, x, most
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
    def explained(self) -> float | None:
        """The share of the variance of x that the model reconstructs."""
        decoded = self._asked("inverse_transform", None if self.x is None else self.codes)
        total = 0.0 if decoded is None else float(np.asarray(self.x).var(0).sum())
        if decoded is None or total <= 0:
            return None
        return 1.0 - float(np.square(np.asarray(self.x) - decoded).mean(0).sum()) / total

    def _asked(self, name: str, values: Any) -> np.ndarray | None:
        ask = None if values is None else ability(self.model, name)
        return None if ask is None else np.asarray(ask(values))


def thinned(rows: Any, most: int) -> Any:
    """Return every k-th row, with the smallest k that leaves no more than `most`.

    >>> thinned(np.arange(7), 3).tolist()
    [0, 3, 6]
    """
    return rows[:: max(1, -(-len(rows) // most))]
