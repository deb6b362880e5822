"""How long and how fast an estimator trains."""

import math
from dataclasses import dataclass
from pathlib import Path

import torch

from ._schedules import Schedule


@dataclass(frozen=True)
class Pace:
    """How long and how fast to train, from which seed, and where to keep checkpoints.

    `max_steps` ends the passes before; `schedule` is that of the learning rate, by default half a cosine
    after a short warm-up; `weight_decay` and `clip_value` act on weights, not on biases and
    codebooks; `matrix_lr` is the rate of weights that are matrices, whose steps are orthogonal then.
    """

    max_iter: int
    batch_size: int
    lr: float
    seed: int
    checkpoint: Path | None = None
    progress: bool | None = None
    max_steps: int | None = None
    schedule: str | Schedule | None = None
    weight_decay: float = 0.0
    clip_value: float | None = None
    precision: str | None = None
    matrix_lr: float | None = None

    def steps(self, n_samples: int) -> int:
        """Return the number of updates in `max_iter` epochs, `max_steps` at most."""
        n_steps = self.max_iter * math.ceil(n_samples / min(self.batch_size, n_samples))
        return n_steps if self.max_steps is None else min(n_steps, self.max_steps)

    def folder(self, name: str) -> Path | None:
        """Return the folder for the checkpoints of a part of the training."""
        return self.checkpoint and self.checkpoint / name

    def generator(self, stream: int) -> torch.Generator:
        """Return a generator on the CPU, which gives the same numbers on every device."""
        return torch.Generator().manual_seed((self.seed * 1009 + stream + 2) % 2**63)
