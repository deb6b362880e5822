"""Train restarts in rounds, keeping the ones with the lowest objective."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import torch
from torch import Tensor, nn

from unmix._group import numbers_from
from unmix._waiting import stages, waiting

from ._beside import Noise, Width
from ._ensemble import Ensemble, Separate
from ._history import History
from ._pace import Pace
from ._sources import Held, Streamed

_JUDGED, _JUDGED_IMAGES = 2000, 256  # samples on which restarts are compared
_STEP, _SEARCH = 2, 60  # time of a step in members, of a search for coordinates in steps; only for the bar

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
    data: Tensor | Data | Streamed,
    pace: Pace,
    *,
    beside: Noise | Width,
    improve: Improve | None = None,
    improve_rounds: int = 1,
) -> Trained:
    """Train members in rounds, and return the one that ends with the lowest objective.

    Half of the members leave after each of the first two rounds. Restarts are compared by the objective on
    one fixed batch: no ground truth takes part. Perceptrons of tables are trained as one batch; networks with
    buffers and those of images one after another.

    Parameters
    ----------
    members : sequence of Module
        Each maps a batch of `data` and what stands beside it to a dict of terms.
    weights : mapping of str to float or schedule
        Of the terms; 1 where none is given.
    data : tensor, tuple of tensors, or Streamed
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
    source = data if isinstance(data, Streamed) else Held(*([data] if isinstance(data, Tensor) else data))
    race = _Race(members, weights, source, pace, beside)
    plan = rounds(pace.steps(len(source)), len(members))
    searches = [improve if number < improve_rounds else None for number in range(len(plan))]
    histories = []
    with waiting(pace.progress, "fit"):
        for number, part in enumerate(_parts(plan, searches)):
            with part:
                histories.append(race.run(number, *plan[number], searches[number]))
    return Trained(race.winner(), joined(histories), tuple(race.scores))


class _Race:
    """Members under way: which of them are left, and the last objective of each."""

    def __init__(
        self,
        members: Sequence[nn.Module],
        weights: Mapping[str, Any],
        source: Held | Streamed,
        pace: Pace,
        beside: Noise | Width,
    ) -> None:
        self.source, self.pace, self.beside = source, pace, beside
        self.n_steps = pace.steps(len(source))
        few = source.head(_JUDGED)
        images = few[0].ndim > 2
        self.few = tuple(part[:_JUDGED_IMAGES] for part in few) if images else few
        self.ensemble: Any = (Separate if images or _has_buffers(members[0]) else Ensemble)(members, weights)
        self.alive, self.scores = list(range(len(members))), [math.inf] * len(members)

    def run(self, number: int, start: int, stop: int, survivors: int, improve: Improve | None) -> History:
        """Keep the best members, train them for a round, and judge them."""
        best = sorted(range(len(self.alive)), key=lambda i: self.scores[self.alive[i]])[:survivors]
        self.alive = [self.alive[i] for i in best]
        self.ensemble.keep(best)

        def batches() -> Any:
            generator = self.pace.generator(number)
            return self.beside.batches(
                self.source, start, batch_size=self.pace.batch_size, generator=generator
            )

        training, search = stages([stop - start, _search(improve)])
        with training:
            history = self.ensemble.train(batches, start, stop, self.n_steps, self.pace, f"round-{number}")
        judged = (*self.few, self.beside.at(stop, self.few[0], self.pace.generator(-1)))
        if improve is not None:
            generator = self.pace.generator(-2 - number)
            with search:
                _improve_where_lower(self.ensemble, improve, judged, self.n_steps, generator)
        found = numbers_from(0, self.ensemble.scores(judged, self.n_steps).tolist())
        for index, score in zip(self.alive, found, strict=True):
            self.scores[index] = score
        return history

    def winner(self) -> Any:
        """Return the member with the lowest objective."""
        return self.ensemble.extract(min(range(len(self.alive)), key=lambda i: self.scores[self.alive[i]]))


def _parts(plan: Sequence[tuple[int, int, int]], searches: Sequence[Improve | None]) -> list[Any]:
    """Split the time that rounds take, by about what a step of so many members costs."""
    return stages(
        [
            (stop - start + _search(improve)) * (members + _STEP)
            for (start, stop, members), improve in zip(plan, searches, strict=True)
        ]
    )


def _search(improve: Improve | None) -> int:
    return 0 if improve is None else _SEARCH


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


def _has_buffers(member: nn.Module) -> bool:
    return next(member.buffers(), None) is not None


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
    names, starts = histories[0].terms, accumulate((h.n_steps for h in histories), initial=0)
    return History(
        terms={name: [value for h in histories for value in h.terms[name]] for name in names},
        n_steps=sum(h.n_steps for h in histories),
        seconds=sum(h.seconds for h in histories),
        stopped=histories[-1].stopped,
        steps=[start + step for start, h in zip(starts, histories, strict=False) for step in h.steps],
    )
