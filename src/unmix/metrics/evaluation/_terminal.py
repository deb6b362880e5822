"""Rows of scores on a terminal, of which names may be broken and numbers may not."""

import re
from collections.abc import Sequence
from textwrap import fill
from typing import Any

_GAP = 2  # between columns
_LEAST_NAME, _LEAST_HEAD, _MOST_HEAD = 8, 4, 8  # widths of names of metrics, and of names of references
Rows = list[tuple[str, ...]]


def drawn(rows: Rows) -> Any:
    """Return a table of rich, the first row its headings; no column but the first is ever made narrower."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    found = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    names, *others = zip(*rows, strict=True)
    found.add_column(Text(names[0]), overflow="fold", min_width=_LEAST_NAME)
    for column in others:  # a number that is cut is another number
        found.add_column(Text(column[0]), no_wrap=True, min_width=_width(column))
    for row in rows[1:]:
        found.add_row(*map(Text, row))  # a name is no markup
    return found


def folded(rows: Rows, plain: Sequence[str], width: int) -> Rows:
    r"""Break names of metrics, and headings that are not `plain`, so that numbers have the width they need.

    >>> folded([("metric", "value", "pixel PCA"), ("dci.completeness", "0.5", "0.2")], ("value",), 27)
    [('metric', 'value', 'pixel\nPCA'), ('dci.\ncompleteness', '0.5', '0.2')]
    """
    heads = (head if head in plain else _broken(head) for head in rows[0][1:])
    rows = [(rows[0][0], *heads), *rows[1:]]
    left = width - sum(_width(column) + _GAP for column in list(zip(*rows, strict=True))[1:])
    return [(_fitting(name, left), *rest) for name, *rest in rows]


def _fitting(name: str, width: int) -> str:
    """Break a name behind points and underscores into lines of a width."""
    lines = [""]
    for part in re.findall(r"[^._]+[._]*|[._]+", name):
        if lines[-1] and len(lines[-1] + part) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def _broken(heading: str) -> str:
    """Break a heading at its spaces, and words that are longer than a column should be."""
    longest = max(map(len, heading.split()), default=1)
    return fill(heading, max(_LEAST_HEAD, min(longest, _MOST_HEAD)))


def _width(column: Sequence[str]) -> int:
    """Return the width of a column: of the longest line in it."""
    return max(len(line) for cell in column for line in cell.splitlines() or [""])
