"""Restarts trained together: stacked parameters, one `vmap`, and only the promising ones kept."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

from ._history import History
from ._minimise import minimise
from ._pace import Pace

_WARM_UP_STEPS = 100


class Ensemble:
    """Members of one architecture, trained side by side and independent of each other.

    Parameters
    ----------
    members : sequence of Module
        Of one architecture, without buffers.
    weights : mapping of str to float or schedule
        Weight of each term but the reconstruction.
    """

    def __init__(self, members: Sequence[nn.Module], weights: Mapping[str, Any]) -> None:
        if any(True for _ in members[0].buffers()):
            raise ValueError(
                "`encoder` and `decoder` must build networks without buffers, got a batch-normalised one. "
                "Restarts are trained as one batch: use norm='layer' or none."
            )
        self.member = deepcopy(members[0]).requires_grad_(False)
        stacked, _ = stack_module_state(list(members))
        self.parameters = {name: p.detach().clone().requires_grad_() for name, p in stacked.items()}
        self.weights = weights

    def __len__(self) -> int:
        return len(next(iter(self.parameters.values())))

    def terms(self, batch: tuple[Tensor, ...]) -> dict[str, Tensor]:
        """Return each term for each member, unweighted."""

        def one(parameters: dict[str, Tensor]) -> dict[str, Tensor]:
            return functional_call(self.member, parameters, batch)

        return vmap(one, randomness="same")(self.parameters)

    def each(self, f: Callable[..., Tensor], *data: Tensor) -> Tensor:
        """Return f(member, *data) for each member, stacked, without gradients."""
        bound = _Bound(self.member, f)
        parameters = {f"objective.{name}": p for name, p in self.parameters.items()}
        with torch.no_grad():
            return vmap(lambda p: functional_call(bound, p, data))(parameters)

    @torch.no_grad()
    def scores(self, batch: tuple[Tensor, ...], step: int) -> Tensor:
        """Return the objective of each member at the weights of one step; what can't be computed is inf."""
        terms = self.terms(batch)
        total = sum(value * _at(self.weights.get(name, 1.0), step) for name, value in terms.items())
        return torch.nan_to_num(total, nan=math.inf, posinf=math.inf)  # type: ignore[arg-type]

    @torch.no_grad()
    def keep(self, indices: Sequence[int]) -> None:
        """Go on with these members only."""
        chosen = list(indices)
        self.parameters = {
            name: p[chosen].detach().clone().requires_grad_() for name, p in self.parameters.items()
        }

    def extract(self, index: int) -> Any:
        """Return one member as a module of its own."""
        member = deepcopy(self.member)
        member.load_state_dict({name: p[index].detach() for name, p in self.parameters.items()})
        return member.requires_grad_(False)

    def train(
        self, batches: Iterable[Any], start: int, stop: int, total: int, pace: Pace, part: str
    ) -> History:
        """Train from step `start` to step `stop` of a run of `total` steps; terms are means over members."""

        def loss(batch: tuple[Tensor, ...]) -> dict[str, Tensor]:
            return {name: values.mean() for name, values in self.terms(batch).items()}

        return minimise(
            loss,
            self.parameters,
            batches,
            n_steps=stop - start,
            lr=pace.lr,
            schedule=lambda step: learning_rate(step, start, total),
            weights={name: _shifted(weight, start) for name, weight in self.weights.items()},
            checkpoint=pace.folder(part),
            progress=pace.progress,
            description=f"{len(self)} restart{'s' * (len(self) > 1)}",
        )


class _Bound(nn.Module):
    """A function of a member as a module, so that its parameters can be swapped under `vmap`."""

    def __init__(self, objective: nn.Module, f: Callable[..., Tensor]) -> None:
        super().__init__()
        self.objective, self.f = objective, f

    def forward(self, *data: Tensor) -> Tensor:
        return self.f(self.objective, *data)


def learning_rate(step: int, start: int, total: int) -> float:
    """Half a cosine over the whole run, with a short warm-up after every start of a fresh optimiser.

    Examples
    --------
    >>> learning_rate(0, 0, 1000), learning_rate(500, 0, 1000), round(learning_rate(999, 0, 1000), 6)
    (0.01, 0.5, 2e-06)
    """
    warm = min(1.0, (step + 1) / _WARM_UP_STEPS)
    return warm * 0.5 * (1 + math.cos(math.pi * (step + start) / total))


def _at(weight: Any, step: int) -> float:
    return float(weight(step)) if callable(weight) else float(weight)


def _shifted(weight: Any, start: int) -> Any:
    """Let a schedule go on where the round before left it."""
    return (lambda step: weight(step + start)) if callable(weight) else weight
