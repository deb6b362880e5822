"""The four types of mechanistic independence for a given partition of latents into slots, with margins."""

from dataclasses import dataclass

import numpy as np

from .._certificate import Certificate, names
from ._derivatives import Partition
from ._factors import Samples, crossing, slot_max, slot_of
from ._interactions import bends, interaction_strength
from ._sparsity_gap import SparsityGap, bounded, searchable, searched

_SMALLEST = 1e-16  # relative sizes below are rounding: margins end at sixteen decades
_NAMES = {
    "D": "Type D (slots move disjoint sets of observed variables)",
    "M": "Type M (no latent moves only what a latent of another slot moves)",
    "S": "Type S (any basis that mixes slots is less sparse)",
    "H2": "Type H_2 (no second derivative touches two slots)",
    "H3": "Type H_3 (no third derivative touches two slots)",
}


@dataclass(frozen=True)
class Mechanism(Certificate):
    """A certificate that slots act independently in one sense; see `certify_mechanisms`.

    Attributes
    ----------
    kind : str
        "D", "M", "S", "H2" or "H3".
    margin : float or None
        How far the verdict is from turning, in `unit`: for D and H_n decades between the tolerance and the
        largest offence, for M and S rows to spare. None where there is one slot only.
    unit : str
        "decades" or "rows".
    points : float
        Share of the sampled points at which the type holds (S: is known to hold).
    """

    kind: str = "D"
    margin: float | None = None
    unit: str = "rows"
    points: float = 1.0


def disjoint(samples: Samples, slots: Partition) -> Mechanism:
    """Check that each row is moved by one slot at most."""
    if len(slots) == 1:
        return _alone("D", "decades")
    influence, tolerance = slot_max(samples.sizes, slots), samples.tolerance
    second = _second_largest(influence)
    worst = second.max(1)
    point, row = np.unravel_index(second.argmax(), second.shape)
    by = np.argsort(influence[point, :, row])[-2:].tolist()
    reason = f"the largest second influence on one observed variable is {second.max():.2g} of the largest"
    if second.max() > tolerance:
        reason = f"x{row} is moved by slots {min(by)} and {max(by)} at point {point}; {reason}"
    return _by_decades("D", second.max(), tolerance, (reason,), float((worst <= tolerance).mean()))


def _second_largest(influence: np.ndarray) -> np.ndarray:
    """Return the second largest over slots, the middle axis."""
    first, second = influence[:, 0], np.zeros_like(influence[:, 0])
    for k in range(1, influence.shape[1]):
        second = np.maximum(second, np.minimum(first, influence[:, k]))
        first = np.maximum(first, influence[:, k])
    return second


def mutual(samples: Samples, slots: Partition) -> Mechanism:
    """Check that the support of no latent is part of that of a latent in another slot."""
    if len(slots) == 1:
        return _alone("M", "rows")
    private = samples.containments.copy()
    private[:, ~crossing(slots, private.shape[2])] = np.inf
    point, a, b = (int(index) for index in np.unravel_index(private.argmin(), private.shape))
    least = int(private.min())
    reasons = [f"z{a} moves {least} observed variables that z{b} does not, at point {point}"]
    if not least:
        reasons = [f"all that z{a} moves is moved by z{b} of another slot, at point {point}"]
    if len(private) > 1:
        reasons.append(f"at least {_pooled(samples, slots)} with supports pooled over points")
    if any(len(block) > 1 for block in slots):
        reasons.append("for the basis that these coordinates are; another basis within slots may differ")
    holding = float((private.min((1, 2)) > 0).mean())
    return Mechanism(_NAMES["M"], least > 0, (), tuple(reasons), "M", float(least), "rows", holding)


def _pooled(samples: Samples, slots: Partition) -> int:
    """Return the fewest rows of one's own when a row counts as moved if it is moved at any point."""
    ever = samples.supports.any(0).astype(int)
    return int((ever @ (1 - ever).T)[crossing(slots, len(ever))].min())


def sparse(samples: Samples, slots: Partition, generic: bool, search: int) -> tuple[Mechanism, SparsityGap]:
    """Check that the sparsity gap is positive at every point: by bounds, then by search if affordable."""
    if len(slots) == 1:
        return _alone("S", "rows"), SparsityGap(None, None, True, "one slot")
    gap = bounded(samples, slots)
    if not gap.decided and searchable(samples, slots, search):
        gap = searched(samples, slots)
    if not gap.decided and generic:
        gap = bounded(samples, slots, generic=True)
    assumes = ("entries in general position",) if gap and gap.method.endswith("generic entries") else ()
    nearest = gap.upper if gap.decided and not gap else gap.lower
    margin = None if nearest is None else float(nearest)
    reasons = (_gap_words(gap),)
    return Mechanism(_NAMES["S"], bool(gap), assumes, reasons, "S", margin, "rows", gap.share), gap


def _gap_words(gap: SparsityGap) -> str:
    if gap.exact and gap.method == "search":
        return f"the gap is {gap.lower} at point {gap.point}, found by exhaustive search"
    if gap:
        return f"the gap is at least {gap.lower}, by bounds"
    if gap.decided:
        return f"the gap is at most {gap.upper}, by bounds"
    return (
        f"undecided: the gap lies between {gap.lower} and {gap.upper}, and the search is too large. "
        "Raise `search`, or set `generic` if entries are in general position"
    )


def non_interacting(derivatives: np.ndarray, samples: Samples, slots: Partition) -> Mechanism:
    """Check that cross derivatives vanish, relative to the largest derivative of their order."""
    order, jacobians, tolerance = derivatives.ndim - 2, samples.jacobians, samples.tolerance
    kind = f"H{order}"
    if len(slots) == 1:
        return _alone(kind, "decades")
    strength = interaction_strength(derivatives, jacobians, tolerance)
    crossed = np.where(crossing(slots, len(strength)), strength, 0)
    a, b = sorted(int(index) for index in np.unravel_index(crossed.argmax(), crossed.shape))
    reason = f"the largest cross derivative is {crossed.max():.2g} of the largest"
    if crossed.max() > tolerance:
        k, m = slot_of(slots, len(strength))[[a, b]]
        reason = f"{names((a, b))} of slots {k} and {m} interact; {reason}"
    elif not bends(derivatives, jacobians, tolerance):
        reason = f"vacuously: all derivatives of order {order} vanish (a linear or piecewise linear map)"
    return _by_decades(
        kind, crossed.max(), tolerance, (reason,), _share(derivatives, jacobians, slots, tolerance)
    )


def _share(derivatives: np.ndarray, jacobians: np.ndarray, slots: Partition, tolerance: float) -> float:
    """Share of points at which cross derivatives vanish on the common scale."""
    d = jacobians.shape[2]
    lengths = np.linalg.norm(derivatives, axis=1)
    scale = max(lengths.max(), tolerance * np.linalg.norm(jacobians, axis=1).max()) or 1.0
    per_pair = lengths.reshape(len(lengths), d, d, -1).max(3)
    worst = np.where(crossing(slots, d), per_pair, 0).max((1, 2)) / scale
    return float((worst <= tolerance).mean())


def _by_decades(
    kind: str, offence: float, tolerance: float, reasons: tuple[str, ...], points: float
) -> Mechanism:
    margin = float(np.log10(tolerance / max(offence, _SMALLEST)))
    return Mechanism(_NAMES[kind], bool(offence <= tolerance), (), reasons, kind, margin, "decades", points)


def _alone(kind: str, unit: str) -> Mechanism:
    return Mechanism(_NAMES[kind], True, (), ("there is one slot only",), kind, None, unit)
