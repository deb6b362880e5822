"""The one hand-written descent: Adam on starts that go down together while a knee shrinks."""

from collections.abc import Callable

import torch
from torch import Tensor

_LEAST_RATE = 1e-4


def descend_together(
    free: Tensor,
    cost: Callable[[Tensor, float], Tensor],
    *,
    n_steps: int,
    lr: float,
    knee: tuple[float, float],
) -> Tensor:
    """Lower the sum of costs of independent starts, changing `free` in place, and return it.

    The costs are of the kind log(1 + |entry| / knee): nearly linear where the knee is large, nearly a count
    where it is small. It shrinks from its first value to its last, which avoids local minima, and the
    learning rate falls with it.

    Parameters
    ----------
    free : tensor
        Starts, along the first axes.
    cost : callable (free, knee) -> tensor
        Cost of each start.
    n_steps : int
    lr : float
        At the first step.
    knee : (float, float)
        At the first and the last step.

    Examples
    --------
    >>> free, settings = torch.tensor([3.0, -2.0]), {"n_steps": 200, "lr": 0.1, "knee": (1.0, 0.1)}
    >>> found = descend_together(free, lambda t, knee: (t**2 + knee).log(), **settings)
    >>> bool((found.abs() < 0.1).all())
    True
    """
    free.requires_grad_()
    adam = torch.optim.Adam([free], lr=lr)
    for step in range(n_steps):
        left = 1 - step / n_steps
        adam.param_groups[0]["lr"] = lr * left + _LEAST_RATE
        adam.zero_grad()
        cost(free, (knee[0] - knee[1]) * left**2 + knee[1]).sum().backward()
        adam.step()
    return free.detach()
