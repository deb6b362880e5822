"""The loop that both minimisers share: draw, update, record, check, save."""

import os
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from torch import Tensor

from . import _checkpoint
from ._batches import Feed
from ._history import History, Patience, Record, Row, not_finite
from ._interrupt import delayed_interrupt
from ._parts import Named
from ._progress import progress_bar

Update = Callable[[Any, int], Row]
OnStep = Callable[[int, dict[str, Tensor]], bool | None]

CHECK_EVERY = 50  # steps between two looks at the recorded values
CHECK_SECONDS = 0.5  # and at most this long, where steps are slow


class Run:
    """A run under way: its moving parts by name, and where and how often they are saved.

    Every part has `state_dict` and `load_state_dict`. Nothing is saved before the recorded values and the
    parameters have been found finite.
    """

    def __init__(
        self, model: Named, parts: dict[str, Any], record: Record, folder: str | os.PathLike[str] | None
    ):
        self.model, self.record, self.folder = model, record, None if folder is None else Path(folder)
        self.parts = {"model": model, "record": record, **parts}
        self.saved_at: int | None = None

    def resume(self, config: dict[str, Any]) -> None:
        """Go on from the folder's checkpoint, if it holds one."""
        self.config = config
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        _checkpoint.clear_leftovers(self.folder)
        found = _checkpoint.read(self.folder)
        if found is None:
            return
        state, saved_config = found
        _checkpoint.require_same(self.folder, saved_config, config)
        for name, part in self.parts.items():
            part.load_state_dict(state[name])
        self.saved_at = self.record.n_steps

    def check(self) -> None:
        """Raise unless every recorded value and every parameter is finite."""
        self.record.flush(self.kept)
        bad = self.model.not_finite()
        if bad is not None:
            what = f"parameter `{bad[0]}`"
            raise FloatingPointError(not_finite(what, bad[1], self.record.n_steps - 1, self.kept()))

    def save(self) -> None:
        """Check, then write the checkpoint."""
        self.check()
        if self.folder is not None:
            state = {name: part.state_dict() for name, part in self.parts.items()}
            _checkpoint.write(self.folder, state, self.config)
            self.saved_at = self.record.n_steps

    def kept(self) -> str:
        """Say in one sentence what is on disk."""
        if self.folder is None:
            return "Nothing was saved (no `checkpoint` folder was given)."
        if self.saved_at is None:
            return f"No checkpoint had been written to {str(self.folder)!r} yet."
        return f"The last good checkpoint, of {self.saved_at} steps, is in {str(self.folder)!r}."


def loop(
    update: Update,
    model: Named,
    parts: dict[str, Any],
    batches: Iterable[Any],
    *,
    n_steps: int,
    config: dict[str, Any],
    extras: tuple[str, ...] = (),
    patience: int | None = None,
    monitor: Callable[[], float] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: int = 500,
    on_step: OnStep | None = None,
    progress: bool | None = None,
    description: str = "",
) -> History:
    """Call `update(batch, step)` until the run is over; resume, record, check and save on the way."""
    _require_positive(n_steps=n_steps, checkpoint_every=checkpoint_every)
    feed, record, stopper = Feed(batches), Record(extras), Patience(patience, monitor)
    run = Run(model, {**parts, "batches": feed, "patience": stopper}, record, checkpoint)
    data = None if checkpoint is None else feed.fingerprint()  # worth reading only where it is compared
    run.resume(
        config | {"n_steps": n_steps, "patience": patience, "description": description, "batches": data}
    )
    with delayed_interrupt() as interrupted, progress_bar(progress, n_steps, description) as show:
        started = checked = time.perf_counter() - record.seconds
        for step in range(record.n_steps, 0 if record.stopped else n_steps):
            row = update(feed.draw(), step)
            record.append(row)
            asked_to_stop = on_step is not None and on_step(step, row.as_dict())
            now, done = time.perf_counter(), step + 1
            if done % CHECK_EVERY == 0 or now - checked > CHECK_SECONDS:
                record.flush(run.kept)
                show(done, record.latest())
                checked = now
            record.stopped = _reason(asked_to_stop, done, n_steps, stopper, record)
            over = bool(record.stopped) or interrupted()  # asked once: Ctrl-C a moment later waits for a step
            if over or done % checkpoint_every == 0:
                record.seconds = now - started
                run.save()
            if over:
                break
    if interrupted():
        _say_how_to_go_on(run, n_steps)
        raise KeyboardInterrupt
    return record.history()


def _reason(asked: bool | None, done: int, n_steps: int, stopper: Patience, record: Record) -> str:
    """Say why the run is over after `done` steps; empty while it is not."""
    if asked:
        return "on_step"
    if done % CHECK_EVERY == 0 and stopper.exhausted(record):
        return "patience"
    return "finished" if done == n_steps else ""


def _say_how_to_go_on(run: Run, n_steps: int) -> None:
    """Print the one line that Ctrl-C leaves."""
    where = f"Interrupted after {run.record.n_steps} of {n_steps} steps."
    if run.folder is None:
        advice = "Nothing was saved: give a `checkpoint` folder next time to be able to go on."
    else:
        advice = f"To go on, run the same again with checkpoint={str(run.folder)!r}."
    print(where, advice, file=sys.stderr, flush=True)


def _require_positive(**counts: int) -> None:
    for name, count in counts.items():
        if count < 1:
            raise ValueError(f"`{name}` must be at least 1, got {count}. Ask for a whole number of steps.")
