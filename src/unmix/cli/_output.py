"""What the commands print: a story for people on a terminal, or one JSON document for programs."""

import json
import math
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Annotated, Any, TypeVar

import numpy as np
import typer

from .._files import atomic_write
from .._waiting import waiting

Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON document, and nothing else, on standard output.")
]
Seed = Annotated[
    int, typer.Option("--random-state", "--seed", help="Seed; the same seed gives the same numbers.")
]

Options = TypeVar("Options")


def taking(options: type[Options]) -> Callable[[Callable[[Options], None]], Callable[..., None]]:
    """Let a command take its options as one value: typer is shown the fields of the dataclass."""

    def decorate(command: Callable[[Options], None]) -> Callable[..., None]:
        @wraps(command)
        def run(**given: Any) -> None:
            command(options(**given))

        vars(run)["__signature__"] = signature(options)
        return run

    return decorate


# what moves a terminal's cursor, colours or reading direction; names of columns and files may hold it
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    r"""Write control characters out, so that a terminal shows them and does not obey.

    >>> print(visible("a\x1b[31mb"))
    a\x1b[31mb
    """
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], text)


def say(line: str) -> None:
    """Print one line to standard error."""
    print(visible(line), file=sys.stderr, flush=True)


def tell(*parts: Any) -> None:
    """Print text or rich tables to standard output; square brackets in text are not markup."""
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    for part in parts:
        rich = hasattr(part, "__rich_console__") or hasattr(part, "__rich__")
        console.print(_Visible(part) if rich else visible(str(part)), markup=False)


@dataclass(frozen=True)
class _Visible:
    """A rich table whose texts hold no control characters."""

    part: Any

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        for segment in console.render(self.part, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))


@contextmanager
def progress(description: str) -> Iterator[Callable[[float], None]]:
    """Yield a function that is told the share of the work that is done: a bar, or lines elsewhere."""
    with waiting(True, description) as show:
        yield lambda share: show(share, "")


def print_json(document: dict[str, Any]) -> None:
    """Print one strict JSON document; numbers that are not finite become null."""
    print(_dumped(document))


def write_json(path: Path | None, document: dict[str, Any]) -> None:
    """Write the same document to a file, atomically, where a file is wanted."""
    if path is not None:
        atomic_write(path, _dumped(document) + "\n")


def _dumped(document: dict[str, Any]) -> str:
    text = json.dumps(plain(document), allow_nan=False, ensure_ascii=False)
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def plain(value: Any) -> Any:
    """Turn arrays, sets, paths and the like into what JSON knows.

    >>> plain({"margin": float("inf"), "block": frozenset({2, 1}), "x": np.eye(1, dtype=bool)})
    {'margin': None, 'block': [1, 2], 'x': [[True]]}
    """
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value))
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return str(value) if isinstance(value, Path) else value


def one_line(text: str) -> str:
    """Fold a message into one line."""
    return " ".join(text.split())
