"""How many latents: the length of held-out codes, and what survives, against their number."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ._style import BLUE, GREEN, GREY, ORANGE, PURPLE, axes_or_new, legend_above


def latent_number(number: Any, *, agreement: Sequence[Any] = (), ax: Axes | None = None) -> Axes:
    """Draw the nats that each number of latents takes for a held-out row, and mark the chosen one.

    Parameters
    ----------
    number : Number
        As found by `unmix.choose` or `unmix.solvers.number.find_number`.
    agreement : sequence of Agreement, optional
        Of components of two halves, drawn on an axis of its own on the right, with what Gaussian data give.
    ax : Axes, optional

    Returns
    -------
    Axes

    Examples
    --------
    >>> from unmix.solvers.number import Number, Trial
    >>> trials = (Trial(0, 0, 4.0, False), Trial(1, 1, 2.0, False), Trial(2, 1, 1.9, True))
    >>> ax = latent_number(Number(1, 1, 2, 2.0, 0.1, 0.0, trials, 100, 20))
    >>> [line.get_label() for line in ax.lines]
    ['linear', 'bent', '1 latent']
    """
    ax = axes_or_new(ax)
    for bent, colour, name in ((False, BLUE, "linear"), (True, ORANGE, "bent")):
        ordered = sorted(((each[1], each[2]) for each in number.trials if each[3] == bent), reverse=True)
        shortest = sorted(dict(ordered).items())  # of several with as many latents
        if shortest:
            ax.plot(*np.array(shortest).T, color=colour, linewidth=1.4, marker="o", markersize=3, label=name)
    n = number.n_supported
    chosen = number.n_latents is not None
    words = f"{n} latent{'' if n == 1 else 's'}" if chosen else "nothing stops"
    ax.axvline(
        n, color=GREEN if chosen else GREY, linewidth=1.2, linestyle="-" if chosen else ":", label=words
    )
    ax.set(xlabel="latents", ylabel="nats for a held-out row")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if agreement:
        _survival(ax, agreement)
    legend_above(ax, most=5)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _survival(ax: Axes, agreement: Sequence[Any]) -> None:
    """Add what components of two halves have in common, and its null."""
    right = ax.twinx()
    n, found, null = np.array(agreement, dtype=float).T
    right.plot(n, found, color=PURPLE, linewidth=1.1, marker="s", markersize=3)
    right.plot(n, null, color=GREY, linewidth=1.1, linestyle="--")
    right.set(ylim=(0, 1.02), ylabel="agreement (dashed: null)")
    right.yaxis.label.set_color(PURPLE)
    right.spines[["top"]].set_visible(False)
