"""What estimators that generate images share: what they ask of data, and a run that can be watched."""

from typing import Any

import torch
from torch import Tensor, nn

from unmix.nn import entries
from unmix.training import Average, Drawn, Noise, Pace, Trained, train_watched

from ._samples import Draw, Samples

SHOWN = 8  # images in a row of a sheet of samples


def image_shape(model: Any, shape: Any) -> tuple[int, ...]:
    """Return the shape of a sample, if it is an image."""
    if isinstance(shape, int) or len(shape) != 3:
        raise ValueError(
            f"`X` must be images of shape (n, height, width, channels) for {type(model).__name__}, got "
            f"samples with {entries(shape)} numbers. Use BetaVAE for tables."
        )
    return tuple(shape)


def head_of(x: Tensor | Drawn, n: int) -> Tensor:
    """Return some of the images that a model is fitted on, again where they are few."""
    found = x[:: max(1, len(x) // n)] if isinstance(x, Tensor) else x.head(n)[0]
    return found[torch.arange(n, device=found.device) % len(found)]


def trained_alone(
    member: nn.Module,
    weights: dict[str, Any],
    x: Any,
    pace: Pace,
    *,
    ema: float,
    samples: Any = None,
    draw: Draw,
) -> Trained:
    """Train a member, average its weights, and write what `draw` draws into the folder for samples."""
    average = Average(ema)
    watch = None if samples is None else Samples(samples, draw, pace.steps(len(x)), member, [average])
    return train_watched(member, weights, x, pace, beside=Noise(1), average=average, on_step=watch)
