"""Where a run computes: its device, its turn on it, and what it keeps to go on from."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from typing import IO

from ..._locks import leave, take

_POLL = 0.1


@dataclass(frozen=True)
class Place:
    """Where runs compute that train on a device.

    A sweep has more workers than runs that train at a time: while one trains, those that have trained score
    their codes on the processor, and the next that waits takes their turn.

    Parameters
    ----------
    device : {"auto", "cpu", "cuda"}
        Or "cuda:1", of which "auto" takes the first there is.
    at_once : int
        Runs that train on the device at the same time.
    folder : str, optional
        Where runs take turns, and keep what they need to go on: checkpoints while they train, codes once they
        have. Runs of several tables that train the same model share it. Without it nobody waits, and nothing
        is kept.
    code : str
        Of the run, by which trainings of other code are told apart.

    Examples
    --------
    >>> with Place("cpu").training():
    ...     "on the processor nobody waits"
    'on the processor nobody waits'
    """

    device: str = "auto"
    at_once: int = 1
    folder: str | None = None
    code: str = ""

    def __post_init__(self) -> None:
        if self.at_once < 1:
            raise ValueError(f"`at_once` must be at least 1, got {self.at_once}. Let one run train at least.")

    @contextmanager
    def training(self) -> Iterator[None]:
        """Wait for a turn on the device, and give it back at the end; on the processor all have one."""
        if self.folder is None or self.device == "cpu" or not _has_gpu():
            yield
            return
        path, lock = self._turn(Path(self.folder))
        try:
            yield
        finally:
            leave(path, lock)

    @contextmanager
    def kept(self, key: str) -> Iterator[Path | None]:
        """Hold the folder of a training alone, None where nothing is kept: who else wants it waits."""
        if self.folder is None:
            yield None
            return
        path = Path(self.folder) / f"{key}.lock"
        lock = take(path, wait=True)
        try:
            yield Path(self.folder) / key
        finally:
            if lock is not None:
                leave(path, lock)

    def tidy(self) -> None:
        """Remove what runs kept, once nobody will ask for it again."""
        if self.folder is not None:
            with suppress(OSError):
                rmtree(self.folder)

    def _turn(self, folder: Path) -> tuple[Path, IO[str]]:
        while True:
            for path in (folder / f"turn-{number}.lock" for number in range(self.at_once)):
                lock = take(path, wait=False)
                if lock is not None:
                    return path, lock
            time.sleep(_POLL)


def _has_gpu() -> bool:
    import torch

    return torch.cuda.is_available()
