"""From two runs to one HTML file: whether they agree, up to what, and what is proved."""

from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes

from ..metrics import align
from ..metrics.alignment import CAVEAT
from ..plots._style import BLUE, GREY, label_axis, signed_shades
from ..theory import certify_pair
from ._bars import bar
from ._figures import svg
from ._replication import headed, view
from ._write import render

_MAPS = {
    "permutation": ("Signed permutation", "order and sign of latents only"),
    "rigid": ("Rotation and scale", "distances kept, latents mixed"),
    "linear": ("Linear map", "any invertible mixing"),
    "ica": ("ICA", "found in each run alone, then matched by order and sign"),
}
_HEADLINES = {
    "permutation": ("good", "The runs agree, latent by latent"),
    "rotation, removed by ICA": ("good", "The runs agree once ICA has removed a rotation"),
    "linear map, removed by ICA": ("good", "The runs agree once ICA has removed a linear map"),
    "rotation": ("care", "The runs agree up to a rotation"),
    "linear map": ("care", "The runs agree up to a linear map"),
    "partial": ("care", "The runs agree in part"),
    "none": ("stop", "The runs do not agree"),
}
MAX_DOTS, MAX_COLUMNS = 300, 40


def compare(
    path: str | Path,
    z1: Any,
    z2: Any,
    *,
    alignment: Any = None,
    certificate: Any = None,
    replication: Any = None,
    names: tuple[str, str] = ("run 1", "run 2"),
    title: str = "Do the two runs agree?",
    notes: str = "",
) -> Path:
    """Write one self-contained HTML page about two representations of the same inputs.

    Parameters
    ----------
    path, title, notes
        As for `write`.
    z1, z2 : array-like of shape (n_samples, n_codes1), (n_samples, n_codes2)
        Row i of both must come from the same input.
    alignment : Alignment, optional
        As returned by `unmix.metrics.align(z1, z2)`, which is called where this is not given.
    certificate : PairCertificate, optional
        As returned by `unmix.theory.certify_pair(z1, z2, scale=True)`, called where not given.
    replication : Replication, optional
        As returned by `unmix.metrics.replicate([z1, z2])`: adds the list of latents, with the verdicts on
        models that its `beside` was given.
    names : tuple of two str
        What the runs are called.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> import tempfile
    >>> z = np.random.default_rng(0).laplace(size=(300, 3))
    >>> page = compare(tempfile.mkdtemp() + "/runs.html", z, -z[:, ::-1])
    >>> "The runs agree, latent by latent" in page.read_text()
    True
    """
    found = align(z1, z2) if alignment is None else alignment
    proved = certify_pair(z1, z2, scale=True) if certificate is None else certificate
    first, second = np.asarray(z1, dtype=float), np.asarray(z2, dtype=float)
    tone, headline = _HEADLINES[found.agreement]
    return render(
        path,
        "comparison.html",
        title=title,
        notes=notes,
        names=names,
        tone=_toned(tone, replication),
        headline=headed(headline, replication),
        sentences=[
            found.meaning,
            *_caveat(found),
            *_known(replication),
            *(f"Note: {n}" for n in found.notes),
        ],
        facts=_facts(found),
        bars=_bars(found),
        scatters=_scatters(found, first, second),
        correlation=_correlation(found, first, second, names),
        proved=proved,
        view=None if replication is None else view(replication),
    )


def _caveat(found: Any) -> list[str]:
    """Say what agreement is not, wherever there is some."""
    return [] if found.agreement == "none" else [CAVEAT]


def _known(replication: Any) -> list[str]:
    return [] if replication is None else replication.known


def _toned(tone: str, replication: Any) -> str:
    """Let no page be green whose reference was judged and is not trusted throughout."""
    verdicts = {} if replication is None else replication.verdicts
    doubted = replication is not None and not verdicts.get(replication.names[0], True)
    return "care" if tone == "good" and doubted else tone


def _facts(found: Any) -> list[tuple[str, str, str]]:
    efficiency = "–" if np.isnan(found.efficiency) else f"{found.efficiency:.0%}"
    bound = "largest distance in run 2" if found.diameter_exact else "a lower bound, at least half of it"
    return [
        ("Samples", f"{found.shape1[0]:,}", f"{found.n_scored:,} scored"),
        ("Latents", f"{found.shape1[1]} and {found.shape2[1]}", "in run 1 and run 2"),
        ("Diameter", f"{found.diameter:.4g}", bound),
        ("ICA efficiency", efficiency, "share of the rotation that ICA removes"),
    ]


def _bars(found: Any) -> list[dict[str, Any]]:
    """Return one bar per map and one per mark, all on the scale of the longest."""
    entries = [(*_MAPS[name], error.mean, "ours") for name, error in found.errors.items()]
    entries += [
        ("Predict the mean", "no agreement at all", found.mean, "mark"),
        ("Shuffled rows, linear", "what chance fits", found.shuffled, "mark"),
    ]
    longest = max(value for *_, value, _ in entries)
    return [
        bar(label, kind, f"{value:.4f}", 100 * value / longest, detail)
        for label, detail, value, kind in entries
    ]


def _scatters(found: Any, first: np.ndarray, second: np.ndarray) -> list[Markup]:
    """Draw, map by map, what is predicted of run 2 along its widest direction against what is there."""
    a, b = first - first.mean(0), second - second.mean(0)
    axis = np.linalg.svd(b, full_matrices=False)[2][0]
    rows = np.random.default_rng(0).permutation(len(a))[:MAX_DOTS]
    maps = {
        name: error.matrix
        for name, error in found.errors.items()
        if error.matrix.shape == (a.shape[1], b.shape[1])
    }
    return [
        _scatter(_MAPS[name][0], a[rows] @ matrix @ axis, b[rows] @ axis, name)
        for name, matrix in maps.items()
    ]


def _scatter(label: str, predicted: np.ndarray, actual: np.ndarray, name: str) -> Markup:
    def draw(ax: Axes) -> None:
        ends = [actual.min(), actual.max()]
        ax.plot(ends, ends, color=GREY, linewidth=1)
        ax.scatter(predicted, actual, s=7, color=BLUE, alpha=0.55, linewidths=0)
        ax.set(title=label, xlabel="run 1, mapped", ylabel="run 2")
        ax.spines[["top", "right"]].set_visible(False)

    return svg(draw, name=f"scatter-{name}", label=f"{label}: mapped against actual", width=2.8, height=2.6)


def _correlation(found: Any, first: np.ndarray, second: np.ndarray, names: tuple[str, str]) -> Markup | None:
    """Draw the correlations of all columns, those of run 2 in the order of their partners."""
    if max(first.shape[1], second.shape[1]) > MAX_COLUMNS:
        return None
    pairs = np.argwhere(found.errors["permutation"].matrix != 0)
    order = [*pairs[:, 1].tolist(), *sorted(set(range(second.shape[1])) - set(pairs[:, 1].tolist()))]
    table = _correlations(first, second)[:, order]

    def draw(ax: Axes) -> None:
        ax.imshow(table, cmap=signed_shades("#e07b39", BLUE), vmin=-1, vmax=1, aspect="auto")
        label_axis(ax.yaxis, [str(j) for j in range(first.shape[1])])
        label_axis(ax.xaxis, [str(j) for j in order])
        ax.set(xlabel="latent of run 2", ylabel="latent of run 1")

    rows, columns = table.shape
    size = {
        "width": float(np.clip(1.4 + 0.4 * columns, 3.2, 6.4)),
        "height": float(np.clip(1 + 0.34 * rows, 2, 6)),
    }
    return svg(draw, name="columns", label=f"Correlations of {names[0]} with {names[1]}", **size)


def _correlations(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Correlate all columns; a constant column correlates with nothing."""
    a, b = (z - z.mean(0) for z in (first, second))
    lengths = np.linalg.norm(a, axis=0)[:, None] * np.linalg.norm(b, axis=0)
    return np.divide(a.T @ b, lengths, out=np.zeros(lengths.shape), where=lengths > 0)
