"""How values look in a notebook: small, in the colours of the page around them, every text escaped."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

MOST = 30  # lines of a table
MOST_CELLS = 40  # rows or columns of a structure
_TONES = {"good": "#1f7a50", "care": "#96610b", "stop": "#b3362f", "open": "#4a6078"}


def panel(title: str, *inside: str, tone: str = "open") -> str:
    """Return a box with a headline and parts that are HTML already.

    >>> "&lt;b&gt;" in panel("<b>")
    True
    """
    head = f'<div style="font-weight:600">{escape(title)}</div>'
    style = f"border-left:4px solid {_TONES[tone]};padding:.2em .9em;margin:.3em 0;max-width:60em"
    return f'<div class="unmix" style="{style}">{head}{"".join(inside)}</div>'


def words(*lines: str) -> str:
    """Return a paragraph for each line that says something."""
    style = "margin:.25em 0;opacity:.85"
    return "".join(f'<p style="{style}">{escape(line)}</p>' for line in lines if line.strip())


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table of texts; of many lines the first.

    >>> table(["a"], [["<"]]).count("&lt;")
    1
    """
    kept = list(rows)
    left = 'style="text-align:left;padding:.1em 1em .1em 0"'
    head = "".join(f'<th scope="col" {left}>{escape(str(text))}</th>' for text in heads)
    body = "".join(
        "<tr>" + "".join(f"<td {left}>{escape(str(cell))}</td>" for cell in row) + "</tr>"
        for row in kept[:MOST]
    )
    more = words(f"... and {len(kept) - MOST:,} more.") if len(kept) > MOST else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def told(text: str, holds: bool | None = None) -> str:
    r"""Return what a value says of itself, its first line as the headline.

    >>> "<p" in told("All hold.\nBecause of this.", True)
    True
    """
    first, *rest = text.strip().splitlines() or [""]
    tone = "open" if holds is None else "good" if holds else "care"
    return panel(first, words(*rest), tone=tone)


def grid(support: Any) -> str:
    """Return a matrix of full and empty cells, observed variables in rows; nothing where it is large."""
    if max(len(support), len(support[0]) if len(support) else 0) > MOST_CELLS:
        return ""
    cell = '<td style="padding:0;width:1em;height:1em;text-align:center;line-height:1em">{}</td>'
    lines = ("".join(cell.format("●" if on else "·") for on in row) for row in support)
    return "<table>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"
