"""Pages of what other rooms find: an explanation and a table of scores, as text."""

from typing import Any

from ._verdict import tone
from ._write import filled

_MOST = 200  # latents in the table; the dictionary has them all


def explanation_page(
    found: Any,
    titles: dict[str, str],
    title: str,
    *,
    if_right: str,
    trust: Any = None,
    description: Any = None,
) -> str:
    """Return the page: the verdict, the answer, each latent, each condition, and what would give more."""
    columns = dict.fromkeys(name for row in found.latents for name in row if name != "latent")
    rows = [{name: _cell(row.get(name)) for name in ("latent", *columns)} for row in found.latents[:_MOST]]
    left_out = max(0, len(found.latents) - _MOST)
    known: dict[str, Any] = {
        "columns": list(columns),
        "rows": rows,
        "left_out": left_out,
        "if_right": if_right,
    }
    judged = (
        None if trust is None else {"tone": tone(trust), "headline": trust.headline, "lines": trust.reasons}
    )
    named = () if description is None else description.latents
    beside: dict[str, Any] = {"judged_fit": judged, "named": named[:_MOST]}
    return filled("explanation.html", title=title, found=found, titles=titles, **beside, **known)


def _cell(value: Any) -> str:
    return f"{value:.0%}" if isinstance(value, float) else str("" if value is None else value)


def scores_page(
    headings: tuple[str, ...], rows: list[tuple[str, ...]], caption: str, warning: str = ""
) -> str:
    """Return the page: what not to believe, one table, and how to read it."""
    parts = {"headings": headings, "rows": rows, "caption": caption, "warning": warning}
    return filled("scores.html", title="Scores", **parts)
