"""Mixtures with inactive latents: which latents vary together, and how many in each component."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from unmix._findings import findings_of

from ._matrices import _matrix
from ._style import BLUE, CYCLE, axes_or_new, label_axis, labels, shades

MAX_PATTERNS = 40  # rows of the picture


def activity(
    source: Any,
    ax: Axes | None = None,
    *,
    latent_names: Sequence[str] | None = None,
    max_patterns: int = MAX_PATTERNS,
) -> Axes:
    """Draw the patterns of active latents as a heat map, the most frequent first.

    Parameters
    ----------
    source : fitted model, or bool array of shape (n_samples, n_latents)
        A model with `masks_` and `weights_`, or the activity of each sample, whose equal rows are counted.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    latent_names : sequence of str, optional
        Labels; z0, z1, ... by default.
    max_patterns : int
        Draw at most this many patterns.

    Returns
    -------
    matplotlib Axes
        Rows are patterns, labelled by their share of samples; a filled cell is a latent that varies.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> ax = activity([[1, 0], [0, 1], [1, 0], [1, 0]])
    >>> ax.images[0].get_array().astype(int).tolist()
    [[1, 0], [0, 1]]
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['75%', '25%']

    References
    ----------
    Xu, Lachapelle and Magliacane (2026), Assumption 3.8 (the index sets of components), arXiv:2604.13218.
    """
    masks, shares = patterns(source)
    if max_patterns < 1:
        raise ValueError(f"`max_patterns` must be at least 1, got {max_patterns}. {MAX_PATTERNS} fit a page.")
    ax = axes_or_new(ax)
    drawn = masks[:max_patterns]
    _matrix(ax, drawn.astype(float), shades(BLUE), low=0.0)
    label_axis(ax.yaxis, [f"{share:.2g}%" for share in 100 * shares[:max_patterns]])
    label_axis(ax.xaxis, labels(latent_names, masks.shape[1], "z", "latent_names"))
    left_out = f", {len(masks) - len(drawn)} more not drawn" if len(masks) > len(drawn) else ""
    ax.set(xlabel="latents", ylabel=f"patterns by share of samples{left_out}")
    return ax


def components(model: Any, ax: Axes | None = None) -> Axes:
    """Draw the weights of mixture components, stacked over their ranks.

    Parameters
    ----------
    model : fitted model, or bool array of shape (n_samples, n_latents)
        As for `activity`; the rank of a component is the number of latents that vary in it.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
        One segment per component, the heaviest at the bottom, above the number of its active latents.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> ax = components([[1, 0], [0, 1], [1, 1], [1, 0]])
    >>> [(round(bar.get_x() + 0.4), float(bar.get_height())) for bar in ax.patches]
    [(1, 0.5), (1, 0.25), (2, 0.25)]

    References
    ----------
    Xu, Lachapelle and Magliacane (2026), Section 2.2 (components and their ranks), arXiv:2604.13218.
    """
    masks, shares = patterns(model)
    ax = axes_or_new(ax)
    ranks, height = masks.sum(1), np.zeros(masks.shape[1] + 1)
    drawn = np.zeros(masks.shape[1] + 1, dtype=int)
    for rank, share in zip(ranks, shares, strict=True):
        alpha = 0.85 if drawn[rank] % 2 == 0 else 0.55  # neighbours in a stack differ
        ax.bar(rank, share, bottom=height[rank], color=CYCLE[0], alpha=alpha, width=0.8)
        height[rank] += share
        drawn[rank] += 1
    for rank in np.flatnonzero(drawn).tolist():
        ax.text(rank, height[rank], str(drawn[rank]), ha="center", va="bottom", fontsize="small")
    ax.set(xlabel="rank: number of active latents", ylabel="share of samples", ylim=(0, 1.12 * height.max()))
    ax.set_xticks(range(max(0, int(ranks.min()) - 1), min(masks.shape[1], int(ranks.max()) + 1) + 1))
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def patterns(source: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the different patterns and their shares, the most frequent first."""
    mixture = findings_of(source).mixture
    if mixture is not None and mixture.masks is not None:
        masks, counts = np.asarray(mixture.masks, dtype=bool), np.asarray(mixture.weights, dtype=float)
    else:
        masks, counts = np.unique(_checked(source), axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return masks[order], counts[order] / counts.sum()


def _checked(values: Any) -> np.ndarray:
    entries = np.asarray(values)
    if entries.ndim != 2 or not entries.size or not np.isin(entries, (0, 1)).all():
        raise ValueError(
            "`source` must be a model with `masks_` and `weights_`, or zeros and ones of shape (n_samples, "
            f"n_latents), got shape {entries.shape}. Pass a fitted PDGMM or the output of `activity`."
        )
    return entries.astype(bool)
