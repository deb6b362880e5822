"""Train restarts in rounds, keeping the ones with the lowest objective."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from unmix.training import History, Minibatches

from ._annealing import Annealed
from ._ensemble import Ensemble
from ._objective import Objective

_JUDGED = 2000  # samples on which restarts are compared


@dataclass(frozen=True)
class Schedule:
    """How long and how fast to train."""

    max_iter: int
    batch_size: int
    lr: float
    seed: int
    checkpoint: Path | None
    progress: bool | None

    def steps(self, n_samples: int) -> int:
        """Return the number of updates in `max_iter` epochs."""
        return self.max_iter * math.ceil(n_samples / min(self.batch_size, n_samples))


@dataclass(frozen=True)
class Trained:
    """The best restart, its history, and the last objective of every restart."""

    objective: Objective
    history: History
    scores: tuple[float, ...]


def train_restarts(
    members: Sequence[Objective],
    weights: Mapping[str, Any],
    x: Tensor,
    schedule: Schedule,
    improve: Callable[[Ensemble, Tensor, torch.Generator], None] | None = None,
    anneal: Callable[[int], float] | None = None,
    improve_rounds: int = 1,
    race: bool = True,
) -> Trained:
    """Train members together, in rounds, and return the one that ends with the lowest objective.

    Half of the members leave after each of the first two rounds; without a `race` all of them stay.
    A member gets fresh noise with each batch, or, with `anneal`, the value of that schedule at the step.

    `improve` may change the coordinates of the members after each of the first `improve_rounds` rounds; a
    member keeps the change only if its objective is lower for it. Restarts are compared by the objective on
    one fixed batch: no ground truth takes part.
    """
    ensemble = Ensemble(members, weights)
    n, n_steps = members[0].n_components, schedule.steps(len(x))
    judge = x[:_JUDGED]
    noise = torch.randn(len(judge), n, generator=_generator(schedule.seed, -1)).to(x)

    def beside(step: int) -> Tensor:
        return noise if anneal is None else torch.tensor(anneal(step)).to(x)

    alive, scores = list(range(len(members))), [math.inf] * len(members)
    histories = []
    plan = rounds(n_steps, len(members)) if race else [(0, n_steps, len(members))]
    for number, (start, stop, survivors) in enumerate(plan):
        best = sorted(range(len(alive)), key=lambda i: scores[alive[i]])[:survivors]
        alive = [alive[i] for i in best]
        ensemble.keep(best)
        batches = _batches(x, schedule, number, n, anneal, start)
        folder = schedule.checkpoint and schedule.checkpoint / f"round-{number}"
        histories.append(
            ensemble.train(
                batches,
                start=start,
                stop=stop,
                total=n_steps,
                lr=schedule.lr,
                checkpoint=folder,
                progress=schedule.progress,
                description=f"{len(alive)} restart{'s' * (len(alive) > 1)}",
            )
        )
        if number < improve_rounds and improve is not None:
            _improve_where_lower(
                ensemble, improve, judge, beside(stop), n_steps, _generator(schedule.seed, -2 - number)
            )
        for index, score in zip(alive, ensemble.scores(judge, beside(stop), n_steps).tolist(), strict=True):
            scores[index] = score
    winner = min(range(len(alive)), key=lambda i: scores[alive[i]])
    return Trained(ensemble.extract(winner), joined(histories), tuple(scores))


def _batches(
    x: Tensor, schedule: Schedule, number: int, n: int, anneal: Callable[[int], float] | None, start: int
) -> Minibatches | Annealed:
    settings: dict[str, Any] = {
        "batch_size": schedule.batch_size,
        "generator": _generator(schedule.seed, number),
    }
    if anneal is None:
        return Minibatches(x, **settings, noise=n)
    return Annealed(Minibatches(x, **settings), anneal, start)


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
    ensemble: Ensemble,
    improve: Callable[[Ensemble, Tensor, torch.Generator], None],
    x: Tensor,
    noise: Tensor,
    step: int,
    generator: torch.Generator,
) -> None:
    before = ensemble.scores(x, noise, step)
    kept = {name: p.detach().clone() for name, p in ensemble.parameters.items()}
    improve(ensemble, x, generator)
    worse = ensemble.scores(x, noise, step) >= before
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


def _generator(seed: int, stream: int) -> torch.Generator:
    """Return a generator on the CPU, which gives the same numbers on every device."""
    return torch.Generator().manual_seed((seed * 1009 + stream + 2) % 2**63)
