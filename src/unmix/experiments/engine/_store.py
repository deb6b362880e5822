"""Results on disk: one file for each table, and while a sweep runs one for each run."""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from ..._files import atomic_write
from ..._locks import HAS_LOCKS, leave, take
from ..._untrusted import read_json, require_regular
from ._records import Lines, Record, fault_of, from_lines, sealed, to_lines
from ._task import Task


class Store:
    """A folder of results.

    A run is written to a file of its own, `<experiment>/<key>.json`, where the key digests experiment,
    settings, seed, budget and code. At the end of a sweep `fold` moves these into `<experiment>.jsonl`, one
    run a line. Files are written whole or not at all and every run carries a checksum; one that does not
    agree with it, or with its name, is reported and never trusted.

    Parameters
    ----------
    folder : path-like
        Made when something is written.

    Attributes
    ----------
    corrupt : dict
        What was not trusted so far, as `<experiment>/<key>.json`, `<experiment>.jsonl:<line>` or
        `<experiment>.jsonl`, and what is wrong with it.

    Examples
    --------
    >>> import tempfile
    >>> list(Store(tempfile.mkdtemp()).records())
    []
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.corrupt: dict[str, str] = {}
        self._read_before: dict[str, tuple[tuple[int, ...], Lines]] = {}

    def path(self, experiment: str, key: str) -> Path:
        """Return where a result lies until it is folded in."""
        return self.folder / experiment / f"{key}.json"

    def table(self, experiment: str) -> Path:
        """Return where all results of an experiment lie."""
        return self.folder / f"{experiment}.jsonl"

    def read(self, task: Task) -> Record | None:
        """Return the stored result of a run, or None where there is none that can be trusted."""
        path = self.path(task.experiment, task.key)
        record = self._read(path)
        if record is None and _name(path) not in self.corrupt:
            # looked at last: what was folded in meanwhile is there
            record = self._lines(task.experiment).records.get(task.key)
        return None if record is None else dict(record)

    def write(self, record: Record) -> Path:
        """Store a result, whole or not at all."""
        path = self.path(record["experiment"], record["key"])
        text = json.dumps(sealed(record), indent=1, allow_nan=False)
        with self._alone(record["experiment"]):
            path.parent.mkdir(parents=True, exist_ok=True)
            self.corrupt.pop(_name(path), None)
            return atomic_write(path, text + "\n")

    def records(self) -> Iterator[Record]:
        """Yield all results that can be trusted; the others are named in `corrupt`."""
        for experiment in self.experiments():
            loose = self._loose(experiment)  # before the table: what is folded in meanwhile is in both
            found = self._lines(experiment).records | loose
            yield from (dict(found[key]) for key in sorted(found))

    def experiments(self) -> list[str]:
        """Name the experiments that have results."""
        loose = {folder.name for folder in _within(self.folder) if _within(folder, ".json")}
        return sorted(loose | {path.stem for path in _within(self.folder, ".jsonl")})

    def fold(self, experiments: Iterable[str]) -> None:
        """Move the results of a sweep into one file for each experiment.

        What is damaged stays where it is; so do all results of an experiment whose file has a damaged first
        line, and all on a system without locks.
        """
        for experiment in experiments:
            if HAS_LOCKS and _within(self.folder / experiment, ".json"):
                with self._alone(experiment):
                    self._fold(experiment)

    def rewrite(self, experiment: str, change: Callable[[Record], Record]) -> None:
        """Change every result of an experiment; nothing of it may be damaged."""
        with self._alone(experiment):
            self._fold(experiment)
            lines = self._lines(experiment)
            if any(name.startswith((f"{experiment}/", f"{experiment}.jsonl")) for name in self.corrupt):
                raise ValueError(f"`experiment` must have no damaged results, got {experiment!r}. Redo them.")
            self._save(experiment, {new["key"]: new for new in map(change, lines.records.values())}, lines)

    def claim(self, task: Task) -> IO[str] | None:
        """Take a run for this process, so that another sweep leaves it; None where another has it.

        The claim ends when the file returned is closed, or this process ends, however that happens.
        """
        return take(self.folder / ".claims" / task.work, wait=False)

    def release(self, task: Task, claim: IO[str]) -> None:
        """Give a claim back."""
        leave(self.folder / ".claims" / task.work, claim)

    def tidy(self) -> None:
        """Remove claims that nobody has, such as those of a sweep that was killed, and their empty folder."""
        claims = self.folder / ".claims"
        with suppress(OSError):
            for path in list(claims.iterdir()):
                if (claim := take(path, wait=False)) is not None:
                    leave(path, claim)
            claims.rmdir()

    @contextmanager
    def _alone(self, experiment: str) -> Iterator[None]:
        """Keep other processes from writing results of an experiment."""
        path = self.folder / ".claims" / f"{experiment}.lock"
        lock = take(path, wait=True)
        try:
            yield
        finally:
            if lock is not None:
                leave(path, lock)
            self.tidy()

    def _fold(self, experiment: str) -> None:
        loose, lines = self._loose(experiment), self._lines(experiment)
        if not loose or lines.fault:
            return
        self._save(experiment, lines.records | loose, lines)
        for key in loose:
            self.path(experiment, key).unlink()
        for left in (self.folder / experiment).glob(".*.json"):
            left.unlink()  # half written when a process was killed: nobody writes now
        with suppress(OSError):
            (self.folder / experiment).rmdir()

    def _save(self, experiment: str, records: dict[str, Record], old: Lines) -> None:
        content = to_lines(experiment, records.values(), old)
        if from_lines(content, experiment).records != records:
            raise ValueError(f"`records` must be what is read back, got a difference in {experiment}.")
        atomic_write(self.table(experiment), content)
        self._lines(experiment)

    def _loose(self, experiment: str) -> dict[str, Record]:
        paths = _within(self.folder / experiment, ".json")
        return {path.stem: record for path in paths if (record := self._read(path)) is not None}

    def _read(self, path: Path) -> Record | None:
        """Return the result of a file of its own; None where there is none that can be trusted."""
        self.corrupt.pop(_name(path), None)
        try:
            record = read_json(path)
            fault = fault_of(record)
        except FileNotFoundError:
            return None
        except (ValueError, OSError) as error:
            fault = f"it can't be read ({type(error).__name__})"
        if not fault and record["key"] != path.stem:
            fault = "it lies at the address of another result"
        if fault:
            self.corrupt[_name(path)] = fault
        return None if fault else record

    def _lines(self, experiment: str) -> Lines:
        """Return the table of an experiment, read again where it changed."""
        path = self.table(experiment)
        try:
            stat = path.stat()
            now = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
            before = self._read_before.get(experiment)
            if before is None or before[0] != now:
                before = self._read_before[experiment] = (
                    now,
                    from_lines(require_regular(path).read_bytes(), experiment),
                )
                self._note(path.name, before[1])
        except FileNotFoundError:
            self._read_before.pop(experiment, None)
            self._note(path.name, Lines())
            return Lines()
        return before[1]

    def _note(self, table: str, lines: Lines) -> None:
        """Remember what can't be trusted of a table, and forget what was wrong with it before."""
        for name in [name for name in self.corrupt if name.partition(":")[0] == table]:
            del self.corrupt[name]
        self.corrupt |= {f"{table}:{number}": fault for number, (_, fault) in lines.damaged.items()}
        self.corrupt |= {table: lines.fault} if lines.fault else {}


def _within(folder: Path, suffix: str = "") -> list[Path]:
    """Return what a folder holds but for hidden files; nothing where another process has just removed it."""
    try:
        names = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [folder / name for name in names if name.endswith(suffix) and not name.startswith(".")]


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"
