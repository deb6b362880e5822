"""The loop of every run: draw, update, record, check, save."""

import time
import warnings
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from .._group import Group, any_of, current, numbers_from, tensors_from, within
from .._threads import threads, worth
from . import _checkpoint
from ._batches import Feed
from ._history import History, Patience, Record, Row, not_finite
from ._interrupt import Interrupted, delayed_interrupt
from ._parts import Named
from ._progress import progress_bar
from ._settings import Run
from ._tree import leaves

Update = Callable[[Any, int], Row]

CHECK_EVERY = 50  # steps between two looks at the recorded values
_UNSAVED = "the checkpoint could not be written; the fit goes on without."
_MOVED = (
    "the checkpoint was removed or changed while the fit ran, not by it; the fit goes on and writes it anew."
)
AGREE_EVERY = 10  # steps after which processes that train together hear of an interruption of one of them
CHECK_SECONDS = 0.5  # and at most this long, where steps are slow
_PLACES = 64  # pixels to one place where a weight of a network of images is used, its layers being coarser


class Keeper:
    """What is kept of a run under way: its moving parts by name, and where they are saved.

    Every part has `state_dict` and `load_state_dict`. Nothing is saved before the recorded values and the
    parameters have been found finite.
    """

    def __init__(self, models: dict[str, Named], parts: dict[str, Any], record: Record, run: Run):
        self.models, self.record, self.parts = models, record, {"record": record, **parts}
        self.folder = None if run.checkpoint is None else Path(run.checkpoint)
        self.saved_at: int | None = None
        self.mark: tuple[int, ...] = ()

    def resume(self, config: dict[str, Any]) -> None:
        """Go on from the folder's checkpoint, if it holds one."""
        self.config = config
        if self.folder is None:
            return
        unmade = self._unmade() if current().first else ""
        if any_of(bool(unmade)):  # a file lies where the folder of an earlier round was
            if unmade:
                warnings.warn(f"{_UNSAVED} ({unmade})", stacklevel=2)
            self.folder = None
            return
        found = _checkpoint.read(self.folder)
        if found is None:
            return
        state, saved_config = found
        _checkpoint.require_same(self.folder, saved_config, config)
        for name, part in self.parts.items():
            part.load_state_dict(state[name])
        self.saved_at, self.mark = self.record.n_steps, _checkpoint.mark(self.folder)

    def check(self) -> None:
        """Raise unless every recorded value and every parameter is finite."""
        self.record.flush(self.kept)
        for prefix, model in self.models.items():
            bad = model.not_finite()
            if bad is not None:
                what = f"parameter `{prefix}{bad[0]}`"
                raise FloatingPointError(not_finite(what, bad[1], self.record.n_steps - 1, self.kept()))

    def save(self) -> None:
        """Check, then write the checkpoint."""
        self.check()
        if self.folder is not None:
            state = {name: part.state_dict() for name, part in self.parts.items()}
            try:
                if current().first:
                    if self.saved_at is not None and _checkpoint.mark(self.folder) != self.mark:
                        warnings.warn(f"{_MOVED} ({str(self.folder)!r})", stacklevel=2)
                    self.folder.mkdir(parents=True, exist_ok=True)
                    _checkpoint.write(self.folder, state, self.config)
                    self.mark = _checkpoint.mark(self.folder)
                self.saved_at = self.record.n_steps
            except OSError as error:  # a full disk, or a folder that is none any more
                warnings.warn(f"{_UNSAVED} ({error}) {self.kept()}", stacklevel=2)

    def _unmade(self) -> str:
        """Make the folder of the checkpoint, free of what killed processes left; say why it can't be made."""
        assert self.folder is not None
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except NotADirectoryError as error:
            return str(error)
        _checkpoint.clear_leftovers(self.folder)
        return ""

    def kept(self) -> str:
        """Say in one sentence what is on disk."""
        if self.folder is None:
            return "Nothing was saved (no `checkpoint` folder was given)."
        if self.saved_at is None:
            return f"No checkpoint had been written to {str(self.folder)!r} yet."
        return f"The last good checkpoint, of {self.saved_at} steps, is in {str(self.folder)!r}."


def loop(
    update: Update,
    models: dict[str, Named],
    parts: dict[str, Any],
    batches: Iterable[Any],
    run: Run,
    config: dict[str, Any],
) -> History:
    """Call `update(batch, step)` until the run is over; resume, record, check and save on the way."""
    feed, record, stopper = Feed(batches), Record(run.max_rows), Patience(run.patience, run.monitor)
    keeper = Keeper(models, {**parts, "batches": feed, "patience": stopper}, record, run)
    group = current()
    identity = _identity(run, feed)
    shared = _shared(group, feed)
    keeper.resume(config | identity)
    _start_alike(models)
    with (
        ExitStack() as last,
        delayed_interrupt() as interrupted,
        progress_bar(run.progress if group.first else False, run.n_steps, run.description) as show,
    ):
        last.callback(feed.close)  # called by its name, which the digest of code follows
        if shared.parted:
            last.callback(feed.share, 0, 1)
        show(record.n_steps, {})
        checked = saved = time.perf_counter()
        started = checked - record.seconds
        for step in range(record.n_steps, 0 if record.stopped else run.n_steps):
            batch = feed.draw()
            if step == record.n_read:  # the first
                last.enter_context(threads(worth(_multiplications(models, batch))))
            with within(shared):
                row = update(batch, step)
            record.append(row)
            asked_to_stop = run.on_step is not None and run.on_step(step, row.as_dict())
            now, done = time.perf_counter(), step + 1
            if done % CHECK_EVERY == 0 or (now - checked > CHECK_SECONDS and group.alone):
                record.flush(keeper.kept)
                show(done, record.latest())
                checked = now
            record.stopped = _reason(asked_to_stop, done, run.n_steps, stopper, record)
            stopped, late = _asked(interrupted(), _late(now - saved, run.checkpoint_seconds), done)
            over = bool(record.stopped) or stopped  # asked once: Ctrl-C a moment later waits for a step
            if over or done % run.checkpoint_every == 0 or late:
                record.seconds, saved = now - started, now
                keeper.save()
            if over:
                show(done, record.latest())
                break
    if any_of(interrupted()):
        kept_in = None if keeper.saved_at is None else keeper.folder
        raise Interrupted(keeper.record.n_steps, run.n_steps, kept_in)
    return record.history()


def _shared(group: Group, feed: Feed) -> Group:
    """Let every process have its rows of each batch, unless it has models of its own to train on all."""
    if group.alone or group.spread:
        return group
    return group._replace(parted=True, n_rows=feed.share(group.rank, group.size))


def _start_alike(models: dict[str, Named]) -> None:
    """Let all processes start where the first one does, and draw what it draws."""
    if not current().alone:
        tensors_from(0, *(tensor for model in models.values() for tensor in model.all.values()))
        state = torch.get_rng_state()
        tensors_from(0, state)
        torch.set_rng_state(state)


def _asked(interrupted: bool, late: bool, done: int) -> tuple[bool, bool]:
    """Say whether to stop, and whether to save: processes that train together do so at the same step."""
    if current().alone:
        return interrupted, late
    if done % AGREE_EVERY:
        return False, False
    return any_of(interrupted), bool(numbers_from(0, [late])[0])


def _multiplications(models: dict[str, Named], batch: Any) -> float:
    """Guess those of a step: each weight is used for each row, and at each place of an image."""
    first = next((leaf for leaf in leaves(batch) if isinstance(leaf, Tensor) and leaf.ndim), None)
    if first is None:
        return 0.0
    places = max(1.0, first[0, ..., 0].numel() / _PLACES) if first.ndim > 2 else 1.0
    return len(first) * places * sum(t.numel() for model in models.values() for t in model.trained.values())


def _identity(run: Run, feed: Feed) -> dict[str, Any]:
    """Say what else tells this run from others; data are worth reading only where they are compared."""
    return {
        "format": _checkpoint.FORMAT,
        "n_steps": run.n_steps,
        "patience": run.patience,
        "max_rows": run.max_rows,
        "description": run.description,
        "batches": None if run.checkpoint is None else feed.fingerprint(),
    }


def _late(seconds: float, limit: float | None) -> bool:
    return limit is not None and seconds >= limit


def _reason(asked: bool | None, done: int, n_steps: int, stopper: Patience, record: Record) -> str:
    """Say why the run is over after `done` steps; empty while it is not."""
    if asked:
        return "on_step"
    if done % CHECK_EVERY == 0 and stopper.exhausted(record):
        return "patience"
    return "finished" if done == n_steps else ""
