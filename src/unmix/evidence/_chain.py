"""From strengths to a probability: a chain holds if every part holds, and each may fail.

P(unit is right) = P(rest) prod_p sigma(sum_k a_k s_k + b_p) with a_k >= 0, over the parts p of the argument
and the links k of each: pieces of evidence for one and the same thing add up, and every part must hold. So no
evidence in favour ever lowers it, the weakest part bounds it, and each factor has a meaning: the chance that
this part holds, given what was measured. P(rest) is for what no link sees. Coefficients are obtained on
worlds with known latents (`unmix reproduce trust.calibration`), once for each argument and effort.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit

SLOPE, OFFSET, REST = 4.0, 2.0, 0.97  # before any data: a strength of 1 holds in 99.8%, of -1 in 12%
_LOOSE = 0.05  # how dear it is to leave these: data soon overrule them
_RANGES = {"slope": (0.3, 12.0), "offset": (-4.0, 6.0), "rest": (logit(0.5), logit(0.995))}

Parts = Mapping[str, Mapping[str, np.ndarray]]  # part -> link -> strength of each unit


@dataclass(frozen=True)
class Chain:
    """Coefficients of one argument at one effort.

    Attributes
    ----------
    slopes : mapping of str to float
        Of each link.
    offsets : mapping of str to float
        Of each part.
    rest : float
        The chance that nothing is wrong which no link sees.

    Examples
    --------
    >>> chain = Chain({"held-out fit": 4.0}, {"held-out fit": 2.0}, rest=0.98)
    >>> chain.probability({"held-out fit": {"held-out fit": np.array([1.0, -1.0])}}).round(2)
    array([0.98, 0.12])
    """

    slopes: Mapping[str, float] = field(default_factory=dict)
    offsets: Mapping[str, float] = field(default_factory=dict)
    rest: float = REST

    def factors(self, parts: Parts) -> dict[str, np.ndarray]:
        """Return the chance that each part holds; one of which nothing was measured counts as 1."""
        return {part: self._factor(part, links) for part, links in parts.items()}

    def _factor(self, part: str, links: Mapping[str, np.ndarray]) -> np.ndarray:
        table = np.array([self.slopes.get(name, SLOPE) * strength for name, strength in links.items()])
        total = np.nansum(table, axis=0) + self.offsets.get(part, OFFSET)
        return np.where(np.isnan(table).all(0), 1.0, expit(total))

    def probability(self, parts: Parts) -> np.ndarray:
        """Return the probability that each unit is right."""
        return self.joined(self.factors(parts))

    def joined(self, held: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return the probability that all parts hold, given the chance that each does, and the rest."""
        return self.rest * np.prod(list(held.values()), axis=0)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        slopes, offsets = ({k: round(v, 4) for k, v in each.items()} for each in (self.slopes, self.offsets))
        return {"slopes": slopes, "offsets": offsets, "rest": round(self.rest, 4)}


def calibrate(parts: Parts, right: np.ndarray, weight: np.ndarray | None = None) -> Chain:
    """Find the chain of highest likelihood for units of which it is known whether they are right.

    Parameters
    ----------
    parts : mapping of str to mapping of str to ndarray of shape (n_units,)
        The strength of each link of each part.
    right : ndarray of bool, shape (n_units,)
    weight : ndarray of shape (n_units,), optional
        Units of one data set share their fate, so that each may count for less than one.

    Returns
    -------
    Chain

    Examples
    --------
    >>> s = np.linspace(-1, 1, 40)
    >>> found = calibrate({"a": {"a": s}}, s > 0)
    >>> found.probability({"a": {"a": np.array([-0.5, 0.5])}}).round(1)
    array([0., 1.])
    """
    names = [name for links in parts.values() for name in links]
    n, truth = len(names), np.asarray(right, float)
    share = np.ones(len(truth)) if weight is None else np.asarray(weight, float)
    start = np.array([SLOPE] * n + [OFFSET] * len(parts) + [logit(REST)])
    bounds = [_RANGES["slope"]] * n + [_RANGES["offset"]] * len(parts) + [_RANGES["rest"]]

    def chain(theta: np.ndarray) -> Chain:
        slopes = dict(zip(names, theta[:n].tolist(), strict=True))
        offsets = dict(zip(parts, theta[n:-1].tolist(), strict=True))
        return Chain(slopes, offsets, float(expit(theta[-1])))

    def cost(theta: np.ndarray) -> tuple[float, np.ndarray]:
        found = chain(theta)
        p = np.clip(found.probability(parts), 1e-9, 1 - 1e-9)
        surprise = -(truth * np.log(p) + (1 - truth) * np.log1p(-p))
        away = theta - start
        slope = share * ((1 - truth) * p / (1 - p) - truth)  # of the surprise, by log p
        gradient = np.array([slope @ each for each in _by_coefficient(found, parts)])
        return float(share @ surprise + _LOOSE * away @ away), gradient + 2 * _LOOSE * away

    return chain(minimize(cost, start, jac=True, method="L-BFGS-B", bounds=bounds).x)


def _by_coefficient(chain: Chain, parts: Parts) -> Iterator[np.ndarray]:
    """Yield the derivative of log P by each slope, each offset and the logit of the rest, for each unit."""
    fails = {part: 1 - held for part, held in chain.factors(parts).items()}  # 0 where nothing was measured
    for part, links in parts.items():
        yield from (fails[part] * np.nan_to_num(strength) for strength in links.values())
    yield from fails.values()
    first = next(iter(fails.values()), np.zeros(0))
    yield np.full_like(first, 1 - chain.rest)
