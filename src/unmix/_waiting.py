"""What a person sees who waits: how far the work has come, and about how long the rest will take.

Work tells its share between 0 and 1 to whoever shows it, a bar on a terminal or a few lines elsewhere. Work
within other work tells it to the part of that which it is, so that there is one bar for all of it.
"""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from itertools import accumulate, pairwise
from typing import Any

Show = Callable[[float, str], None]  # the share that is done, and what is being done

_ENCLOSING: ContextVar[Show | None] = ContextVar("enclosing", default=None)
_WORTH_TELLING = 5.0  # seconds: no plan is told of shorter work
_LINE_SHARE, _LINE_SECONDS, _SILENCE = 0.1, 10.0, 600.0  # lines: a tenth more and 10 s later, or 10 minutes
_NAME, _BAR, _NUMBERS = 16, 18, 29  # columns: of a name at most, of the bar, of percentage and time left
_KEPT, _TIMED = 400, 1.0  # moments that a pace remembers; seconds of it before a plan is told
_SOME, _LONG = 0.002, 10.0  # of the work, or seconds of it, before a pace is told
_STEPS = 4  # steps from which on the first one, which may open files, is no part of the pace


def was_stopped(error: BaseException) -> bool:
    """Whether an error is what became of Ctrl-C.

    A signal that comes while Python waits for a lock leaves the lock as it was not meant to be, and its error
    takes the place of the interruption.

    Examples
    --------
    >>> try:
    ...     try:
    ...         raise KeyboardInterrupt
    ...     finally:
    ...         raise RuntimeError("release unlocked lock")
    ... except RuntimeError as error:
    ...     was_stopped(error), was_stopped(RuntimeError())
    (True, False)
    """
    before = error.__context__
    return isinstance(error, KeyboardInterrupt) or (before is not None and was_stopped(before))


def quiet(share: float, words: str) -> None:
    """Show nothing."""


@contextmanager
def waiting(wanted: bool | None, what: str, *, plan: str = "", guess: float | None = None) -> Iterator[Show]:
    """Yield a function that is told the share of the work that is done, and in words what is being done.

    Parameters
    ----------
    wanted : bool, optional
        True for a bar on a terminal and lines elsewhere, None for a bar on a terminal only, False for nothing
        of this work or of work within it. Work within other work is part of what is shown of that.
    what : str
        The name of the work.
    plan : str
        What there is to do, told with its duration once that can be estimated.
    guess : float, optional
        The seconds that it may take, until its own pace is known.
    """
    outer = quiet if wanted is False else _ENCLOSING.get()
    with nobody(outer) if outer is not None else _display(wanted, what, plan, guess) as show:
        token = _ENCLOSING.set(show)
        try:
            yield show
        finally:
            _ENCLOSING.reset(token)


def stages(weights: Sequence[float]) -> list[AbstractContextManager[None]]:
    """Split the work that encloses this into parts: within each of them work tells the share of that part.

    Examples
    --------
    >>> told = []
    >>> token = _ENCLOSING.set(lambda share, words: told.append(round(share, 2)))
    >>> for part in stages([1, 3]):
    ...     with part, waiting(None, "a part") as show:
    ...         show(0.5, "")
    >>> told
    [0.12, 0.25, 0.62, 1.0]
    >>> _ENCLOSING.reset(token)
    """
    outer, whole = _ENCLOSING.get(), sum(weights)
    ends = accumulate((weight / whole for weight in weights), initial=0.0)
    return [nobody(None) if outer is None else _part(outer, *bounds) for bounds in pairwise(ends)]


@contextmanager
def _part(outer: Show, start: float, stop: float) -> Iterator[None]:
    token = _ENCLOSING.set(lambda share, words: outer(start + (stop - start) * share, words))
    try:
        yield
        outer(stop, "")
    finally:
        _ENCLOSING.reset(token)


@contextmanager
def called(words: str) -> Iterator[None]:
    """Show these words for whatever is done within."""
    outer = _ENCLOSING.get() or quiet
    token = _ENCLOSING.set(lambda share, _: outer(share, words))
    try:
        yield
    finally:
        _ENCLOSING.reset(token)


@contextmanager
def nobody(show: Any) -> Iterator[Any]:
    """Open nothing: what is shown is shown elsewhere."""
    yield show


@contextmanager
def _display(wanted: bool | None, what: str, plan: str, guess: float | None) -> Iterator[Show]:
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_terminal:
        with _bar(console, what, plan, guess) as show:
            yield show
    else:
        yield Lines(what, plan, guess) if wanted else quiet


@contextmanager
def _bar(console: Any, what: str, plan: str, guess: float | None) -> Iterator[Show]:
    """Draw a bar: name, share and time left always have room, and words what is left of the line."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    pace, told = Pace(guess=guess), Plan(plan)
    texts = [TextColumn(f"{{task.{name}}}", markup=False) for name in ("description", "fields[more]")]
    name, room = what[:_NAME], console.width - len(what[:_NAME]) - _BAR - _NUMBERS
    with Progress(texts[0], BarColumn(_BAR), TaskProgressColumn(), texts[1], console=console) as progress:
        task = progress.add_task(name, total=1.0, more="")

        def show(share: float, words: str) -> None:
            share = pace.at(share)
            if line := told.once(pace):
                console.print(line, markup=False, highlight=False, soft_wrap=True)
            progress.update(task, completed=share, more=f"{pace.words:<20} {_cut(words, room)}".rstrip())

        yield show


def _cut(words: str, room: int) -> str:
    """Shorten words to the columns that there are.

    >>> _cut("8 restarts", 20), _cut("8 restarts", 6), _cut("8 restarts", 0)
    ('8 restarts', '8 res…', '')
    """
    return words if len(words) <= room else f"{words[: room - 1]}…" if room > 1 else ""


class Lines:
    """Tell the share in lines on standard error: one for each tenth, never two within ten seconds."""

    def __init__(self, what: str, plan: str = "", guess: float | None = None, clock: Any = time.monotonic):
        self.what, self.plan, self.pace = what, Plan(plan), Pace(guess, clock)
        self.share, self.when = 0.0, self.pace.now

    def __call__(self, share: float, words: str) -> None:
        """Tell it, unless that was done a moment ago."""
        share = self.pace.at(share)
        if line := self.plan.once(self.pace):
            _say(line)
        silence = self.pace.now - self.when
        further = share >= self.share + _LINE_SHARE - 1e-9 and silence >= _LINE_SECONDS
        if share < 1 and (further or silence >= _SILENCE):
            self.share, self.when = share, self.pace.now
            more = ", ".join(filter(None, (self.pace.words, words)))
            _say(f"unmix: {self.what}: {share:.0%}{', ' * bool(more)}{more}")


class Pace:
    """How long work will take, from how it went in the last half of the time since it began.

    Examples
    --------
    >>> seconds = iter([0, 10, 30])
    >>> pace = Pace(clock=lambda: next(seconds))
    >>> pace.at(0.1), pace.left, pace.at(0.3), pace.left
    (0.1, None, 0.3, 70.0)
    """

    def __init__(self, guess: float | None = None, clock: Callable[[], float] = time.monotonic):
        self.guess, self.clock = guess, clock
        self.began = self.now = clock()
        self.seen: list[tuple[float, float]] = []

    def at(self, share: float) -> float:
        """Note the share that is done, and return it: it never goes back."""
        self.now = self.clock()
        share = max(min(share, 1.0), self.seen[-1][1] if self.seen else 0.0)
        kept = self.seen[::2] if len(self.seen) > _KEPT else self.seen
        if len(kept) == 1 and share == kept[0][1]:
            kept = []  # what came before the first step is no part of the pace
        if not kept or share > kept[-1][1]:
            self.seen = [*kept, (self.now, share)]
        return share

    @property
    def left(self) -> float | None:
        """Seconds that are left; None while nobody can know."""
        if not self.known:
            return None if self.guess is None else max(self.guess - (self.now - self.began), 0.0)
        seen = self.seen[1:] if len(self.seen) > _STEPS else self.seen
        (first, _), (last, done) = seen[0], seen[-1]
        since, share = [point for point in seen[:-1] if point[0] <= (first + last) / 2][-1]
        each = (last - since) / (done - share)
        return max((1 - done) * each - (self.now - last), 0.0)

    @property
    def known(self) -> bool:
        """Whether enough was done to tell the pace: the first step of a million may be a slow one."""
        done = self.seen[-1][1] - self.seen[0][1] if self.seen else 0.0
        return len(self.seen) > 1 and (done >= _SOME or self.timed >= _LONG)

    @property
    def timed(self) -> float:
        """Seconds of work whose pace was taken."""
        return self.seen[-1][0] - self.seen[0][0] if self.seen else 0.0

    @property
    def words(self) -> str:
        """The time left, in words; empty while nobody can know."""
        return "" if self.left is None else f"{duration(self.left)} left"


class Plan:
    """What there is to do, told once, with its duration, as soon as a few steps were timed."""

    def __init__(self, what: str):
        self.what = what

    def once(self, pace: Pace) -> str:
        """Return the line the first time that it can be told, where the work is long enough for one."""
        if not self.what or pace.left is None or not pace.known or pace.timed < _TIMED:
            return ""
        what, self.what = self.what, ""
        seconds = pace.now - pace.began + pace.left
        return f"unmix: about {duration(seconds)}: {what}" if seconds >= _WORTH_TELLING else ""


def duration(seconds: float) -> str:
    """Write a time for people.

    >>> duration(0.4), duration(75), duration(5400)
    ('under 1 s', '1 min 15 s', '1 h 30 min')
    """
    if seconds < 1:
        return "under 1 s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
