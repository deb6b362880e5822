"""Results on disk: one small JSON file for each run, at an address made of what it depends on."""

import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from ..._files import atomic_write
from ._task import Task, canonical

FORMAT = 1
_NEEDED = ("key", "experiment", "settings", "cells", "seed", "budget", "code", "values", "error", "seconds")


class Store:
    """A folder of results.

    Each run has one file, `<experiment>/<key>.json`, where the key digests experiment, settings, seed, budget
    and code. Files are written whole or not at all and carry a checksum; one that does not agree with it, or
    with its name, is reported and never trusted.

    Parameters
    ----------
    folder : path-like
        Made when something is written.

    Examples
    --------
    >>> import tempfile
    >>> list(Store(tempfile.mkdtemp()).records())
    []
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.corrupt: dict[str, str] = {}

    def path(self, experiment: str, key: str) -> Path:
        """Return where a result lies."""
        return self.folder / experiment / f"{key}.json"

    def read(self, task: Task) -> dict[str, Any] | None:
        """Return the stored result of a run, or None where there is none that can be trusted."""
        path = self.path(task.experiment, task.key)
        return self._read(path) if path.exists() else None

    def write(self, record: dict[str, Any]) -> Path:
        """Store a result, whole or not at all."""
        path = self.path(record["experiment"], record["key"])
        path.parent.mkdir(parents=True, exist_ok=True)
        document = {"format": FORMAT, **record}
        text = json.dumps(document | {"checksum": _checksum(document)}, indent=1, allow_nan=False)
        self.corrupt.pop(_name(path), None)
        return atomic_write(path, text + "\n")

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield all results that can be trusted; the others are named in `corrupt`."""
        for path in sorted(self.folder.glob("*/*.json")):
            if not path.name.startswith(".") and (record := self._read(path)) is not None:
                yield record

    def claim(self, task: Task) -> IO[str] | None:
        """Take a run for this process, so that another sweep leaves it; None where another has it.

        The claim ends when the file returned is closed, or this process ends in whatever way.
        """
        path = self.folder / ".claims" / task.key
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open(path, "w", encoding="utf-8")  # noqa: SIM115 - the open file is the claim
        if _locked(file):
            return file
        file.close()
        return None

    def release(self, task: Task, claim: IO[str]) -> None:
        """Give a claim back."""
        (self.folder / ".claims" / task.key).unlink(missing_ok=True)
        claim.close()

    def tidy(self) -> None:
        """Remove the folder of claims once it is empty."""
        try:
            (self.folder / ".claims").rmdir()
        except OSError:
            return

    def _read(self, path: Path) -> dict[str, Any] | None:
        try:
            record = json.loads(path.read_bytes())
            fault = _fault(record, path.stem)
        except (ValueError, OSError) as error:
            fault = f"it can't be read ({type(error).__name__})"
        if fault:
            self.corrupt[_name(path)] = fault
            return None
        return record


def _fault(record: Any, stem: str) -> str:
    """Say what is wrong with the content of a file, if anything is."""
    if not isinstance(record, dict) or any(name not in record for name in _NEEDED):
        return "it is not a result"
    checksum = record.pop("checksum", None)
    if checksum != _checksum(record):
        return "its checksum does not agree with its content"
    return "" if record["key"] == stem else "it lies at the address of another result"


def _checksum(record: dict[str, Any]) -> str:
    return hashlib.sha256(canonical(record).encode()).hexdigest()[:16]


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def _locked(file: IO[str]) -> bool:
    """Lock a file for as long as it is open; where the system has no such locks, all sweeps may run all."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
