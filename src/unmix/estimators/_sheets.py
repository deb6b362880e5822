"""Samples on fixed noise, saved as pictures while a generator trains, so that a person can watch."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from unmix._files import atomic_path
from unmix.objectives import GameObjective
from unmix.training import Average

_SHOWN = 8  # samples in a row
_SHEETS = 10  # over a run


class Sheets:
    """Called after each step; writes `step-000123.png` ten times in a run, from the averaged generator.

    Every sheet shows the same noise: one row for each domain, or two rows where there are none.
    """

    def __init__(
        self,
        folder: Path,
        member: GameObjective,
        average: Average,
        n_steps: int,
        generator: torch.Generator,
        n_domains: int,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.member, self.average = folder, member, average
        self.every = max(1, n_steps // _SHEETS)
        rows = max(2, n_domains)
        noise = torch.randn(rows if n_domains == 0 else 1, _SHOWN, member.n_noise, generator=generator)
        self.noise = noise.expand(rows, -1, -1).reshape(rows * _SHOWN, -1)
        self.u = torch.arange(rows).repeat_interleave(_SHOWN) if n_domains else None

    def __call__(self, step: int, terms: dict[str, Any]) -> None:
        if (step + 1) % self.every == 0:
            with torch.no_grad(), self.average.swapped():
                write_sheet(self.folder / f"step-{step + 1:06d}.png", self._images())

    def _images(self) -> Tensor:
        place = self.member.p.device
        u = None if self.u is None else self.u.to(place)
        return self.member.decoder(self.member.decoder.code(self.noise.to(place), u))


def write_sheet(path: Path, images: Tensor) -> None:
    """Write images as one picture, eight in a row."""
    from PIL import Image

    n, height, width, channels = images.shape
    grid = images.reshape(n // _SHOWN, _SHOWN, height, width, channels).permute(0, 2, 1, 3, 4)
    sheet = grid.reshape(n // _SHOWN * height, _SHOWN * width, channels)
    pixels = (sheet.clamp(0, 1) * 255).round().to(torch.uint8).cpu().numpy()
    with atomic_path(path) as temporary:
        Image.fromarray(pixels[:, :, 0] if channels == 1 else pixels).save(temporary)
