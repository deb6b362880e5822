"""Pictures as SVG text that takes its colours from the page, so that they read on light and dark screens."""

import io
import re
from collections.abc import Callable
from typing import Any

import matplotlib
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

_TEXT, _LINE = "#010203", "#040506"  # stand-ins that no picture uses, replaced by the page's colours
_RC: Any = {
    "svg.fonttype": "none",  # text stays text: small, selectable, in the page's font
    "svg.hashsalt": "unmix",  # same input, same bytes
    "font.size": 10,
    "text.color": _TEXT,
    "axes.labelcolor": _TEXT,
    "xtick.color": _TEXT,
    "ytick.color": _TEXT,
    "axes.edgecolor": _LINE,
    "grid.color": _LINE,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "legend.fontsize": 9,
}


def svg(draw: Callable[[Axes], object], *, name: str, label: str, width: float, height: float) -> Markup:
    """Draw on a fresh Axes and return inline SVG.

    Parameters
    ----------
    draw : callable
        Takes the Axes.
    name : str
        Prefix of all ids in the picture, since one page holds many; of it letters, digits and dashes count.
    label : str
        What the picture shows, for those who can't see it.
    width, height : float
        Size in inches at 72 points; the page scales it down where it is narrower.

    Returns
    -------
    Markup
        The `<svg>` element, safe to include as it is.
    """
    with matplotlib.rc_context(_RC):
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure.add_subplot())
        stream = io.StringIO()
        figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return Markup(_inline(stream.getvalue(), name, label))  # noqa: S704  matplotlib escapes texts


def tip(artist: Any, words: str) -> None:
    """Let the page say something about a part of a picture where the pointer rests on it."""
    artist.set_gid("tip-" + words.encode().hex())


def spot(ax: Axes, x: float, y: float, words: str, size: float = 10) -> None:
    """Put a point that is not seen, and that says something where the pointer rests on it."""
    (point,) = ax.plot(
        [x], [y], marker="s", markersize=size, alpha=0.0, linestyle="", scalex=False, scaley=False
    )
    tip(point, words)


def _said(found: re.Match[str]) -> str:
    return Markup('<g class="tip"><title>{}</title>').format(bytes.fromhex(found[1]).decode())


def _inline(text: str, name: str, label: str) -> str:
    """Cut a stand-alone SVG file down to an element of the page."""
    body = text[text.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r'<g id="tip-([0-9a-f]*)">', _said, body)
    prefix = re.sub(r"[^A-Za-z0-9-]", "-", name)  # names come from files, and this becomes markup
    body = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}-", body)
    body = re.sub(r"font: [^;\"]*?([\d.]+px) [^;\"]*", r"font-size: \1", body)
    body = body.replace(_TEXT, "currentColor").replace(_LINE, "var(--line)")
    head = Markup('<svg role="img" aria-label="{}" ').format(label)
    return (
        head
        + Markup(  # noqa: S704  as matplotlib drew it, texts escaped
            re.sub(r'(<svg[^>]*?) width="[^"]*"| height="[^"]*pt"', r"\1", body, count=2)[len("<svg ") :]
        )
    )
