"""How often a verdict of some probability is right."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from ._style import BLUE, GREEN, GREY, ORANGE, axes_or_new

_COLOURS = {"none": ORANGE, "quick": GREEN, "full": BLUE}

Bin = tuple[float, float, float, float, int]


def reliability(
    bins: Mapping[str, Sequence[Bin]], *, threshold: float | None = None, ax: Axes | None = None
) -> Axes:
    """Draw a reliability diagram: the share that is right over the probability that was stated.

    Parameters
    ----------
    bins : mapping of str to sequence of (probability, share, low, high, count)
        For each effort the mean probability of each bin, the share of it that is right, the ends of the
        interval of that share, and how many there are.
    threshold : float, optional
        From which on a unit is trusted.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> ax = reliability({"quick": [(0.1, 0.0, 0.0, 0.3, 9), (0.95, 1.0, 0.8, 1.0, 20)]}, threshold=0.9)
    >>> ax.get_xlabel()
    'stated probability'
    """
    ax = axes_or_new(ax)
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle=":", zorder=1)
    for shift, (effort, rows) in enumerate(bins.items()):
        _curve(ax, np.array(rows, dtype=float), effort, 0.006 * (shift - (len(bins) - 1) / 2))
    if threshold is not None:
        ax.axvspan(threshold, 1.02, color=GREEN, alpha=0.08, linewidth=0)
        ax.text(threshold, 0.02, " trusted", color=GREY, fontsize="small")
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="stated probability", ylabel="share that is right")
    ax.legend(frameon=False, loc="upper left")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _curve(ax: Axes, rows: np.ndarray, effort: str, shift: float) -> None:
    p, share, low, high, count = rows.T
    reach = np.maximum([share - low, high - share], 0)
    colour = _COLOURS.get(effort, BLUE)
    ax.errorbar(p + shift, share, yerr=reach, color=colour, linewidth=1, elinewidth=1, label=effort, zorder=2)
    ax.scatter(p + shift, share, s=8 + 6 * np.sqrt(count), color=colour, linewidth=0, zorder=3)
