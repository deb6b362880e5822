"""A progress bar with the current terms, silent where nobody looks."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

Show = Callable[[int, dict[str, float] | str], None]


@contextmanager
def progress_bar(wanted: bool | None, n_steps: int, description: str) -> Iterator[Show]:
    """Yield a function `(step, terms)` that moves the bar; by default only a terminal shows one."""
    console = Console(stderr=True)
    if not (console.is_terminal if wanted is None else wanted):
        yield lambda step, terms: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, TextColumn("{task.fields[terms]}", markup=False), console=console) as progress:
        task = progress.add_task(description or "minimise", total=n_steps, terms="")
        yield lambda step, terms: progress.update(task, completed=step, terms=_line(terms))


def _line(terms: dict[str, float] | str) -> str:
    if isinstance(terms, str):
        return terms
    return "  ".join(f"{name} {value:.4g}" for name, value in terms.items())
