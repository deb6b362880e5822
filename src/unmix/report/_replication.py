"""From many runs to one HTML file: which latents of the first are found in the others."""

from pathlib import Path
from typing import Any

from ..metrics import Replication
from ..metrics.alignment._verdicts import SHORT
from ._trust import VERDICTS
from ._write import render

MAX_LINES = 1000
_TRUST = {SHORT[verdict]: tone for verdict, (tone, _) in VERDICTS.items()}
_VERDICTS = ("verdict", "by atoms", "by codes")
_TONES = {"alone": "good", "subspace": "care", "no": "stop", "constant": "stop"}


def replication(
    path: str | Path,
    found: Replication,
    *,
    title: str = "Which latents replicate?",
    notes: str = "",
) -> Path:
    """Write one self-contained HTML page about runs on the same inputs, latent by latent.

    Parameters
    ----------
    path, title, notes
        As for `write`.
    found : Replication
        As returned by `unmix.metrics.replicate`; with the verdicts on models that its `beside` was given.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from unmix.metrics import replicate
    >>> z = np.random.default_rng(0).laplace(size=(300, 3))
    >>> page = replication(tempfile.mkdtemp() + "/runs.html", replicate([z, -z[:, ::-1], 2 * z]))
    >>> "3 of 3 latents replicate in both other runs" in page.read_text()
    True
    """
    everywhere = int((found.n_replicated == len(found.runs)).sum())
    return render(
        path,
        "replication.html",
        title=title,
        notes=notes,
        names=found.names,
        tone=_tone(found, everywhere),
        headline=headed(
            f"{everywhere:,} of {found.n_latents:,} latents replicate in {_where(len(found.runs))}", found
        ),
        sentences=[found.meaning, found.caveat, *found.known, *(f"Note: {note}" for note in found.notes)],
        facts=_facts(found),
        view=view(found),
    )


def headed(headline: str, found: Replication | None) -> str:
    """Put the verdict on the reference, where it is a model, beside what agrees."""
    trust = None if found is None else found.verdicts.get(found.names[0])
    return headline if trust is None else f"{headline}; {trust.headline[:1].lower()}{trust.headline[1:]}"


def _tone(found: Replication, everywhere: int) -> str:
    """Agreement alone is never the green light: all must replicate, and all be trusted."""
    if everywhere == found.n_latents and found.verdicts.get(found.names[0]):
        return "good"
    return "care" if everywhere else "stop"


def view(found: Replication) -> dict[str, Any]:
    """Return what the part of a page about single latents shows."""
    heads, rows = found.lines(MAX_LINES)
    trust = found.verdicts.get(found.names[0])
    return {
        "heads": heads,
        "rows": [[_cell(head, text) for head, text in zip(heads, row, strict=True)] for row in rows],
        "reasons": [] if trust is None else trust.reasons[:MAX_LINES],
        "summary": found.summary(),
        "times": _times(found),
        "n_hidden": found.n_hidden(MAX_LINES),
        "threshold": f"{found.threshold:g}",
        "reference": found.names[0],
        "caveat": found.caveat,
    }


def _cell(head: str, text: str) -> dict[str, str]:
    """Return a cell with the colour of what it says; only verdicts have one."""
    if head == "trust":
        return {"text": text, "tone": _TRUST[text.partition(" ")[2]]}
    return {"text": text, "tone": _TONES.get(text, "") if head in _VERDICTS else ""}


def _times(found: Replication) -> list[tuple[str, str, str]]:
    """Count the latents that replicate in so many runs: alone, and in any way."""
    others = len(found.runs)
    return [
        (f"{k} of {others}", f"{(found.n_alone == k).sum():,}", f"{(found.n_replicated == k).sum():,}")
        for k in range(others, -1, -1)
    ]


def _facts(found: Replication) -> list[tuple[str, str, str]]:
    return [
        ("Runs", str(len(found.names)), f"{found.names[0]} is the reference"),
        ("Latents", f"{found.n_latents:,}", "of the reference"),
        ("Samples", f"{found.n_rows:,}", f"{found.n_held:,} held out, on which all is judged"),
        ("Threshold", f"{found.threshold:g}", "correlation asked for"),
    ]


def _where(others: int) -> str:
    return {1: "the other run", 2: "both other runs"}.get(others, f"all {others} other runs")
