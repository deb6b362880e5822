"""Members of one architecture: trained as one batch by `vmap`, or one after another."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap

from unmix._group import Group, current, within

from ._history import History
from ._minimise import minimise
from ._pace import Pace
from ._schedules import learning_rate_factor
from ._shared_out import shared_out
from ._stopped import Stopped

_WARM_UP_STEPS = 100
_NO_WEIGHTS = ("bias", "shift", "codebook")  # last names of parameters that are no weights

Batches = Callable[[], Iterable[Any]]  # restarts them


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
        self.member = deepcopy(members[0]).requires_grad_(False)
        stacked, _ = stack_module_state(list(members))
        self.parameters = {name: p.detach().clone().requires_grad_() for name, p in stacked.items()}
        self.weights = weights

    def __len__(self) -> int:
        return len(next(iter(self.parameters.values())))

    def terms(self, batch: tuple[Tensor, ...], members: slice = slice(None)) -> dict[str, Tensor]:
        """Return each term for each member, or for some of them, unweighted."""

        def one(parameters: dict[str, Tensor]) -> dict[str, Tensor]:
            return functional_call(self.member, parameters, batch)

        whole = members == slice(None)
        chosen = self.parameters if whole else {name: p[members] for name, p in self.parameters.items()}
        return vmap(one, randomness="same")(chosen)

    def each(self, f: Callable[..., Tensor], *data: Tensor) -> Tensor:
        """Return f(member, *data) for each member, stacked, without gradients."""
        bound = _Bound(self.member, f)
        parameters = {f"objective.{name}": p for name, p in self.parameters.items()}
        with torch.no_grad():
            return vmap(lambda p: functional_call(bound, p, data))(parameters)

    @torch.no_grad()
    def scores(self, batch: tuple[Tensor, ...], step: int) -> Tensor:
        """Return the objective of each member at the weights of one step; what can't be computed is inf."""
        total = total_of(self.terms(batch), self.weights, step)
        return torch.nan_to_num(total, nan=math.inf, posinf=math.inf)

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

    def train(self, batches: Batches, start: int, stop: int, total: int, pace: Pace, part: str) -> History:
        """Train from step `start` to step `stop` of a run of `total` steps; terms are means over members."""
        group = spread_over(len(self))
        own = slice(group.rank, None, group.size) if group.spread else slice(None)

        def loss(batch: tuple[Tensor, ...]) -> dict[str, Tensor]:
            return {name: values.mean() for name, values in self.terms(batch, own).items()}

        words = f"{len(self)} restart{'s' * (len(self) > 1)}"
        settings = _settings(self.weights, start, stop, total, pace, part, words)
        settings |= on_weights(self.parameters, pace) | on_matrices(self.parameters, pace, stacked=True)
        with within(group):
            return minimise(loss, self.parameters, batches(), **settings)


def spread_over(n_members: int) -> Group:
    """Return the group, with members shared out evenly where there are enough; else it shares out rows."""
    group = current()
    return group._replace(spread=not group.alone and n_members % group.size == 0)


class Separate:
    """Members that are trained one after another, with the interface of an `Ensemble`.

    For networks with buffers (batch normalisation, running codebooks), which change as they are used, and for
    those of images, which fill a device by themselves. Each member sees the same batches. One that does not
    stay finite stops, with a warning, and the others go on.
    """

    def __init__(self, members: Sequence[nn.Module], weights: Mapping[str, Any]) -> None:
        self.members, self.weights = list(members), weights

    def __len__(self) -> int:
        return len(self.members)

    @torch.no_grad()
    def scores(self, batch: tuple[Tensor, ...], step: int) -> Tensor:
        """Return the objective of each member at the weights of one step; what can't be computed is inf."""
        totals = [total_of(member.eval()(*batch), self.weights, step) for member in self.members]
        return torch.nan_to_num(torch.stack(totals), nan=math.inf, posinf=math.inf)

    def keep(self, indices: Sequence[int]) -> None:
        """Go on with these members only."""
        self.members = [self.members[index] for index in indices]

    def extract(self, index: int) -> Any:
        """Return one member."""
        return self.members[index].requires_grad_(False)

    def train(self, batches: Batches, start: int, stop: int, total: int, pace: Pace, part: str) -> History:
        """Train from step `start` to step `stop` of a run of `total` steps; terms are means over members."""
        stopped = Stopped(len(self))

        def train(number: int) -> History:
            member, words = self.members[number], stopped.words(number)
            settings = _settings(self.weights, start, stop, total, pace, f"{part}-{number}", words)
            own = dict(member.named_parameters())
            settings |= on_weights(own, pace) | on_matrices(own, pace)
            return minimise(unpacked(member.train()), member, batches(), **settings)

        histories = shared_out(self.members, train, stopped)
        stopped.tell()
        return _averaged(list(histories.values()))


def unpacked(member: nn.Module) -> Callable[[tuple[Tensor, ...]], dict[str, Tensor]]:
    return lambda batch: member(*batch)


def _settings(
    weights: Mapping[str, Any], start: int, stop: int, total: int, pace: Pace, part: str, words: str
) -> dict[str, Any]:
    """Return the settings of the steps from `start` to `stop` of a run of `total` steps."""
    return {
        "n_steps": stop - start,
        "lr": pace.lr,
        "schedule": rate_of(pace, start, total),
        "precision": pace.precision,
        "weights": {name: _shifted(weight, start) for name, weight in weights.items()},
        "checkpoint": pace.folder(part),
        "progress": pace.progress,
        "description": words,
    }


def rate_of(pace: Pace, start: int, total: int) -> Callable[[int], float]:
    """Return the factor of the learning rate at each step after `start`, in a run of `total` steps."""
    if pace.schedule is None:
        return lambda step: learning_rate(step, start, total)
    whole = learning_rate_factor(pace.schedule, total)
    return lambda step: whole(step + start)


def on_weights(names: Iterable[str], pace: Pace) -> dict[str, Any]:
    """Return what acts on weights alone, for the parameters among these names that are weights.

    Examples
    --------
    >>> on_weights(["0.weight", "0.bias"], Pace(1, 1, 1.0, 0, weight_decay=0.1))
    {'weight_decay': {'0.weight': 0.1}}
    """
    weights = [name for name in names if name.rpartition(".")[2] not in _NO_WEIGHTS]
    asked = {"weight_decay": pace.weight_decay, "clip_value": pace.clip_value}
    return {what: dict.fromkeys(weights, value) for what, value in asked.items() if value}


def on_matrices(tensors: Mapping[str, Tensor], pace: Pace, *, stacked: bool = False) -> dict[str, Any]:
    """Return the learning rates of weights that are matrices or kernels, each stacked over members or not.

    Examples
    --------
    >>> stacked = {"0.weight": torch.ones(8, 3, 2), "1.weight": torch.ones(8, 1, 3)}
    >>> on_matrices(stacked, Pace(1, 1, 1.0, 0, matrix_lr=0.02), stacked=True)
    {'matrix_lr': {'0.weight': 0.02}}
    >>> on_matrices(stacked, Pace(1, 1, 1.0, 0), stacked=True)
    {}
    """
    if pace.matrix_lr is None:
        return {}
    weights = {name: tensor for name, tensor in tensors.items() if name.rpartition(".")[2] == "weight"}
    own = {name: tensor.shape[1:] if stacked else tensor.shape for name, tensor in weights.items()}
    names = [
        name for name, shape in own.items() if len(shape) in (2, 4) and min(shape[0], shape[1:].numel()) > 1
    ]
    return {"matrix_lr": dict.fromkeys(names, pace.matrix_lr)} if names else {}


def _averaged(histories: Sequence[History]) -> History:
    """Return the mean history of members that were trained alike."""
    terms = {
        name: [sum(row) / len(row) for row in zip(*(h.terms[name] for h in histories), strict=True)]
        for name in histories[0].terms
    }
    seconds = sum(history.seconds for history in histories)
    return replace(histories[0], terms=terms, seconds=seconds)


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


def total_of(terms: Mapping[str, Tensor], weights: Mapping[str, Any], step: int) -> Tensor:
    return sum(value * _at(weights.get(name, 1.0), step) for name, value in terms.items())  # type: ignore[return-value]


def _at(weight: Any, step: int) -> float:
    return float(weight(step)) if callable(weight) else float(weight)


def _shifted(weight: Any, start: int) -> Any:
    """Let a schedule go on where the round before left it."""
    return (lambda step: weight(step + start)) if callable(weight) else weight
