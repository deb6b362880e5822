"""Steps on batches that come from outside, one call each: for models that are fitted bit by bit."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from .._group import current, mine, within
from ._play import Game
from ._settings import Player, Run
from ._tree import leaves, mapped


class Stepper:
    """Players who move whenever a batch is there; moments of the optimiser stay from call to call.

    Parameters
    ----------
    players : sequence of Player

    Examples
    --------
    >>> import torch
    >>> w = torch.zeros(1, requires_grad=True)
    >>> fit = Player(loss=lambda x: {"fit": (w - x).square().sum()}, parameters={"w": w}, lr=0.1)
    >>> step = Stepper([fit])
    >>> for _ in range(200):
    ...     row = step(torch.ones(1))
    >>> round(w.item(), 2), step.n_steps
    (1.0, 200)
    """

    def __init__(self, players: Sequence[Player]) -> None:
        self._game = Game(players, Run(n_steps=1, compile=False), look_ahead=False, static=False)
        self.n_steps = 0

    def __call__(self, batch: Any) -> dict[str, Any]:
        """Take one step, and return its terms; of a batch each process of a group takes its rows."""
        group = current()
        if not group.alone:
            n_rows = max((len(leaf) for leaf in leaves(batch) if isinstance(leaf, Tensor)), default=None)
            group = group._replace(parted=True, n_rows=n_rows)
        with within(group):
            row = self._game(mapped(mine, batch), self.n_steps)
        self.n_steps += 1
        return row.as_dict()
