"""Minimise an objective under bounds, by extra-gradient steps on the Lagrangian."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ._adam import Adam
from ._history import History, Row, as_row
from ._loop import OnStep, Update, loop
from ._minimise import checked_terms
from ._parts import Named, RandomState
from ._schedules import Schedule, learning_rate_factor, sampled

Gradient = Callable[[Any], Row]


def minimise_constrained(
    objective: Callable[[Any], Tensor | dict[str, Tensor]],
    constraint: Callable[[Any], Tensor] | str,
    parameters: nn.Module | Mapping[str, Tensor],
    batches: Iterable[Any],
    *,
    epsilon: float | Sequence[float],
    n_steps: int,
    lr: float = 1e-3,
    dual_lr: float | None = None,
    schedule: str | Schedule = "constant",
    clip_norm: float | None = None,
    betas: tuple[float, float] = (0.9, 0.999),
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: int = 500,
    generators: Sequence[torch.Generator] = (),
    progress: bool | None = None,
    on_step: OnStep | None = None,
    description: str = "",
) -> History:
    r"""Minimise f subject to g <= epsilon, changing `parameters` in place.

    Seeks the saddle point of the Lagrangian

    .. math:: \min_\theta \max_{\lambda \ge 0} \; f(\theta) + \lambda^\top (g(\theta) - \varepsilon)

    by extra-gradient steps: look ahead with the gradient found here, then step from here with the gradient
    found there. Plain simultaneous steps circle around a saddle point; these approach it. Both half-steps
    have the form of Adam, share its moments and see the same batch; the multipliers start at 0 and are
    projected to be non-negative after each half-step.

    Parameters
    ----------
    objective : callable
        ``objective(batch)`` returns f as a scalar tensor, or as a dict of scalar terms with sum f.
    constraint : callable or str
        ``constraint(batch)`` returns g, a scalar or a vector of one value per bound. A name takes that term
        out of the objective's dict, so that f and g can share one pass through a network.
    parameters, batches
        As in `minimise`.
    epsilon : float or sequence of float
        The bound of a scalar g, or the bounds of a vector.
    n_steps : int
        Number of extra-gradient steps, each of two gradients.
    lr : float, default=1e-3
        Learning rate of the parameters.
    dual_lr : float, optional
        Learning rate of the multipliers, by default ``lr / 2``.
    schedule : {"constant", "cosine", "one_cycle"} or callable, default="constant"
        Factor of both rates at each step.
    betas : tuple of float, default=(0.9, 0.999)
        As in `minimise`. Momentum makes the game circle where f and g are both linear; there use (0.0, 0.99).
    clip_norm, checkpoint, checkpoint_every, generators, progress, on_step, description
        As in `minimise`.

    Returns
    -------
    History
        The terms of f at each step; in `extras`, "constraint" (g) and "multiplier", numbered where
        there are several.

    Examples
    --------
    The point of the line x = 1 nearest to the origin; f = x^2 + y^2, g = -x <= -1, multiplier 2.

    >>> p = torch.zeros(2, requires_grad=True)
    >>> history = minimise_constrained(lambda _: (p**2).sum(), lambda _: -p[0], {"p": p}, [None],
    ...                                epsilon=-1.0, n_steps=1000, lr=0.05, dual_lr=0.05, schedule="cosine")
    >>> [round(value, 2) + 0 for value in p.tolist()], round(history.extras["multiplier"][-1], 2)
    ([1.0, 0.0], 2.0)

    References
    ----------
    Korpelevich (1976), The extragradient method; Gidel et al. (2019), A variational inequality perspective on
    generative adversarial networks, Algorithm 4 (extra-Adam), arXiv:1802.10551; used for sparsity constraints
    by Xu, Lachapelle and Magliacane (2026), Eq. (6), arXiv:2604.13218.
    """
    model, rate = Named(parameters), learning_rate_factor(schedule, n_steps)
    bounds = torch.as_tensor(epsilon, dtype=_dtype(model), device=model.device)
    if bounds.ndim > 1 or bounds.numel() == 0 or not bounds.isfinite().all():
        raise ValueError(
            f"`epsilon` must be a finite number or a sequence of them, got {epsilon!r}. Use 0.01."
        )
    multiplier = torch.zeros_like(bounds, requires_grad=True)
    dual_rate = lr / 2 if dual_lr is None else dual_lr
    primal = Adam(model.trained, lr=lr, betas=betas)
    dual = Adam({"multiplier": multiplier}, lr=dual_rate, betas=betas, maximize=True)
    random = RandomState(generators, model.device)
    gradient = _lagrangian_gradient(objective, constraint, bounds, primal, multiplier, clip_norm)
    config = {
        "parameters": model.fingerprint(),
        "device": model.device.type,
        "generators": random.fingerprint(),
        "schedule": sampled(rate, n_steps),
        "epsilon": bounds.tolist(),
        "lr": lr,
        "dual_lr": dual_rate,
        "clip_norm": clip_norm,
        "betas": list(betas),
    }
    return loop(
        _extra_gradient(gradient, primal, dual, multiplier, rate),
        model,
        {"primal": primal, "dual": dual, "multiplier": Named({"multiplier": multiplier}), "random": random},
        batches,
        n_steps=n_steps,
        config=config,
        extras=tuple(name for kind in ("constraint", "multiplier") for name in _numbered(kind, bounds)),
        checkpoint=checkpoint,
        checkpoint_every=checkpoint_every,
        on_step=on_step,
        progress=progress,
        description=description,
    )


def _extra_gradient(
    gradient: Gradient, primal: Adam, dual: Adam, multiplier: Tensor, rate: Schedule
) -> Update:
    """Return the update of one step: look ahead, come back, move with the gradient seen ahead."""
    tensors = [*primal.tensors.values(), multiplier]

    def move() -> None:
        primal.step()
        dual.step()
        with torch.no_grad():
            multiplier.clamp_(min=0.0)

    def update(batch: Any, step: int) -> Row:
        primal.set_rate(rate(step))
        dual.set_rate(rate(step))
        here = [tensor.detach().clone() for tensor in tensors]
        row = gradient(batch)
        move()
        gradient(batch)
        with torch.no_grad():
            torch._foreach_copy_(tensors, here)
        move()
        return row

    return update


def _lagrangian_gradient(
    objective: Callable[[Any], Tensor | dict[str, Tensor]],
    constraint: Callable[[Any], Tensor] | str,
    bounds: Tensor,
    primal: Adam,
    multiplier: Tensor,
    clip_norm: float | None,
) -> Gradient:
    """Return a function that leaves the Lagrangian's gradient in the tensors and records what it saw."""
    trained = list(primal.tensors.values())

    def gradient(batch: Any) -> Row:
        primal.zero_grad()
        multiplier.grad = None
        value = objective(batch)
        terms = checked_terms(dict(value) if isinstance(value, dict) else {"objective": value})
        g = _taken(terms, constraint) if isinstance(constraint, str) else constraint(batch)
        _require_one_value_per_bound(g, bounds)
        (reduce(add, terms.values()) + (multiplier * (g - bounds)).sum()).backward()
        if clip_norm is not None:
            nn.utils.clip_grad_norm_(trained, clip_norm)
        return as_row(terms | _numbered("constraint", g) | _numbered("multiplier", multiplier))

    return gradient


def _taken(terms: dict[str, Tensor], name: str) -> Tensor:
    """Take the constraint out of the objective's terms."""
    if name not in terms or len(terms) == 1:
        raise ValueError(
            f"`constraint` must name one of several terms of the objective, got {name!r} among "
            f"{sorted(terms)}. Return both from `objective`, or pass a callable."
        )
    return terms.pop(name)


def _require_one_value_per_bound(g: Any, bounds: Tensor) -> None:
    got = tuple(g.shape) if isinstance(g, Tensor) else type(g).__name__
    if got != tuple(bounds.shape):
        raise ValueError(
            f"`constraint` must return one value per bound, shape {tuple(bounds.shape)}, got {got}. "
            "Reduce it, or give `epsilon` as a sequence of bounds."
        )


def _numbered(kind: str, values: Float[Tensor, "*k"]) -> dict[str, Tensor]:
    """Name a scalar by its kind, the entries of a vector by kind and number."""
    if values.ndim == 0:
        return {kind: values.detach()}
    return {f"{kind} {i}": value for i, value in enumerate(values.detach())}


def _dtype(model: Named) -> torch.dtype:
    return next(iter(model.trained.values())).dtype
