"""Members shared out among processes: each is trained by one of them, where there are enough members."""

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields
from typing import Any

from torch import nn

from unmix._group import ALONE, bytes_from, current, tensors_from, within
from unmix._waiting import stages

from ._history import History
from ._stopped import Stopped


def shared_out(
    members: Sequence[nn.Module], train: Callable[[int], History], stopped: Stopped | None = None
) -> dict[int, History]:
    """Train members one after another, and return the history of each by number.

    With at least as many members as processes each process trains its own, by itself, and all have all of
    them in the end; with fewer all train each of them, on parts of its batches.

    Parameters
    ----------
    members : sequence of Module
    train : callable (number) -> History
    stopped : Stopped, optional
        Takes note of members that do not stay finite; by default that is an error.
    """
    group = current()
    apart = not group.alone and len(members) >= group.size
    numbers = range(group.rank, len(members), group.size) if apart else range(len(members))
    found: dict[int, History] = {}
    for number, turn in zip(numbers, stages([1] * len(numbers)), strict=True):
        survived: AbstractContextManager[Any] = nullcontext() if stopped is None else stopped.survived(number)
        with turn, within(ALONE if apart else group), survived:
            found[number] = train(number)
    return _exchanged(members, found, stopped) if apart else found


def _exchanged(
    members: Sequence[nn.Module], found: dict[int, History], stopped: Stopped | None
) -> dict[int, History]:
    """Tell every process of all members: their tensors, their histories, and what stopped them."""
    every: dict[int, History] = {}
    reasons = {} if stopped is None else stopped.reasons
    for number, member in enumerate(members):
        owner = number % current().size
        tensors_from(owner, *member.parameters(), *member.buffers())
        told = json.loads(bytes_from(owner, _text(found.get(number), reasons.get(number))) or b"{}")
        if told.get("reason") is not None:
            reasons[number] = told["reason"]
        if told.get("history") is not None:
            every[number] = History(**told["history"])
    return every


def _text(history: History | None, reason: str | None) -> bytes:
    known = None if history is None else {f.name: getattr(history, f.name) for f in fields(history)}
    return json.dumps({"history": known, "reason": reason}).encode()
