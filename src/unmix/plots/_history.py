"""The course of a fit: every term of the objective against the training step."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter

from ._style import CYCLE, axes_or_new, legend_above

MAX_POINTS = 400  # more would only make the file larger


def history(history: Any, ax: Axes | None = None) -> Axes:
    """Draw every term of a training history against the step, on a log scale where all are positive.

    Parameters
    ----------
    history : History, or mapping of str to sequence of float
        What `unmix.training.minimise` returns and estimators keep as `history_`, or its `terms`: one number
        per step and term. Long series are averaged over blocks of equal length.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> ax = history({"reconstruction": [4.0, 2.0, 1.0]})
    >>> ax.lines[0].get_ydata().tolist()
    [4.0, 2.0, 1.0]
    """
    terms = history if isinstance(history, Mapping) else history.terms
    if not terms or not all(len(term) for term in terms.values()):
        raise ValueError("`history` must hold at least one term with at least one step, got none. Fit first.")
    ax = axes_or_new(ax)
    taken = getattr(history, "steps", None)
    for k, (name, term) in enumerate(terms.items()):
        values = _blocks(np.asarray(term, dtype=float))
        steps = _blocks(np.arange(len(term)) if taken is None else np.asarray(taken, dtype=float))
        ax.plot(steps, values, label=name, color=CYCLE[k % len(CYCLE)], linewidth=1.4)
    if all(np.min(term) > 0 for term in terms.values()):
        _log_scale(ax)
    ax.set(xlabel="training step", ylabel="term of the objective")
    legend_above(ax, most=len(terms))
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _log_scale(ax: Axes) -> None:
    """Label 1, 2, 5, 10, ... in plain numbers, only powers of ten where there are many."""
    ax.set_yscale("log")
    low, high = ax.get_ylim()
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_locator(LogLocator(subs=(2.0, 5.0)))
    ax.yaxis.set_minor_formatter("{x:g}" if high / low < 300 else NullFormatter())


def _blocks(series: np.ndarray) -> np.ndarray:
    """Average a long series over blocks; the last, shorter block is kept."""
    starts = np.arange(0, len(series), int(np.ceil(len(series) / MAX_POINTS)))
    return np.add.reduceat(series, starts) / np.diff(np.append(starts, len(series)))
