"""From a table, before any fit, to one HTML file: how many latents, and which estimators could find them."""

from pathlib import Path
from typing import Any

from .. import plots
from ..choice import Choice
from ._figures import svg
from ._write import render

_TONES = {True: "good", False: "stop", None: "open"}


def choice(
    path: str | Path, found: Choice, *, title: str = "How many latents, and how to find them", notes: str = ""
) -> Path:
    """Write one self-contained HTML page about a table that is yet to be fitted.

    Parameters
    ----------
    path, title, notes
        As for `write`.
    found : Choice
        As returned by `unmix.choose`.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> import tempfile
    >>> from unmix.solvers.number import Number, Trial
    >>> number = Number(1, 1, 2, 2.0, 0.1, 0.0, (Trial(0, 0, 4.0, False), Trial(1, 1, 2.0, False)), 100, 20)
    >>> page = choice(tempfile.mkdtemp() + "/choice.html", Choice(number, (), (), 100, 4))
    >>> "1 latent: the last saves 2.00" in page.read_text()
    True
    """
    return render(
        path,
        "choice.html",
        title=title,
        notes=notes,
        tone="good" if found.n_latents is not None else "care" if found.number.n_supported else "stop",
        headline=found.headline,
        sentences=[text for text in (found.meaning, found.survival, found.advice) if text],
        facts=_facts(found),
        picture=_picture(found),
        supports=[_support(each) for each in found.supports],
        trials=[_trial(each) for each in sorted(found.number.trials, key=lambda each: (each.bent, each[:2]))],
        seconds=f"{found.seconds:.0f}",
    )


def _picture(found: Choice) -> Any:
    def draw(ax: Any) -> None:
        plots.latent_number(found.number, agreement=found.agreement, ax=ax)

    label = f"Nats for a held-out row against the number of latents. {found.headline}"
    return svg(draw, name="number", label=label, width=7.0, height=3.6)


def _facts(found: Choice) -> list[tuple[str, str, str]]:
    number = found.number
    return [
        ("Rows", f"{found.n_rows:,}", f"of {found.n_features} variables"),
        ("Held out", f"{number.n_held_out:,}", f"of {number.n_rows:,} different rows that were used"),
        (
            "Last latent",
            f"{number.gain:.2f}",
            f"nats saved, error {number.error:.2f}; one more {_more(number)}",
        ),
        ("Linear", str(number.n_linear), "latents that factor analysis alone would ask for"),
    ]


def _more(number: Any) -> str:
    return f"{max(number.after, 0.0):.2f}"


def _support(each: Any) -> dict[str, Any]:
    names = ("name", "verdict", "measured", "null", "words", "needs")
    told = {name: getattr(each, name) for name in names}
    return told | {"methods": ", ".join(each.methods), "tone": _TONES[each.holds]}


def _trial(each: Any) -> tuple[str, str, str, str]:
    kind = "autoencoder" if each.bent else "factor analysis"
    return kind, str(each.n_allowed), str(each.n_latents), f"{each.length:.2f}"
