"""The one training loop."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import reduce
from operator import add
from typing import Any

import torch
from torch import Tensor, nn

from ._adam import Adam
from ._history import History, Row, as_row
from ._loop import OnStep, Update, loop
from ._parts import Average, Named, RandomState
from ._schedules import Schedule, as_schedule, learning_rate_factor, sampled

Loss = Callable[[Any], dict[str, Tensor]]
_DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


def minimise(
    loss: Loss,
    parameters: nn.Module | Mapping[str, Tensor],
    batches: Iterable[Any],
    *,
    n_steps: int,
    lr: float = 1e-3,
    schedule: str | Schedule = "constant",
    weights: Mapping[str, float | Schedule] | None = None,
    clip_norm: float | None = None,
    betas: tuple[float, float] = (0.9, 0.999),
    weight_decay: float = 0.0,
    patience: int | None = None,
    monitor: Callable[[], float] | None = None,
    ema: float | None = None,
    precision: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: int = 500,
    generators: Sequence[torch.Generator] = (),
    progress: bool | None = None,
    on_step: OnStep | None = None,
    description: str = "",
) -> History:
    """Minimise the sum of the terms that `loss` returns, by Adam, changing `parameters` in place.

    Steps are counted from 0, in the schedules, in the history and in error messages.

    Parameters
    ----------
    loss : callable
        ``loss(batch)`` returns a dict of scalar tensors, the same names at each step; the objective is
        their sum.
    parameters : nn.Module or dict of str to Tensor
        Leaf tensors that require a gradient are trained. Other tensors in the dict, and the buffers of a
        module, are carried in the checkpoint.
    batches : iterable
        Started over when it ends. With `state_dict` and `load_state_dict` (as `Minibatches` has) it is
        resumed by them; otherwise it is fast-forwarded, and must then give the same batches again.
    n_steps : int
        Number of updates.
    lr : float, default=1e-3
        Learning rate, multiplied by the schedule.
    schedule : {"constant", "cosine", "one_cycle"} or callable, default="constant"
        Factor of the learning rate at each step.
    weights : dict of str to float or callable, optional
        Multiplies the named terms, for instance ``{"penalty": warm_up(0.1, 500)}``.
    clip_norm : float, optional
        Largest norm of the whole gradient.
    betas, weight_decay
        As in AdamW: decay rates of the moments, decoupled weight decay.
    patience : int, optional
        Stop after so many steps without a new minimum of the monitored value, lower than the last by a
        ten-thousandth at least. It is looked at every 50 steps. A weight that grows makes the objective
        grow: combine the two with care.
    monitor : callable, optional
        ``monitor()`` returns the value to watch; by default the mean objective of the last 50 steps.
    ema : float, optional
        Decay of an exponential average of the parameters. The caller is left with the averaged ones; the
        raw ones stay in the checkpoint.
    precision : {None, "bf16", "fp16"}
        Mixed precision of the loss; "fp16" scales the gradients and needs CUDA.
    checkpoint : path-like, optional
        Folder for the checkpoint. If it holds one of the same run, the run goes on from there and ends
        with the same bits as one never interrupted; a finished run returns at once.
    checkpoint_every : int, default=500
        Steps between checkpoints.
    generators : sequence of torch.Generator
        Generators that the loss draws from, saved in the checkpoint.
    progress : bool, optional
        Show a progress bar; by default only in a terminal.
    on_step : callable, optional
        ``on_step(step, terms)`` after each update, with copies of the terms on their device; True ends the
        run.
    description : str
        Shown beside the bar; part of what identifies the run in its checkpoint.

    Returns
    -------
    History
        Every term at every step, as it entered the objective.

    Raises
    ------
    FloatingPointError
        If a term or a parameter is no longer finite; names it and the step.

    Examples
    --------
    >>> w = torch.tensor([3.0], requires_grad=True)
    >>> history = minimise(lambda batch: {"fit": ((w - batch) ** 2).sum()}, {"w": w}, [torch.ones(1)],
    ...                    n_steps=200, lr=0.1, schedule="cosine")
    >>> round(w.item(), 3), history.n_steps, history.stopped
    (1.0, 200, 'finished')

    References
    ----------
    Kingma and Ba (2015), Adam, Algorithm 1, arXiv:1412.6980; Loshchilov and Hutter (2019), Decoupled
    weight decay regularization, Algorithm 2, arXiv:1711.05101.
    """
    model = Named(parameters)
    adam = Adam(model.trained, lr=lr, betas=betas, weight_decay=weight_decay)
    rate = learning_rate_factor(schedule, n_steps)
    scales = {name: as_schedule(weight) for name, weight in (weights or {}).items()}
    scaler = _scaler(precision, model.device)
    average = None if ema is None else Average(model.trained, ema)
    update = _descent(
        loss, adam, rate, scales, clip_norm, _autocast(precision, model.device), scaler, average
    )
    random = RandomState(generators, model.device)
    parts = {"adam": adam, "random": random, "scaler": scaler}
    config = {
        "parameters": model.fingerprint(),
        "device": model.device.type,
        "generators": random.fingerprint(),
        "schedule": sampled(rate, n_steps),
        "weights": {name: sampled(scale, n_steps) for name, scale in scales.items()},
        "lr": lr,
        "clip_norm": clip_norm,
        "betas": list(betas),
        "weight_decay": weight_decay,
        "ema": ema,
        "precision": precision,
    }
    history = loop(
        update,
        model,
        parts | ({} if average is None else {"average": average}),
        batches,
        n_steps=n_steps,
        config=config,
        patience=patience,
        monitor=monitor,
        checkpoint=checkpoint,
        checkpoint_every=checkpoint_every,
        on_step=on_step,
        progress=progress,
        description=description,
    )
    if average is not None:
        average.apply()
    return history


def _descent(
    loss: Loss,
    adam: Adam,
    rate: Schedule,
    scales: dict[str, Schedule],
    clip_norm: float | None,
    autocast: AbstractContextManager[Any],
    scaler: torch.amp.GradScaler,
    average: Average | None,
) -> Update:
    """Return the update of one step: terms, gradient, clipping, Adam, average."""
    trained = list(adam.tensors.values())

    def update(batch: Any, step: int) -> Row:
        adam.set_rate(rate(step))
        adam.zero_grad()
        with autocast:
            terms = dict(checked_terms(loss(batch), scales) if step == 0 else loss(batch))
            for name, scale in scales.items():
                terms[name] = terms[name] * scale(step)
        row = as_row(terms)
        scaler.scale(reduce(add, terms.values())).backward()
        if clip_norm is not None:
            scaler.unscale_(adam)  # type: ignore[arg-type]  # it reads `param_groups` only
            nn.utils.clip_grad_norm_(trained, clip_norm)
        scaler.step(adam)  # type: ignore[arg-type]
        scaler.update()
        if average is not None:
            average.update()
        return row

    return update


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


def _scaler(precision: str | None, device: torch.device) -> torch.amp.GradScaler:
    """Return the gradient scaler of half precision; switched off it passes everything through."""
    return torch.amp.GradScaler(device.type, enabled=precision == "fp16")
