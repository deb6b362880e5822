"""Which independent components are technical, by evidence on controls alone."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import rankdata

from ._design import Design
from ._rotations import rotation_of, whitened

_PERMUTATIONS = 100
_LEVEL = 0.95  # of the largest value over components, when batches of controls are shuffled
_MOST = 0.5  # batch explains most of what controls do


@dataclass(frozen=True, eq=False)
class Components:
    """Independent components of a table with what is known of each.

    Parameters
    ----------
    values : array of shape (n_samples, n_components)
        The components, of unit variance.
    loadings : array of shape (n_components, n_features)
        What a component adds to each column, in standard deviations of the column.
    eta_squared : array of shape (n_components,)
        Share of the variance of controls that batch explains, corrected for the number of batches.
    null : float
        The largest that chance reaches among all components, when batches of controls are shuffled.
    auroc : array of shape (n_components,) or None
        How well the component alone tells the other rows from controls: 0.5 is chance.
    reliability : array of shape (n_components,)
        As `unmix.FastICA` says.
    """

    values: np.ndarray
    loadings: np.ndarray
    eta_squared: np.ndarray
    null: float
    auroc: np.ndarray | None
    reliability: np.ndarray

    @property
    def technical(self) -> np.ndarray:
        """Components of which batch explains most on controls, and more than by chance."""
        return (self.eta_squared > _MOST) & self.driven

    @property
    def driven(self) -> np.ndarray:
        """Components of which batch explains more on controls than chance does."""
        return self.eta_squared > self.null

    @property
    def weights(self) -> np.ndarray:
        """What is left of the variance of controls once batch is known; 1 where chance explains as much."""
        return np.where(self.driven, 1 - self.eta_squared, 1.0)

    def listed(self, names: Any = None, top: int = 3) -> list[dict[str, Any]]:
        """Return one line for each component, the most technical first."""
        called = names or [f"x{j}" for j in range(self.loadings.shape[1])]
        return [
            {
                "component": int(k),
                "eta_squared": float(self.eta_squared[k]),
                "null": self.null,
                "technical": bool(self.technical[k]),
                "weight": float(self.weights[k]),
                "auroc": None if self.auroc is None else float(self.auroc[k]),
                "reliability": float(self.reliability[k]),
                "features": [
                    f"{'+' if self.loadings[k, j] > 0 else '-'}{called[j]}"
                    for j in np.argsort(-np.abs(self.loadings[k]))[:top]
                ],
            }
            for k in np.argsort(-self.eta_squared, kind="stable")
        ]


def components(x: np.ndarray, design: Design, *, random_state: int = 0) -> Components:
    """Find independent components, and how far the batch of controls drives each.

    No label is looked at, except that `auroc` says beside the evidence what a component would take along.

    Examples
    --------
    >>> from unmix.deconfound import design
    >>> rng = np.random.default_rng(0)
    >>> plate = np.repeat(np.arange(20), 50)
    >>> z = rng.laplace(size=(1000, 3))
    >>> z[:, 0] += 4 * rng.normal(size=20)[plate]
    >>> found = components(z @ rng.normal(size=(3, 5)), design({"plate": plate}, ["plate"]))
    >>> int(found.technical.sum()), len(found.weights)
    (1, 3)
    """
    white = whitened(x)
    rotation, model = rotation_of(white.values, random_state)
    values = white.values @ rotation.T
    own = values[design.control]
    explained, null = evidence(own, design.batch[design.control], random_state)
    told = aurocs(values, ~design.control) if design.given and not design.control.all() else None
    return Components(values, rotation @ white.loadings, explained, null, told, model.reliability_)


def evidence(values: np.ndarray, batch: np.ndarray, random_state: int = 0) -> tuple[np.ndarray, float]:
    """Return how much of each column batch explains, and the largest that shuffled batches reach."""
    rng = np.random.default_rng(random_state)
    largest = [eta_squared(values, rng.permutation(batch)).max() for _ in range(_PERMUTATIONS)]
    return eta_squared(values, batch), float(np.quantile(largest, _LEVEL))


def eta_squared(values: np.ndarray, batch: np.ndarray) -> np.ndarray:
    """Return the share of the variance of each column between batches, 0 where it is no more than chance's.

    1 - (SS_within / (n - k)) / (SS_total / (n - 1)), for k batches.

    >>> eta_squared(np.array([[0.0], [1.0], [10.0], [11.0]]), np.array([0, 0, 1, 1])).round(3)
    array([0.985])
    """
    kinds, codes = np.unique(batch, return_inverse=True)
    n, k = len(values), len(kinds)
    if n <= k:
        return np.zeros(values.shape[1])
    centred = values - values.mean(0)
    one_hot = csr_array((np.ones(n), (codes, np.arange(n))), (k, n))
    between = (np.square(one_hot @ centred) / np.bincount(codes)[:, None]).sum(0)
    total = np.maximum(np.square(centred).sum(0), np.finfo(float).tiny)
    return np.clip(1 - (1 - between / total) * (n - 1) / (n - k), 0, 1)


def aurocs(values: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Return for each column the probability that a positive row has the larger value, or 1 less it.

    >>> aurocs(np.array([[0.0, 3], [1, 2], [2, 1]]), np.array([False, False, True]))
    array([1., 1.])
    """
    ranks = rankdata(values, axis=0)
    n, m = int(positive.sum()), int((~positive).sum())
    area = (ranks[positive].sum(0) - n * (n + 1) / 2) / (n * m)
    return np.maximum(area, 1 - area)


def ica_dropped(x: np.ndarray, design: Design, *, random_state: int = 0) -> np.ndarray:
    """Return the independent components that are not technical, or all, if all are."""
    found = components(x, design, random_state=random_state)
    kept = ~found.technical
    return found.values[:, kept if kept.any() else slice(None)]


def ica_weighted(x: np.ndarray, design: Design, *, random_state: int = 0) -> np.ndarray:
    """Return all independent components, each multiplied by what batch does not explain of it on controls."""
    found = components(x, design, random_state=random_state)
    return found.values * found.weights
