"""Members trained one after another, each in one run from its first step to its last."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from unmix._group import numbers_from
from unmix._waiting import waiting

from ._beside import Noise
from ._ensemble import on_matrices, on_weights, rate_of, total_of, unpacked
from ._history import History
from ._pace import Pace
from ._parts import seeded
from ._play import play
from ._restarts import Trained
from ._settings import Player, Run
from ._shared_out import shared_out
from ._sources import Held, Source
from ._stopped import Stopped

_JUDGED = 256  # samples on which restarts are compared

Players = Callable[[Any, dict[str, Any]], Sequence[Player]]


def alone(member: nn.Module, settings: dict[str, Any]) -> list[Player]:
    """Let a member lower the sum of its own terms."""
    return [Player(loss=unpacked(member), parameters=member, **settings)]


def train_apart(
    members: Sequence[nn.Module],
    weights: Mapping[str, Any],
    data: Tensor | Source,
    pace: Pace,
    *,
    beside: Noise,
    players: Players = alone,
) -> Trained:
    """Train members one after another, and return the one that ends with the lowest objective.

    What `train_restarts` does in rounds is one run for each member here: one optimiser, and on a GPU one
    recording of a step. A member that does not stay finite stops, with a warning that says which term or
    parameter it was; the others go on. Members are compared on one fixed batch: no ground truth takes part.

    Parameters
    ----------
    members : sequence of Module
        Each maps a batch of `data` and the noise beside it to a dict of terms.
    weights : mapping of str to float or schedule
        Of the terms; 1 where none is given.
    data : tensor or source of batches
        With the samples along the first axis.
    pace : Pace
    beside : Noise
        What every batch ends with.
    players : callable (member, settings) -> sequence of Player
        Who moves: by default the member alone. Settings are those of a player who lowers the member's terms.

    Returns
    -------
    Trained

    Raises
    ------
    FloatingPointError
        If no member stays finite.
    """
    source = Held(data) if isinstance(data, Tensor) else data
    stopped = Stopped(len(members))

    def train(number: int) -> History:
        with seeded(members[number], pace.seed + number):
            settings = _settings(members[number], weights, pace, pace.steps(len(source)))
            moving = players(members[number].train(), settings)
            run = _run(source, pace, number, stopped.words(number), alone=len(moving) == 1)
            batches = beside.batches(source, 0, batch_size=pace.batch_size, generator=pace.generator(0))
            return play(moving, batches, run)

    with waiting(pace.progress, "fit"):
        histories = shared_out(members, train, stopped)
    stopped.tell()
    few = tuple(part[:_JUDGED] for part in source.head(_JUDGED))
    judged = (*few, beside.at(0, few[0], pace.generator(-1)))
    scores = [_score(member, weights, judged, pace.steps(len(source))) for member in members]
    scores = [math.inf if number in stopped.reasons else score for number, score in enumerate(scores)]
    scores = numbers_from(0, scores)
    best = min(histories, key=lambda number: scores[number])
    return Trained(members[best].requires_grad_(False), histories[best], tuple(scores))


def _run(source: Source, pace: Pace, number: int, words: str, *, alone: bool) -> Run:
    return Run(
        compile="auto" if alone else False,  # several small networks gain less than their compilation costs
        n_steps=pace.steps(len(source)),
        checkpoint=pace.folder(f"restart-{number}"),
        progress=pace.progress,
        description=words,
    )


def _settings(member: nn.Module, weights: Mapping[str, Any], pace: Pace, n_steps: int) -> dict[str, Any]:
    """Return the settings of a player who lowers the terms of a member."""
    own = dict(member.named_parameters())
    return {
        "lr": pace.lr,
        "schedule": rate_of(pace, 0, n_steps),
        "weights": dict(weights),
        "precision": pace.precision,
        **on_weights(own, pace),
        **on_matrices(own, pace),
    }


@torch.no_grad()
def _score(member: nn.Module, weights: Mapping[str, Any], batch: tuple[Tensor, ...], step: int) -> float:
    """Return the objective; what can't be computed is inf."""
    total = float(total_of(member.eval()(*batch), weights, step))
    return total if math.isfinite(total) else math.inf
