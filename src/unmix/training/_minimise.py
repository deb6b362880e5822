"""The lowest value of one loss: a game of one player."""

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from torch import Tensor, nn

from ._history import History
from ._play import play
from ._settings import Loss, Player, Settings, sorted_settings


def minimise(
    loss: Loss,
    parameters: nn.Module | Mapping[str, Tensor],
    batches: Iterable[Any],
    **settings: Unpack[Settings],
) -> History:
    """Minimise the sum of the terms that `loss` returns, by Adam, changing `parameters` in place.

    Parameters
    ----------
    loss, parameters
        As for a `Player`.
    batches : iterable
        As for `play`.
    **settings
        Those of a `Player` (such as lr, schedule, weights, clip_norm, ema) and of a `Run` (n_steps, which
        must be given, patience, checkpoint, on_step, ...) by name.

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
    >>> import torch
    >>> w = torch.tensor([3.0], requires_grad=True)
    >>> history = minimise(lambda batch: {"fit": ((w - batch) ** 2).sum()}, {"w": w}, [torch.ones(1)],
    ...                    n_steps=200, lr=0.1, schedule="cosine")
    >>> round(w.item(), 3), history.n_steps, history.stopped
    (1.0, 200, 'finished')
    """
    player, run = sorted_settings(settings)
    return play([Player(loss=loss, parameters=parameters, **player)], batches, run)
