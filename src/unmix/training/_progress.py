"""How far a run has come, told with its current terms to whoever shows it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from unmix._waiting import waiting


@contextmanager
def progress_bar(
    wanted: bool | None, n_steps: int, description: str
) -> Iterator[Callable[[int, dict[str, float]], None]]:
    """Yield a function `(step, terms)` that tells how far a run is; by default only a terminal shows it."""
    with waiting(wanted, description or "minimise") as show:
        yield lambda step, terms: show(step / n_steps, _line(description, terms))


def _line(description: str, terms: dict[str, float]) -> str:
    """Write the terms after what is run."""
    return "  ".join(filter(None, [description, *(f"{name} {value:.4g}" for name, value in terms.items())]))
