"""What a run is asked to do, as two values: a player, and the run that all players share."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, TypedDict, cast

import torch
from torch import Tensor, nn

from ._average import Average
from ._schedules import Schedule

Loss = Callable[[Any], dict[str, Tensor]]
OnStep = Callable[[int, dict[str, Tensor]], bool | None]
Auto = bool | Literal["auto"]


@dataclass(frozen=True, kw_only=True)
class Player:
    """One who moves in a run: a loss, the parameters that lower it, and how.

    Steps are counted from 0, in the schedules, in the history and in error messages.

    Parameters
    ----------
    loss : callable
        ``loss(batch)`` returns a dict of scalar tensors, the same names at each step; the objective is
        their sum.
    parameters : nn.Module or dict of str to Tensor
        Leaf tensors that require a gradient are trained. Other tensors in the dict, and the buffers of a
        module, are carried in the checkpoint.
    name : str
        Comes before the names of terms and parameters, as in "critic/fit"; needed where several play.
    lr : float, default=1e-3
        Learning rate, multiplied by the schedule.
    schedule : {"constant", "cosine", "one_cycle"} or callable, default="constant"
        Factor of the learning rate at each step.
    weights : dict of str to float or callable, optional
        Multiplies the named terms, for instance ``{"penalty": warm_up(0.1, 500)}``.
    clip_norm : float, optional
        Largest norm of the whole gradient.
    clip_value : float or dict of str to float, optional
        Largest size of an entry of the gradient; a dict names the tensors whose gradients are clipped.
    betas, weight_decay
        As in AdamW: decay rates of the moments, decoupled weight decay; a dict names the tensors that decay.
    matrix_lr : dict of str to float, optional
        Names tensors that are matrices, stacks of them or kernels of convolutions, and their learning rates:
        their steps are orthogonal, as in Muon. Weight decay counts in their rates.
    ema : float or Average, optional
        Decay of an exponential average of parameters and buffers. The caller is left with the averaged
        ones; the raw ones stay in the checkpoint. An `Average` can be looked at during the run.
    precision : {None, "bf16", "fp16"}
        Mixed precision of the loss; "fp16" scales the gradients and needs CUDA.
    every : int, default=1
        Move only at the steps that it divides.
    maximise : bool, default=False
        Raise the objective instead.
    project : callable, optional
        ``project()`` is called after each move, without gradients, to bring parameters back to where they
        may be.

    References
    ----------
    Kingma and Ba (2015), Adam, Algorithm 1, arXiv:1412.6980; Loshchilov and Hutter (2019), Decoupled
    weight decay regularization, Algorithm 2, arXiv:1711.05101; Jordan et al. (2024), Muon.
    """

    loss: Loss
    parameters: nn.Module | Mapping[str, Tensor]
    name: str = ""
    lr: float = 1e-3
    schedule: str | Schedule = "constant"
    weights: Mapping[str, float | Schedule] | None = None
    clip_norm: float | None = None
    clip_value: float | Mapping[str, float] | None = None
    betas: tuple[float, float] = (0.9, 0.999)
    weight_decay: float | Mapping[str, float] = 0.0
    matrix_lr: Mapping[str, float] | None = None
    ema: float | Average | None = None
    precision: str | None = None
    every: int = 1
    maximise: bool = False
    project: Callable[[], Any] | None = None

    def __post_init__(self) -> None:
        require_positive(every=self.every)


@dataclass(frozen=True, kw_only=True)
class Run:
    """How long a run is, what it watches and keeps, and how its steps are computed.

    Parameters
    ----------
    n_steps : int
        Number of updates.
    patience : int, optional
        Number of steps without a new minimum of the monitored value after which the run stops; a new
        minimum is lower by a ten-thousandth at least. It is checked every 50 steps. A weight that grows
        makes the objective grow: combine the two with care.
    monitor : callable, optional
        ``monitor()`` returns the value to watch; by default the mean objective of the last 50 steps.
    checkpoint : path-like, optional
        Folder for the checkpoint. If it holds one of the same run, the run goes on from there and ends
        with the same bits as one never interrupted; a finished run returns at once.
    checkpoint_every : int, default=500
        Steps between checkpoints.
    checkpoint_seconds : float, optional
        Seconds after which one is written as well.
    generators : sequence of torch.Generator
        Generators that the losses draw from, saved in the checkpoint.
    progress : bool, optional
        Show a progress bar; by default only in a terminal.
    on_step : callable, optional
        ``on_step(step, terms)`` after each update, with copies of the terms on their device; True ends the
        run.
    description : str
        Shown beside the bar; part of what identifies the run in its checkpoint.
    max_rows : int, default=10000
        Most rows of the history: a longer run keeps every second, fourth, ... step, and the last one.
    graph : bool or "auto", default="auto"
        Record a step as a CUDA graph and replay it. By default where that pays: on CUDA, from 200 steps on,
        if a step waits for no result and draws no random number on the host. What a loss computes on the
        host (a counter, say) is then computed once for all steps: such a loss needs False.
    compile : bool or "auto", default="auto"
        Compile the losses by `torch.compile`, which takes half a minute: by default only on CUDA, from 5,000
        steps and a million parameters on.
    """

    n_steps: int
    patience: int | None = None
    monitor: Callable[[], float] | None = None
    checkpoint: str | os.PathLike[str] | None = None
    checkpoint_every: int = 500
    checkpoint_seconds: float | None = None
    generators: Sequence[torch.Generator] = ()
    progress: bool | None = None
    on_step: OnStep | None = None
    description: str = ""
    max_rows: int = 10_000
    graph: Auto = "auto"
    compile: Auto = "auto"

    def __post_init__(self) -> None:
        require_positive(n_steps=self.n_steps, checkpoint_every=self.checkpoint_every, max_rows=self.max_rows)
        for name in ("graph", "compile"):
            value = getattr(self, name)
            if value not in ("auto", True, False):
                raise ValueError(f"`{name}` must be 'auto', True or False, got {value!r}. Use 'auto'.")


class Settings(TypedDict, total=False):
    """The settings of a player and of a run by name, as `minimise` takes them."""

    lr: float
    schedule: str | Schedule
    weights: Mapping[str, float | Schedule] | None
    clip_norm: float | None
    clip_value: float | Mapping[str, float] | None
    betas: tuple[float, float]
    weight_decay: float | Mapping[str, float]
    matrix_lr: Mapping[str, float] | None
    ema: float | Average | None
    precision: str | None
    every: int
    maximise: bool
    project: Callable[[], Any] | None
    n_steps: int
    patience: int | None
    monitor: Callable[[], float] | None
    checkpoint: str | os.PathLike[str] | None
    checkpoint_every: int
    checkpoint_seconds: float | None
    generators: Sequence[torch.Generator]
    progress: bool | None
    on_step: OnStep | None
    description: str
    max_rows: int
    graph: Auto
    compile: Auto


def sorted_settings(settings: Settings, without: Sequence[str] = ()) -> tuple[dict[str, Any], Run]:
    """Return a player's settings and the run, out of settings by name."""
    known = [name for name in Settings.__annotations__ if name not in without]
    unknown = sorted(set(settings) - set(known))
    if unknown:
        raise TypeError(f"settings must be among {known}, got {unknown}. Check the spelling.")
    of_run = {field.name for field in fields(Run)}
    given = cast(dict[str, Any], settings)
    run = Run(**{name: value for name, value in given.items() if name in of_run})
    return {name: value for name, value in given.items() if name not in of_run}, run


def require_positive(**counts: int) -> None:
    """Raise unless every count is at least 1."""
    for name, count in counts.items():
        if count < 1:
            raise ValueError(f"`{name}` must be at least 1, got {count}. Ask for a whole number of steps.")
