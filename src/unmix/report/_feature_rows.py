"""The rows in which a feature is strongest: text with the tokens lit up, or names of rows."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

_TOP = 8  # rows of a feature
_AROUND = 12  # tokens on either side
_LEVELS = 4
_LONG = 60  # letters of one token

Part = tuple[int, bool, str]


class Texts(NamedTuple):
    """What is known of the rows: their tokens, and the window of each, or names; None where it is not."""

    tokens: np.ndarray | None
    document: np.ndarray | None
    text: Callable[[Any], list[str]] | None
    ids: Sequence[str] | None


def texts_of(data: Any, n_rows: int, ids: Sequence[str] | None) -> Texts:
    """Read what the data know of their rows."""
    tokens = getattr(data, "token_ids", None)
    if tokens is None:
        if ids is not None and len(ids) < n_rows:
            raise ValueError(f"`ids` must name {n_rows} rows, got {len(ids)}. Give one name per row.")
        return Texts(None, None, None, ids)
    document = getattr(data, "document", None)
    of = np.zeros(n_rows, dtype=int) if document is None else np.asarray(document[:n_rows])
    return Texts(np.asarray(tokens[:n_rows]), of, data.text, None)


def top_rows(texts: Texts, rows: np.ndarray, values: np.ndarray) -> list[tuple[str, list[Part], str]]:
    """Return the strongest rows: the activation, the parts of the text, and a name where there is no text."""
    found = []
    for place in _apart(rows, values, texts.tokens is not None):
        row, value = int(rows[place]), float(values[place])
        parts = [] if texts.tokens is None else _parts(texts, row, rows, values)
        name = f"row {row:,}" if texts.ids is None else str(texts.ids[row])
        found.append((f"{value:.2f}", parts, name))
    return found


def _apart(rows: np.ndarray, values: np.ndarray, spaced: bool) -> list[int]:
    """Return the places of the largest values; of text, none within sight of another."""
    chosen: list[int] = []
    for place in np.argsort(-values, kind="stable").tolist():
        if len(chosen) == _TOP:
            break
        if not spaced or all(abs(int(rows[place]) - int(rows[other])) > _AROUND for other in chosen):
            chosen.append(place)
    return chosen


def _parts(texts: Texts, row: int, rows: np.ndarray, values: np.ndarray) -> list[Part]:
    """Return the tokens around a row within its window: how strong the feature is on each, and the text."""
    assert texts.tokens is not None and texts.document is not None and texts.text is not None
    around = np.arange(max(0, row - _AROUND), min(len(texts.tokens), row + _AROUND + 1))
    around = around[texts.document[around] == texts.document[row]]
    place = np.searchsorted(rows, around)
    inside = (place < len(rows)) & (rows[np.minimum(place, len(rows) - 1)] == around)
    strength = np.where(inside, values[np.minimum(place, len(rows) - 1)], 0.0) / max(
        float(values.max()), 1e-12
    )
    level = np.ceil(_LEVELS * np.clip(strength, 0, 1)).astype(int)
    words = texts.text(texts.tokens[around])
    return [
        (int(k), bool(where == row), word[:_LONG])
        for k, where, word in zip(level, around, words, strict=True)
    ]
