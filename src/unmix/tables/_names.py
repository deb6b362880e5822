"""Names of columns as options give them: one by one, with commas, or with spaces between them."""

from collections.abc import Sequence
from typing import Any

_SHOWN = 5


def listed(names: Sequence[Any], most: int = _SHOWN) -> str:
    """Name a few, and count the rest.

    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    shown = ", ".join(map(repr, names[:most]))
    return shown + (f" and {len(names) - most:,} more" if len(names) > most else "")


def names_in(texts: Sequence[str], there: Sequence[str]) -> list[str]:
    """Split what options say into names; a text that is a column's name stays whole.

    >>> names_in(["experiment plate", "a,b"], ["experiment", "plate", "a,b"])
    ['experiment', 'plate', 'a,b']
    """
    known = set(there)
    return [name for text in texts for name in _split(text, known)]


def _split(text: str, known: set[str]) -> list[str]:
    if text in known:
        return [text]
    commas = [part.strip() for part in text.split(",") if part.strip()]
    spaces = text.split()
    return spaces if len(commas) == 1 and len(spaces) > 1 and set(spaces) <= known else commas
