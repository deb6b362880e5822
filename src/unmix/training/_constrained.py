"""Minimise an objective under bounds, by extra-gradient steps on the Lagrangian."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any, Unpack

import torch
from jaxtyping import Float
from torch import Tensor, nn

from ._history import History
from ._mover import Outcome, checked_terms
from ._parts import Named
from ._play import play_out
from ._settings import Player, Settings, sorted_settings

_NOT_HERE = ("weights", "every", "maximise", "project")  # the Lagrangian fixes them


def minimise_constrained(
    objective: Callable[[Any], Tensor | dict[str, Tensor]],
    constraint: Callable[[Any], Tensor] | str,
    parameters: nn.Module | Mapping[str, Tensor],
    batches: Iterable[Any],
    *,
    epsilon: float | Sequence[float],
    dual_lr: float | None = None,
    **settings: Unpack[Settings],
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
    dual_lr : float, optional
        Learning rate of the multipliers, by default half that of the parameters.
    **settings
        As in `minimise`, but for weights, every, maximise and project. Momentum makes the game circle where f
        and g are both linear; there use betas=(0.0, 0.99).

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
    own, run = sorted_settings(settings, without=_NOT_HERE)
    trained = next(iter(Named(parameters).trained.values()))
    bounds = torch.as_tensor(epsilon, dtype=trained.dtype, device=trained.device)
    if bounds.ndim > 1 or bounds.numel() == 0 or not bounds.isfinite().all():
        raise ValueError(
            f"`epsilon` must be a finite number or a sequence of them, got {epsilon!r}. Use 0.01."
        )
    multiplier = torch.zeros_like(bounds, requires_grad=True)
    primal = Player(loss=_lagrangian(objective, constraint, bounds, multiplier), parameters=parameters, **own)
    dual = Player(
        loss=primal.loss,
        parameters={"multiplier": multiplier},
        name="dual",
        lr=primal.lr / 2 if dual_lr is None else dual_lr,
        schedule=primal.schedule,
        betas=primal.betas,
        maximise=True,
        project=lambda: multiplier.clamp_(min=0.0),
    )
    return play_out([primal, dual], batches, run, look_ahead=True, config={"epsilon": bounds.tolist()})


def _lagrangian(
    objective: Callable[[Any], Tensor | dict[str, Tensor]],
    constraint: Callable[[Any], Tensor] | str,
    bounds: Tensor,
    multiplier: Tensor,
) -> Callable[[Any], Any]:
    """Return the loss of both players: f and what is recorded beside it, and the Lagrangian."""

    def loss(batch: Any) -> Outcome:
        value = objective(batch)
        terms = checked_terms(dict(value) if isinstance(value, dict) else {"objective": value})
        g = _taken(terms, constraint) if isinstance(constraint, str) else constraint(batch)
        _require_one_value_per_bound(g, bounds)
        lagrangian = reduce(add, terms.values()) + (multiplier * (g - bounds)).sum()
        return Outcome(terms, _numbered("constraint", g) | _numbered("multiplier", multiplier), lagrangian)

    return loss


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
