"""Pictures saved while a model of images trains, so that a person can watch."""

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from unmix.training import Average

from ._sheets import write_sheet

_PICTURES = 20  # in a run
Draw = Callable[[], Tensor]


class Samples:
    """Writes a sheet of pictures every twentieth of a run, always of the same codes or noise.

    Files are called `step-000500.png` after the steps taken. Networks are asked without dropout, with their
    averaged weights where there are averages, and no random number is drawn: a run that is watched ends with
    the same bits as one that is not.

    Parameters
    ----------
    folder : path-like
        Made where it is not there.
    draw : callable () -> Tensor of shape (8 rows, height, width, channels)
        Pixels between 0 and 1, eight images for each row of the sheet.
    n_steps : int
        Of the run.
    networks : Module
        What `draw` asks.
    averages : iterable of Average
        Of these networks.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> watch = Samples(folder, lambda: torch.zeros(16, 8, 8, 1), 40, nn.Identity())
    >>> for step in range(4):
    ...     watch(step, {})
    >>> sorted(path.name for path in Path(folder).iterdir())
    ['step-000002.png', 'step-000004.png']
    """

    def __init__(
        self, folder: Any, draw: Draw, n_steps: int, networks: nn.Module, averages: Iterable[Average] = ()
    ) -> None:
        self.folder, self.draw, self.n_steps = Path(folder), draw, n_steps
        self.networks, self.averages = networks, tuple(averages)
        self.every = max(1, n_steps // _PICTURES)

    def __call__(self, step: int, terms: dict[str, Tensor]) -> None:
        """Write a sheet where its turn has come: an `on_step` of a run."""
        done = step + 1
        if done % self.every and done != self.n_steps:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        training = self.networks.training
        with ExitStack() as last, torch.no_grad():
            for average in self.averages:
                last.enter_context(average.swapped())
            last.callback(self.networks.train, training)
            self.networks.eval()
            write_sheet(self.folder / f"step-{done:06d}.png", self.draw())
