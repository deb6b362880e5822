"""Train restarts in rounds, keeping the ones with the lowest objective."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from ._beside import Noise, Width
from ._ensemble import Ensemble
from ._history import History
from ._pace import Pace

_JUDGED = 2000  # samples on which restarts are compared

Data = tuple[Tensor, ...]
Improve = Callable[[Ensemble, Data, torch.Generator], None]


@dataclass(frozen=True)
class Trained:
    """The best restart, its history, and the last objective of every restart."""

    objective: Any
    history: History
    scores: tuple[float, ...]


def train_restarts(
    members: Sequence[nn.Module],
    weights: Mapping[str, Any],
    data: Data,
    pace: Pace,
    *,
    beside: Noise | Width,
    improve: Improve | None = None,
    improve_rounds: int = 1,
) -> Trained:
    """Train members together, in rounds, and return the one that ends with the lowest objective.

    Half of the members leave after each of the first two rounds. Restarts are compared by the objective on
    one fixed batch: no ground truth takes part.

    Parameters
    ----------
    members : sequence of Module
        Each maps a batch of `data` and what stands beside it to a dict of terms.
    weights : mapping of str to float or schedule
        Of the terms; 1 where none is given.
    data : tuple of tensors
        With the samples along the first axis.
    pace : Pace
    beside : Noise or Width
        What every batch ends with.
    improve : callable (ensemble, data, generator), optional
        May change the coordinates of the members after each of the first `improve_rounds` rounds; a member
        keeps the change only if its objective is lower for it.
    improve_rounds : int

    Returns
    -------
    Trained
    """
    ensemble = Ensemble(members, weights)
    n_steps = pace.steps(len(data[0]))
    few = tuple(part[:_JUDGED] for part in data)

    def judged(step: int) -> Data:
        return (*few, beside.at(step, few[0], pace.generator(-1)))

    alive, scores = list(range(len(members))), [math.inf] * len(members)
    histories = []
    for number, (start, stop, survivors) in enumerate(rounds(n_steps, len(members))):
        best = sorted(range(len(alive)), key=lambda i: scores[alive[i]])[:survivors]
        alive = [alive[i] for i in best]
        ensemble.keep(best)
        batches = beside.batches(data, start, batch_size=pace.batch_size, generator=pace.generator(number))
        histories.append(ensemble.train(batches, start, stop, n_steps, pace, f"round-{number}"))
        if number < improve_rounds and improve is not None:
            _improve_where_lower(ensemble, improve, judged(stop), n_steps, pace.generator(-2 - number))
        for index, score in zip(alive, ensemble.scores(judged(stop), n_steps).tolist(), strict=True):
            scores[index] = score
    winner = min(range(len(alive)), key=lambda i: scores[alive[i]])
    return Trained(ensemble.extract(winner), joined(histories), tuple(scores))


def rounds(n_steps: int, n_members: int) -> list[tuple[int, int, int]]:
    """Split a run into (first step, last step, members): all, then half of them, then a quarter.

    Examples
    --------
    >>> rounds(1000, 8)
    [(0, 150, 8), (150, 450, 4), (450, 1000, 2)]
    >>> rounds(1000, 1)
    [(0, 150, 1), (150, 450, 1), (450, 1000, 1)]
    """
    bounds = [round(share * n_steps) for share in (0.0, 0.15, 0.45, 1.0)]
    members = [n_members, -(-n_members // 2), -(-n_members // 4)]
    return [(a, b, m) for (a, b), m in zip(pairwise(bounds), members, strict=True) if b > a]


def _improve_where_lower(
    ensemble: Ensemble, improve: Improve, judged: Data, step: int, generator: torch.Generator
) -> None:
    before = ensemble.scores(judged, step)
    kept = {name: p.detach().clone() for name, p in ensemble.parameters.items()}
    improve(ensemble, judged[:-1], generator)
    worse = ensemble.scores(judged, step) >= before
    with torch.no_grad():
        for name, p in ensemble.parameters.items():
            p[worse] = kept[name][worse]


def joined(histories: Sequence[History]) -> History:
    """Return the history of one run that was trained in rounds."""
    names = histories[0].terms
    return History(
        terms={name: [value for h in histories for value in h.terms[name]] for name in names},
        n_steps=sum(h.n_steps for h in histories),
        seconds=sum(h.seconds for h in histories),
        stopped=histories[-1].stopped,
        extras={},
    )
