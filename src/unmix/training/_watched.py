"""One member in one run, whose weights are averaged and which somebody may watch."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from unmix._waiting import waiting

from ._apart import _score, _settings
from ._average import Average
from ._beside import Noise
from ._ensemble import unpacked
from ._pace import Pace
from ._parts import seeded
from ._play import play
from ._restarts import Trained
from ._settings import OnStep, Player, Run
from ._sources import Held, Source

_JUDGED = 256


def train_watched(
    member: nn.Module,
    weights: Mapping[str, Any],
    data: Tensor | Source,
    pace: Pace,
    *,
    beside: Noise,
    average: Average | None = None,
    on_step: OnStep | None = None,
    part: str = "restart-0",
) -> Trained:
    """Train one member from its first step to its last, and leave it with the average of its weights.

    What `train_apart` does for a single member, with an average, and with an `on_step` that is called after
    each update: it may look at the averaged weights by `average.swapped()`.

    Parameters
    ----------
    member : Module
        Maps a batch of `data` and the noise beside it to a dict of terms.
    weights, data, pace, beside
        As for `train_apart`.
    average : Average, optional
    on_step : callable, optional
        As for a `Run`.
    part : str
        Name of the run in its checkpoint folder.

    Returns
    -------
    Trained

    Raises
    ------
    FloatingPointError
        If a term or a parameter is no longer finite; names it and the step.

    Examples
    --------
    >>> import torch
    >>> class Line(nn.Linear):
    ...     def forward(self, x, noise):
    ...         return {"fit": (super().forward(x) - 1).square().mean()}
    >>> found = train_watched(Line(1, 1), {}, torch.randn(8, 1), Pace(200, 8, 0.1, 0), beside=Noise(1),
    ...                       average=Average(0.5))
    >>> found.history.n_steps, found.scores[0] < 0.1
    (200, True)
    """
    source = Held(data) if isinstance(data, Tensor) else data
    n_steps = pace.steps(len(source))
    settings = _settings(member, weights, pace, n_steps)
    with waiting(pace.progress, "fit"), seeded(member, pace.seed):
        player = Player(loss=unpacked(member.train()), parameters=member, ema=average, **settings)
        run = Run(n_steps=n_steps, checkpoint=pace.folder(part), progress=pace.progress, on_step=on_step)
        batches = beside.batches(source, 0, batch_size=pace.batch_size, generator=pace.generator(0))
        history = play([player], batches, run)
        few = tuple(part[:_JUDGED] for part in source.head(_JUDGED))
        judged = (*few, beside.at(0, few[0], pace.generator(-1)))
        score = _score(member, weights, judged, n_steps)
    return Trained(member.requires_grad_(False), history, (score,))
