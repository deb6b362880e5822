"""A player in play: gradient, optimiser and average of one set of parameters."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from .._group import current, mean_over
from ._adam import Adam, Dial
from ._average import Average
from ._kernels import copy_
from ._muon import Muon, SideBySide
from ._parts import Named
from ._schedules import as_schedule, learning_rate_factor, sampled
from ._settings import Player

_DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


class Outcome(NamedTuple):
    """What a loss gave: its terms, what is only recorded beside them, and the value to descend."""

    terms: dict[str, Tensor]
    extras: dict[str, Tensor]
    objective: Tensor


class Mover:
    """The moving parts of a player. What only the host can do is done by `prepare`, the rest by `descend`.

    Parameters
    ----------
    player : Player
    n_steps : int
        Length of the run.
    loss : callable
        The player's loss, or a compiled one.
    alone : bool
        Whether no other player's parameters can appear in the loss.
    static : bool
        Whether steps are to be recorded: then the numbers that change between steps live in tensors.
    """

    def __init__(self, player: Player, n_steps: int, loss: Callable[[Any], Any], alone: bool, static: bool):
        self.player, self.loss, self.model = player, loss, Named(player.parameters)
        self.prefix = f"{player.name}/" if player.name else ""
        self.trained = list(self.model.trained.values())
        self.names: tuple[str, ...] = ()
        self.extras: tuple[str, ...] = ()
        self.values: Tensor | None = None
        device = self.model.device
        self.optimiser = _optimiser(player, self.model.trained, static)
        self._rate = learning_rate_factor(player.schedule, n_steps)
        self._weights = {name: as_schedule(weight) for name, weight in (player.weights or {}).items()}
        self._scales = {name: Dial(1.0, device if static else None) for name in self._weights}
        self._autocast = _autocast(player.precision, device)
        self.scaler = torch.amp.GradScaler(device.type) if player.precision == "fp16" else None
        ema = player.ema
        self.average = ema if ema is None or isinstance(ema, Average) else Average(ema)
        if self.average is not None:
            self.average.start(self.model, static)
        self._inputs = None if alone else self.trained
        self._clipped = _by_value(player.clip_value, self.model.trained)

    def config(self, n_steps: int) -> dict[str, Any]:
        """Say what identifies the player in a checkpoint."""
        player, average = self.player, self.average
        found: dict[str, Any] = {
            "parameters": self.model.fingerprint(),
            "device": self.model.device.type,
            "schedule": sampled(self._rate, n_steps),
            "weights": {name: sampled(weight, n_steps) for name, weight in self._weights.items()},
            "ema": None if average is None else average.decay,
            "betas": list(player.betas),
        }
        plain = ("lr", "clip_norm", "weight_decay", "precision", "every", "maximise")
        found |= {name: getattr(player, name) for name in plain}
        for name in ("clip_value", "matrix_lr"):  # not known to older checkpoints
            if getattr(player, name) is not None:
                found[name] = getattr(player, name)
        return {self.prefix + name: value for name, value in found.items()}

    def prepare(self, step: int) -> None:
        """Set the numbers of the coming step."""
        self.optimiser.set_rate(self._rate(step))
        for name, scale in self._scales.items():
            scale.set(self._weights[name](step))
        if self.average is not None:
            self.average.prepare()

    def descend(self, batch: Any) -> None:
        """Take one step."""
        self.optimiser.zero_grad()
        self.backward(self.seen(batch))
        self.agree()
        self.move()
        self.take_average()

    def seen(self, batch: Any) -> Tensor:
        """Compute the loss, record its terms and return the objective."""
        objective, terms = self.value(batch)
        # a copy: a term may be a view of a parameter, which the update changes
        self.values = torch.stack([term.detach() for term in terms])
        return objective

    def value(self, batch: Any) -> tuple[Tensor, Iterable[Tensor]]:
        """Return the objective, and the terms and extras that are recorded."""
        with self._autocast:
            found = self.loss(batch)
            if isinstance(found, Outcome):
                self._name(found.terms, found.extras)
                return found.objective, (*found.terms.values(), *found.extras.values())
            terms = dict(found if self.names else checked_terms(found, self._scales))
            for name, scale in self._scales.items():
                terms[name] = scale.times(terms[name])
        self._name(terms)
        return reduce(add, terms.values()), terms.values()

    def backward(self, objective: Tensor) -> None:
        """Leave the gradient of an objective in this player's tensors, and in no other player's."""
        objective = weighed(objective)
        (objective if self.scaler is None else self.scaler.scale(objective)).backward(inputs=self._inputs)

    def agree(self, *, terms: bool = True) -> None:
        """Let gradients, and the terms that are recorded, be the means over processes that train together."""
        group = current()
        if group.alone:
            return
        found = [tensor.grad for tensor in self.trained if tensor.grad is not None]
        values = [self.values.mul_(group.share)] if terms and self.values is not None else []
        mean_over([*found, *values], group)

    def move(self) -> None:
        """Move along the gradient: clipping, a step, projection."""
        player, scaler = self.player, self.scaler
        clips = player.clip_norm is not None or player.clip_value is not None
        if clips and scaler is not None:
            scaler.unscale_(self.optimiser)  # type: ignore[arg-type]  # it reads `param_groups` only
        for value, tensors in self._clipped.items():
            nn.utils.clip_grad_value_(tensors, value)
        if player.clip_norm is not None:
            nn.utils.clip_grad_norm_(self.trained, player.clip_norm)
        if scaler is None:
            self.optimiser.step()
        else:
            scaler.step(self.optimiser)  # type: ignore[arg-type]
            scaler.update()
        if player.project is not None:
            with torch.no_grad():
                player.project()

    def take_average(self) -> None:
        """Let the average take in where the move led."""
        if self.average is not None:
            self.average.update()

    def state_dict(self) -> dict[str, Any]:
        """Return tensors, moments, average and the terms of the last move, which later rows repeat."""
        return {
            "model": self.model.state_dict(),
            "adam": self.optimiser.state_dict(),
            "scaler": None if self.scaler is None else self.scaler.state_dict(),
            "average": None if self.average is None else self.average.state_dict(),
            "terms": {"names": list(self.names), "extras": list(self.extras), "values": self.values},
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore what `state_dict` returned, every tensor in its place."""
        for part, name in ((self.model, "model"), (self.optimiser, "adam"), (self.scaler, "scaler")):
            if part is not None:
                part.load_state_dict(state[name])
        if self.average is not None:
            self.average.load_state_dict(state["average"])
        terms = state["terms"]
        self.names, self.extras = tuple(terms["names"]), tuple(terms["extras"])
        self.values = None if terms["values"] is None else terms["values"].to(self.model.device)

    def _name(self, terms: dict[str, Tensor], extras: dict[str, Tensor] | None = None) -> None:
        names = (*terms, *(extras or ()))
        if names == self.names:
            return
        if self.names:
            raise ValueError(
                f"`loss` must return the same terms at every step, got {names} after {self.names}. "
                "Return a zero tensor for a term that is switched off."
            )
        self.names, self.extras = names, tuple(extras or ())


def _optimiser(player: Player, tensors: Mapping[str, Tensor], static: bool) -> Adam | Muon | SideBySide:
    """Return Adam, beside Muon for the matrices that have a rate of their own."""
    rates, decay = player.matrix_lr or {}, player.weight_decay
    shared: dict[str, Any] = {"maximize": player.maximise, "static": static}
    matrices = {name: tensor for name, tensor in tensors.items() if name in rates}
    others = {name: tensor for name, tensor in tensors.items() if name not in rates}
    muon = (
        Muon(matrices, rates=rates, weight_decay=decay, precision=player.precision, **shared)
        if matrices
        else None
    )
    if muon is not None and not others:
        return muon
    adam = Adam(others, lr=player.lr, betas=player.betas, weight_decay=decay, **shared)
    return adam if muon is None else SideBySide([adam, muon])


def extra_gradient(movers: Sequence[Mover], batch: Any) -> None:
    """Take one extra-gradient step: look ahead, come back, move with the gradient seen ahead.

    All players share the loss of the first, which some lower and others raise.
    """
    tensors = [tensor for mover in movers for tensor in mover.trained]
    here = [tensor.detach().clone() for tensor in tensors]
    _half_step(movers, lambda: movers[0].seen(batch))
    _half_step(movers, lambda: movers[0].value(batch)[0], tensors, here)
    for mover in movers:
        mover.take_average()


def _half_step(
    movers: Sequence[Mover],
    objective: Callable[[], Tensor],
    tensors: list[Tensor] | None = None,
    here: list[Tensor] | None = None,
) -> None:
    """Move all players along the gradient of one objective, after bringing `tensors` back to `here`."""
    for mover in movers:
        mover.optimiser.zero_grad()
    weighed(objective()).backward()
    for number, mover in enumerate(movers):
        mover.agree(terms=number == 0 and tensors is None)
    if tensors and here:
        with torch.no_grad():
            copy_(tensors, here)
    for mover in movers:
        mover.move()


def weighed(objective: Tensor) -> Tensor:
    """Let an objective count for the rows it was computed on, where processes have parts of a batch."""
    share = current().share
    return objective if share == 1 else objective * share


def _by_value(
    clip: float | Mapping[str, float] | None, tensors: Mapping[str, Tensor]
) -> dict[float, list[Tensor]]:
    """Return the tensors whose gradients are clipped entry by entry, by the largest size of an entry."""
    if not isinstance(clip, Mapping):
        return {} if clip is None else {clip: list(tensors.values())}
    found: dict[float, list[Tensor]] = {}
    for name, value in clip.items():
        found.setdefault(value, []).append(tensors[name])
    return found


def checked_terms(terms: Any, weighted: Iterable[str] = ()) -> dict[str, Tensor]:
    """Return the terms of a loss if they are a dict of scalars that names all weighted ones."""
    if not isinstance(terms, dict) or not terms:
        raise TypeError(
            f"`loss` must return a dict of terms, got {type(terms).__name__}. Return {{'loss': ...}}."
        )
    for name, term in terms.items():
        if not isinstance(term, Tensor) or term.ndim != 0:
            got = f"shape {tuple(term.shape)}" if isinstance(term, Tensor) else type(term).__name__
            raise TypeError(
                f"`loss` must return scalar tensors, got {got} for {name!r}. Take a mean or a sum."
            )
    unknown = sorted(set(weighted) - set(terms))
    if unknown:
        raise ValueError(
            f"`weights` must name terms among {sorted(terms)}, got {unknown}. Check the spelling."
        )
    return terms


def _autocast(precision: str | None, device: torch.device) -> AbstractContextManager[Any]:
    if precision is None:
        return nullcontext()
    if precision not in _DTYPES:
        raise ValueError(f"`precision` must be None, 'bf16' or 'fp16', got {precision!r}. Use None.")
    if precision == "fp16" and device.type != "cuda":
        raise ValueError(f"`precision` must be None or 'bf16' on {device.type}, got 'fp16'. Train on CUDA.")
    return torch.autocast(device.type, dtype=_DTYPES[precision])
