"""From strengths to a probability: a chain holds if every link holds, and each may fail.

P(unit is right) = P(rest) prod_k sigma(a_k s_k + b_k) with a_k >= 0, over the links k of the argument. So no
evidence in favour ever lowers it, the weakest link bounds it, and each factor has a meaning: the chance that
this link holds, given what was measured. P(rest) is for what no link sees. Coefficients are obtained on worlds
with known latents (`unmix reproduce trust.calibration`), once for each argument and effort.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

SLOPE, OFFSET, REST = 4.0, 2.0, 0.97  # before any data: a strength of 1 holds in 99.8%, of -1 in 12%
_LOOSE = 0.05  # how dear it is to leave these: data soon overrule them
_RANGES = {"slope": (0.5, 12.0), "offset": (-3.0, 6.0), "rest": (logit(0.5), logit(0.995))}


@dataclass(frozen=True)
class Chain:
    """Coefficients of one argument at one effort.

    Attributes
    ----------
    links : mapping of str to (slope, offset)
    rest : float
        The chance that nothing is wrong which no link sees.

    Examples
    --------
    >>> chain = Chain({"held-out fit": (4.0, 2.0)}, rest=0.98)
    >>> chain.probability({"held-out fit": np.array([1.0, -1.0])}).round(2)
    array([0.98, 0.12])
    """

    links: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    rest: float = REST

    def factors(self, strengths: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return the chance that each link holds; one that was not measured says nothing, and counts as 1."""
        held = {}
        for name, strength in strengths.items():
            slope, offset = self.links.get(name, (SLOPE, OFFSET))
            held[name] = np.where(np.isnan(strength), 1.0, expit(slope * np.nan_to_num(strength) + offset))
        return held

    def probability(self, strengths: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the probability that each unit is right."""
        return self.rest * np.prod(list(self.factors(strengths).values()), axis=0)


def calibrate(
    strengths: Mapping[str, np.ndarray], right: np.ndarray, weight: np.ndarray | None = None
) -> Chain:
    """Find the chain of highest likelihood for units of which it is known whether they are right.

    Parameters
    ----------
    strengths : mapping of str to ndarray of shape (n_units,)
    right : ndarray of bool, shape (n_units,)
    weight : ndarray of shape (n_units,), optional
        Units of one data set share their fate, so that each may count for less than one.

    Returns
    -------
    Chain

    Examples
    --------
    >>> s = np.linspace(-1, 1, 40)
    >>> found = calibrate({"a": s}, s > 0)
    >>> found.probability({"a": np.array([-0.5, 0.5])}).round(1)
    array([0., 1.])
    """
    names = list(strengths)
    table = np.array([np.nan_to_num(strengths[name], nan=3.0) for name in names]).reshape(len(names), -1)
    truth, share = np.asarray(right, float), np.ones(len(right)) if weight is None else np.asarray(weight)
    start = np.array([SLOPE] * len(names) + [OFFSET] * len(names) + [logit(REST)])
    bounds = [_RANGES["slope"]] * len(names) + [_RANGES["offset"]] * len(names) + [_RANGES["rest"]]

    def cost(theta: np.ndarray) -> float:
        p = np.clip(_product(theta, table), 1e-9, 1 - 1e-9)
        surprise = -(truth * np.log(p) + (1 - truth) * np.log1p(-p))
        return float(share @ surprise + _LOOSE * np.square(theta - start).sum())

    theta = minimize(cost, start, method="L-BFGS-B", bounds=bounds).x
    return _chain(names, theta)


def _product(theta: np.ndarray, table: np.ndarray) -> np.ndarray:
    n = len(table)
    return expit(theta[-1]) * expit(theta[:n, None] * table + theta[n : 2 * n, None]).prod(0)


def _chain(names: Sequence[str], theta: np.ndarray) -> Chain:
    pairs = zip(theta[: len(names)].tolist(), theta[len(names) : -1].tolist(), strict=True)
    return Chain(dict(zip(names, pairs, strict=True)), float(expit(theta[-1])))
