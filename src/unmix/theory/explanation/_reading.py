"""How a structure was read off a fitted model, and how often it comes back from resampled points."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from unmix.structure import Structure

from .._certificate import ANSWER, Certificate, attributes, names

CLEAR = 2.0  # smallest edge kept over largest dropped
FITTING = 0.9  # share of the variance of x below which a model does not match the data
_SAME = 0.01  # restarts so close to the lowest objective, relative to its spread, count as the same


@dataclass(frozen=True)
class Reading:
    """What a conclusion from an estimated structure owes to the estimate; see `explain`.

    Truthy iff what is known of it is good enough: the margin, and the share of the variance explained.

    Attributes
    ----------
    margin : float or None
        Smallest edge kept over largest dropped, as `Structure.from_jacobian` found it.
    explained : float or None
        Share of the variance of x that the model reconstructs.
    restarts : tuple of float
        Objectives of the restarts that the model was chosen from.

    Examples
    --------
    >>> print(Reading(margin=1.3).certificates[0])
    A clear cut between edges and zeros fails: the smallest edge kept is 1.3 times the largest dropped, ...
    """

    margin: float | None = None
    explained: float | None = None
    restarts: tuple[float, ...] = ()

    def __bool__(self) -> bool:
        return all(self.certificates)

    @cached_property
    def certificates(self) -> tuple[Certificate, ...]:
        """The margin and the fit, each where it is known."""
        return (*_cut(self.margin), *_fit(self.explained))

    @property
    def identifies(self) -> str:
        """One sentence: what the estimate is good for."""
        if self:
            return "What could be checked of the estimate is good enough."
        return "The estimate is uncertain: take what follows from it as tentative."

    @property
    def reasons(self) -> tuple[str, ...]:
        """Whether restarts agree."""
        if len(self.restarts) < 2:
            return ()
        lowest, spread = min(self.restarts), max(self.restarts) - min(self.restarts)
        same = sum(score <= lowest + _SAME * spread for score in self.restarts)
        return (f"{same} of {len(self.restarts)} restarts ended at the lowest objective.",)

    @property
    def missing(self) -> tuple[str, ...]:
        """What would make the estimate better."""
        wishes = (
            "a wider margin between edges and zeros",
            "a model that fits: more latents or more training",
        )
        clear = self.margin is None or self.margin >= CLEAR
        fits = self.explained is None or self.explained >= FITTING
        return tuple(wish for wish, met in zip(wishes, (clear, fits), strict=True) if not met)

    def __str__(self) -> str:
        return "\n".join([self.identifies, *(f"- {c.verdict}" for c in self.certificates), *self.reasons])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON; an infinite margin (all else exactly zero) is None."""
        return attributes(self, "margin", "explained", "restarts", *ANSWER)


@dataclass(frozen=True)
class Unused:
    """Latents of a fitted model that move nothing, or never vary: no data can tell about them."""

    latents: tuple[int, ...]

    def __bool__(self) -> bool:
        return False

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """One that fails."""
        reason = f"{names(self.latents)} move no observed variable, or never vary"
        return (Certificate("Every latent of the model is used", False, (), (reason,)),)

    @property
    def identifies(self) -> str:
        """One sentence."""
        return f"Nothing of {names(self.latents)}: no data can tell about a latent that does nothing."

    missing: ClassVar[tuple[str, ...]] = ("a model with fewer latents",)
    reasons: ClassVar[tuple[str, ...]] = ()

    def __str__(self) -> str:
        return f"{self.identifies} Fit again with fewer."

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return attributes(self, "latents", *ANSWER)


def _cut(margin: float | None) -> tuple[Certificate, ...]:
    if margin is None:
        return ()
    times = f"the smallest edge kept is {margin:.3g} times the largest dropped"
    nearly = "" if margin >= CLEAR else ", so that another structure is nearly as likely"
    reason = "what was dropped is exactly zero" if np.isinf(margin) else times + nearly
    return (Certificate("A clear cut between edges and zeros", margin >= CLEAR, (), (reason,)),)


def _fit(explained: float | None) -> tuple[Certificate, ...]:
    if explained is None:
        return ()
    reason = (
        f"the model explains {max(explained, 0.0):.1%} of the variance of x, of which {FITTING:.0%} are asked"
    )
    return (Certificate("A model that fits the data", explained >= FITTING, (), (reason,)),)


def resampled_structures(
    jacobians: ArrayLike,
    n_resamples: int = 100,
    *,
    threshold: float | None = None,
    latent_scale: ArrayLike | None = None,
    random_state: int | np.random.Generator = 0,
) -> tuple[Structure, ...]:
    """Read a structure again and again off resampled points of one Jacobian, cut anew each time.

    For `stability`. This shows how much the structure owes to the points and the cut. What another fit would
    have found it does not show: `refitted_structures` does.

    Parameters
    ----------
    jacobians : array-like of shape (n, n_observed, n_latents)
        Drawn anew with replacement.
    n_resamples : int
    threshold, latent_scale
        As for `Structure.from_jacobian`; by default each resample finds its own gap.
    random_state : int or Generator

    Returns
    -------
    tuple of Structure

    Examples
    --------
    >>> J = np.random.default_rng(0).normal(size=(100, 2, 2)) * [[1, 0.2], [0, 1]]
    >>> found = resampled_structures(J, 50, threshold=0.2)
    >>> share = float(np.mean([each.support[0, 1] for each in found]))
    >>> len(found), 0 < share < 1
    (50, True)

    References
    ----------
    Meinshausen and Bühlmann (2010), Stability selection, arXiv:0809.2932.
    """
    samples = np.asarray(jacobians, dtype=np.float64)
    if samples.ndim != 3 or not len(samples):
        raise ValueError(
            f"`jacobians` must have shape (n, n_observed, n_latents) to be resampled, got {samples.shape}."
        )
    if n_resamples < 2:
        raise ValueError(f"`n_resamples` must be at least 2, got {n_resamples}. A hundred are usual.")
    n = len(samples)
    counts = np.random.default_rng(random_state).multinomial(n, np.full(n, 1 / n), size=n_resamples)
    sizes = np.tensordot(counts / n, np.abs(samples), axes=1)  # E|J_ij| of each resample
    return tuple(Structure.from_jacobian(size, threshold, latent_scale=latent_scale) for size in sizes)
