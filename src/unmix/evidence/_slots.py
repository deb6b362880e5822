"""Slots: each moves observed variables of its own, more of them than a code of that size could copy."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from unmix._findings import findings_of
from unmix._fitted import thinned

from ._case import Case
from ._common import can_have
from ._counterexamples import counterexamples
from ._link import Link, link, unchecked
from ._probe import mutual, readable, shares
from ._slot_rows import TWINS, Influence, Slots, connection, distinct, influence, leverage, scattered, weakest

ONE, OTHER = "comes back from one half", "comes back from the other half"
MORE = "stays beside one latent more"
REFITS = {ONE: "quick", OTHER: "full", MORE: "full"}

_POINTS, _PROBED = 200, 600
_SURE = 2.0  # -log10 p from which on rows are a slot's own
_DOUBT = 0.1  # share of a code that may come from elsewhere: a correlation of .95
_GAP = 0.5  # of the connection of scattered rows at which a slot may be two
_LEAK = 0.1  # share of other slots up to which a row is moved by one alone
_LONE = 0.9  # share of a direction that one row may tell
_NOISE = 3.0  # how much more than what is left over of one row the weakest direction of a slot must move


def links(case: Case) -> Iterator[Link]:
    """Ask for rows beyond copies, one piece, no idle direction, a code of its rows alone, and its return."""
    trial = Trial(case)
    yield trial.rows()
    yield trial.piece()
    yield trial.directions()
    yield trial.read()
    yield trial.told()
    for name, effort in REFITS.items():
        yield returns(case, name, effort)


class Trial:
    """The slots of a model, and what is measured of each at no refit.

    Parameters
    ----------
    case : Case
    """

    def __init__(self, case: Case):
        self.case, self.slots = case, slots_of(case.model)
        columns = distinct(case.x)
        points = thinned(np.arange(len(case.x)), _POINTS)
        jacobians = np.asarray(case.model.jacobian(case.x[points]), float)[:, columns]
        self.x, self.codes = case.x[:, columns], case.codes
        self.moved: Influence = influence(jacobians, self.codes, self.x, self.slots)
        self.left = _left(self.x, np.asarray(case.model.inverse_transform(self.codes))[:, columns])
        self.probed = case.rng(3).permutation(len(self.x))[:_PROBED]
        self.own = [self._own(k) for k in range(len(self.slots))]

    def _own(self, k: int) -> np.ndarray:
        """Rows that are the slot's own and that the model knows, those that are most so first."""
        rows = self.moved.own(k)
        rows = rows[self.left[rows] < 0.5]
        return rows[np.argsort(-self.moved.shares[rows, k], kind="stable")]

    def rows(self) -> Link:
        """Count rows that the slot moves alone, beyond the copies that any code can make."""
        found = [self.moved.evidence(k) if len(self.slots) > 1 else (0.0, 0) for k in range(len(self.slots))]
        strength = [score - _SURE for score, _ in found] if len(self.slots) > 1 else [-3.0]
        words = [
            f"{count} variables follow it alone, p = {10**-score:.1g}; {len(slot) + TWINS} would in any data"
            for (score, count), slot in zip(found, self.slots, strict=True)
        ]
        only = ["one slot holds all latents, and separates nothing"]
        counts = [count for _, count in found]
        free = [len(slot) + TWINS for slot in self.slots]
        name = "variables of its own beyond copies"
        return link(name, counts, free, strength, words if len(self.slots) > 1 else only)

    def piece(self) -> Link:
        """Measure how firmly the rows of a slot hang together, beside the same rows turned at random."""
        found = np.array([self._pieces(k) for k in range(len(self.slots))])
        told = "its variables hang together with {:.2f}, random ones with {:.2f}, and two slots in one with 0"
        strength = np.log10(np.maximum(found[:, 0], 1e-6) / (_GAP * found[:, 1]))
        words = [told.format(*pair) for pair in found]
        return link("one slot and not two", found[:, 0], found[:, 1], strength, words)

    def _pieces(self, k: int) -> tuple[float, float]:
        if len(self.slots[k]) == 1:
            return 1.0, 1.0
        block = self._block(k)
        if block.shape[1] <= block.shape[2]:
            return 0.0, 1.0
        return connection(block), max(scattered(block, self.case.rng(4)), 1e-6)

    def directions(self) -> Link:
        """Ask that every direction of the slot moves several rows, by more than is left over of one."""
        lone = np.array(
            [leverage(self._block(k)) if len(self.own[k]) else 1.0 for k in range(len(self.slots))]
        )
        moved = np.array([weakest(self._block(k)) / self._unsaid(k) for k in range(len(self.slots))])
        strength = np.minimum(
            np.log10(np.maximum(1 - lone, 1e-6) / (1 - _LONE)), np.log10(np.maximum(moved, 1e-6) / _NOISE)
        )
        told = (
            "one variable says {:.0%} of a direction, a copy all; the weakest moves {:.1f} times what is left"
        )
        words = [told.format(*pair) for pair in zip(lone, moved, strict=True)]
        return link("several variables for each direction", 1 - lone, 0.0, strength, words)

    def read(self) -> Link:
        """Read the slot's code off either half of the rows that are its own: noise is not in both."""
        found = np.array([self._read(k) for k in range(len(self.slots))])
        words = [f"{share:.1%} of its code can be read off half of its own variables" for share in found]
        return link("a function of its own variables", found, 0.0, _sure(found), words)

    def _read(self, k: int) -> float:
        own, slot = self.own[k], list(self.slots[k])
        if len(own) < len(slot):
            return 0.0
        parts = (own[::2], own[1::2]) if len(own) // 2 > len(slot) else (own,)
        return min(readable(self._rows(part), self.codes[self.probed][:, slot]) for part in parts)

    def told(self) -> Link:
        """Tell the rows that the slot moves alone from its code, as well as all other rows together do."""
        found = np.array([self._told(k) for k in range(len(self.slots))])
        strength = np.log10((found[:, 1] + _DOUBT / 2) / np.maximum(found[:, 0], 1e-3))
        told = "its code leaves {:.1%} of its variables open, all other variables together {:.1%}"
        words = [told.format(*pair) for pair in found]
        return link("its own variables told by it alone", 1 - found[:, 0], 1 - found[:, 1], strength, words)

    def _told(self, k: int) -> tuple[float, float]:
        own, slot = self.own[k], list(self.slots[k])
        if not len(own):
            return 1.0, 0.0
        pure = int((1 - self.moved.shares[own, k] < _LEAK).sum())
        own = own[: max(pure, len(slot) + 1)]
        alone = shares(self.codes[self.probed][:, slot], self._rows(own))
        others = [shares(self._rows(self._but(i)), self._rows([i]))[0] for i in own[:2]]
        return float(1 - alone.mean()), float(1 - np.mean(others))

    def _rows(self, columns: Sequence[int] | np.ndarray) -> np.ndarray:
        return self.x[self.probed][:, columns]

    def _but(self, i: int) -> np.ndarray:
        return np.delete(np.arange(self.x.shape[1]), i)

    def _block(self, k: int) -> np.ndarray:
        rows = self.own[k] if len(self.own[k]) >= len(self.slots[k]) else np.arange(self.x.shape[1])
        return self.moved.jacobians[:, rows][:, :, list(self.slots[k])]

    def _unsaid(self, k: int) -> float:
        rows = self.own[k] if len(self.own[k]) else np.arange(self.x.shape[1])
        return float(max(self.left[rows].max(), 1e-4))


def returns(case: Case, name: str, effort: str) -> Link:
    """Compare each slot with one of a refit to half of the rows from another seed, on the other half."""
    slots = slots_of(case.model)
    if not case.allows(effort):
        return unchecked(name, len(slots), effort)
    if name == MORE and not can_have(case, case.codes.shape[1] + 1):
        words = ["x has no direction left for one latent more"] * len(slots)
        return link(name, np.nan, np.nan, 0.0, words, effort=effort)
    other, rows = refitted(case, name)
    found, null = same(case.codes[rows], slots, other.transform(case.x[rows]), slots_of(other))
    told = "a refit has it to {:.1%}, and other slots of the refit to {:.1%}"
    more = counterexamples(case.model, other, found < 1 - _DOUBT)
    words = [told.format(*pair) + then for *pair, then in zip(found, null, more, strict=True)]
    return link(name, found, null, np.minimum(_sure(found), 1), words, effort=effort)


def refitted(case: Case, name: str) -> tuple[Any, np.ndarray]:
    """Fit slots of the same sizes to one half, or beside one latent more, and name rows of the other half.

    That a free search would find other sizes in fewer rows speaks against the search, not against a slot.
    """
    here, there = case.halves[:: -1 if name == OTHER else 1]
    settings: dict[str, Any] = {"slots": slots_of(case.model)}
    if name == MORE:
        n = case.codes.shape[1]
        settings = {"slots": (*settings["slots"], (n,)), "n_components": n + 1}
    return case.refit(here, name, **settings), there[:_PROBED]


def same(codes: np.ndarray, slots: Slots, others: np.ndarray, their: Slots) -> tuple[np.ndarray, np.ndarray]:
    """Return how far each slot and its match tell each other, and how far it and the next best slot do."""
    table = mutual(codes, slots, others, their)
    mine, theirs = linear_sum_assignment(-table)
    found = np.zeros(len(slots))
    found[mine] = table[mine, theirs]
    table[mine, theirs] = 0
    return found, table.max(1)


def _sure(share: np.ndarray) -> np.ndarray:
    """Return 0 where a tenth is not told, and 1 where a hundredth is."""
    return np.log10(_DOUBT / np.maximum(1 - share, 1e-3))


def _left(x: np.ndarray, decoded: np.ndarray) -> np.ndarray:
    """Return the share of each row that the model leaves over."""
    return np.square(x - decoded).mean(0) / np.where(x.var(0) > 0, x.var(0), 1)


def slots_of(model: object) -> Slots:
    """Return the latents of each slot of a fitted model."""
    return tuple(tuple(slot) for slot in findings_of(model).slots.partition)  # type: ignore[union-attr]
