"""Components estimated from data: the conditions of a mixture, with how sure one can be of each verdict."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._certificate import Certificate
from ._checks import Mixture, checked_mixture
from ._estimates import estimate
from ._genericity import Meeting, distances, meetings, witness
from ._mixture import MixtureCertificate, assemble, conditions
from ._subspaces import meet
from ._variability import may_depend

_VERDICTS = ("reduced form", "genericity", "common basis", "standard basis", "support variability")
_GENERIC, _STANDARD, _VARIABILITY = 1, 3, 4
_CLEAR_RANK = 3.0


def certify_components(
    source: Any,
    labels: ArrayLike | None = None,
    *,
    masks: ArrayLike | None = None,
    n_samples: int | None = None,
    n_resamples: int = 100,
    confidence: float = 0.95,
    tolerance: float = 1e-3,
    max_intersections: int = 10_000,
    random_state: int | np.random.Generator = 0,
) -> MixtureCertificate:
    """Say what is identified of latents whose mixture has been estimated, and how sure that is.

    The checks of `certify_mixture` are made on the estimate and on resamples. A condition counts as met only
    if it holds for the estimate and recurs in a share `confidence` of resamples. Noise makes any
    mixture generic, so there a resample agrees only if Mahalanobis distances keep their order where supports
    meet.

    Parameters
    ----------
    source : fitted model or array-like of shape (n_samples, n)
        A model with `weights_`, `means_` and `covariances_`, whose `masks_` (J, n), if any, are believed; or
        codes.
    labels : array-like of shape (n_samples,), optional
        The component of each code.
    masks : array-like, optional
        With codes and no labels, of shape (n_samples, n): which latents vary in each sample; samples that
        agree make a component. Otherwise of shape (J, n): the index set of each component, in the order of
        sorted labels, believed.
    n_samples : int, optional
        For a model, the number of samples that it was fitted to; without it nothing can be resampled.
    n_resamples : int
        Resamples of codes within components, or of a model's own mixture; 0 to rely on the estimate alone.
    confidence : float
        The share of resamples in which a verdict must recur.
    tolerance : float
        As in `certify_mixture`; about the relative variance of the noise in codes.
    max_intersections : int
        As in `certify_mixture`.
    random_state : int or Generator

    Returns
    -------
    MixtureCertificate
        With `frequencies`: for each condition the share of resamples in which it holds. Two latents count as
        told apart only if they are in a share `confidence` of resamples.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([0, 1], 500)
    >>> z = (rng.normal(size=(1000, 2)) + [1, 2]) * np.eye(2)[labels]
    >>> found = certify_components(z, labels)
    >>> found.level, found.frequencies["genericity"]
    ('permutation and scaling', 1.0)

    References
    ----------
    Xu, Lachapelle, Magliacane (2026), Assumptions 3.4, 3.6 and 3.8, arXiv:2604.13218.
    """
    _check_settings(n_resamples, confidence, n_samples)
    parameters, resample, noted = estimate(source, labels, masks, n_samples)
    mixture, found = conditions(checked_mixture(*parameters, tolerance), max_intersections)
    noted += (_rank_note(mixture),)
    if resample is None or not n_resamples:
        noted += ("Nothing was resampled, so verdicts are those of the estimate alone.",)
        return _noted(assemble(mixture, found), noted)
    rng = np.random.default_rng(random_state)
    orders = _orders(mixture, max_intersections)
    drawn = (checked_mixture(*resample(rng), tolerance) for _ in range(n_resamples))
    trials = [_trial(again, orders, max_intersections) for again in drawn]
    return _noted(_agreed(mixture, found, trials, confidence), noted)


@dataclass(frozen=True, eq=False)
class _Order:
    """The order of Mahalanobis distances of some components, at a point at which their supports meet."""

    meeting: Meeting
    point: np.ndarray
    order: np.ndarray

    def kept(self, mixture: Mixture) -> bool:
        """Say whether a resample has the same order, at its own common point nearest to this one."""
        if len(mixture.supports) <= max(self.meeting.components):
            return False
        flat = meet([mixture.supports[j] for j in self.meeting.components], mixture.angle)
        if flat is None:
            return False
        away = self.point / mixture.scale - flat.point
        nearest = flat.point + flat.basis @ (flat.basis.T @ away)
        return np.array_equal(distances(mixture, self.meeting, nearest).argsort(), self.order)


def _orders(mixture: Mixture, most: int) -> list[_Order]:
    orders = []
    for meeting in meetings(mixture, most) or []:
        point = witness(mixture, meeting)
        order = distances(mixture, meeting, point).argsort()
        orders.append(_Order(meeting, point * mixture.scale, order))
    return orders


def _trial(mixture: Mixture, orders: list[_Order], most: int) -> tuple[list[bool], np.ndarray]:
    """Return the verdict of a resample on each condition, and the pairs that its index sets leave mixed."""
    reduced, found = conditions(mixture, most)
    verdicts = [bool(certificate) for certificate in found]
    verdicts[_GENERIC] &= all(order.kept(reduced) for order in orders)
    return verdicts, may_depend(np.array(found[_STANDARD].masks))


def _agreed(
    mixture: Mixture,
    found: tuple[Any, ...],
    trials: list[tuple[list[bool], np.ndarray]],
    confidence: float,
) -> MixtureCertificate:
    """Keep what holds for the estimate and recurs often enough, and conclude from that."""
    shares = np.mean([verdicts for verdicts, _ in trials], axis=0).tolist()
    sure = tuple(_sure(c, share, confidence) for c, share in zip(found, shares, strict=True))
    # a pair that is rarely mixed still counts where together such pairs are too many to rely on none
    rare = 1 - confidence if sure[_VARIABILITY] else 0.0
    mixed = np.mean([pairs for _, pairs in trials], axis=0) > rare
    return replace(assemble(mixture, sure, mixed), frequencies=dict(zip(_VERDICTS, shares, strict=True)))


def _sure(certificate: Certificate, share: float, confidence: float) -> Certificate:
    if not certificate:
        return replace(certificate, reasons=(*certificate.reasons, f"it holds in {share:.0%} of resamples"))
    note = f"it recurs in {share:.0%} of resamples"
    if share < confidence:
        note = f"it recurs in only {share:.0%} of resamples, so it is not relied on"
    return replace(certificate, holds=share >= confidence, reasons=(*certificate.reasons, note))


def _rank_note(mixture: Mixture) -> str:
    margin, j = min(mixture.rank_margins), int(np.argmin(mixture.rank_margins))
    if margin >= _CLEAR_RANK:
        return f"Ranks are clear: no eigenvalue is within a factor {_CLEAR_RANK:.0f} of what counts as zero."
    return (
        f"The rank of component {j} is not clear: an eigenvalue is within a factor {margin:.2g} of what "
        "counts as zero."
    )


def _noted(certificate: MixtureCertificate, noted: tuple[str, ...]) -> MixtureCertificate:
    return replace(certificate, reasons=(*certificate.reasons, *noted))


def _check_settings(n_resamples: int, confidence: float, n_samples: int | None) -> None:
    if n_resamples < 0:
        raise ValueError(
            f"`n_resamples` must be at least 0, got {n_resamples}. 0 relies on the estimate alone."
        )
    if not 0 < confidence <= 1:
        raise ValueError(f"`confidence` must be in (0, 1], got {confidence}. It is a share of resamples.")
    if n_samples is not None and n_samples < 1:
        raise ValueError(f"`n_samples` must be at least 1, got {n_samples}. Give the size of the sample.")
