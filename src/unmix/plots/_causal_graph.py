"""A causal graph as circles and arrows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch

from ._style import BLUE, GREY, axes_or_new, labels

_RADIUS = 17.0  # of a node, in points


def causal_graph(adjacency: Any, ax: Axes | None = None, *, names: Sequence[str] | None = None) -> Axes:
    """Draw a graph of latents: arrows from causes to effects, lines where the direction is not known.

    Parameters
    ----------
    adjacency : array-like of shape (n_latents, n_latents)
        Entry (i, j) is 1 for i → j; both entries for an undirected edge, as `unmix.estimators.causal_graph`
        and `unmix.metrics.cpdag` return.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    names : sequence of str, optional
        Labels; z0, z1, ... by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> ax = causal_graph([[0, 1, 0], [0, 0, 1], [0, 1, 0]])  # z0 → z1 — z2
    >>> [patch.get_gid() for patch in ax.patches]
    ['0→1', '1—2']
    """
    edges = _checked(adjacency)
    ax = axes_or_new(ax)
    n = len(edges)
    angle = np.pi / 2 - 2 * np.pi * np.arange(n) / n  # clockwise from the top
    places = np.column_stack([np.cos(angle), np.sin(angle)]) * (n > 1)
    for i, j in np.argwhere(edges):
        if not edges[j, i] or i < j:
            ax.add_patch(_edge(places, int(i), int(j), directed=not edges[j, i]))
    across, up = places.T
    ax.scatter(across, up, s=3.2 * _RADIUS**2, facecolor="none", edgecolor=BLUE, linewidth=1.4)
    for i, name in enumerate(labels(names, n, "z", "names")):
        ax.text(across[i], up[i], name, ha="center", va="center")
    ax.set(xlim=(-1.35, 1.35), ylim=(-1.35, 1.35), aspect="equal")
    ax.set_axis_off()
    return ax


def _edge(places: np.ndarray, i: int, j: int, *, directed: bool) -> FancyArrowPatch:
    """Join two nodes, with a gap at their circles and a slight bend, so that no line hides another."""
    opposite = np.allclose(places[i], -places[j])
    patch = FancyArrowPatch(
        tuple(places[i]),
        tuple(places[j]),
        arrowstyle="-|>" if directed else "-",
        connectionstyle=f"arc3,rad={0.12 if opposite else 0.0}",
        shrinkA=_RADIUS,
        shrinkB=_RADIUS,
        mutation_scale=13,
        linewidth=1.5,
        color=BLUE if directed else GREY,
    )
    patch.set_gid(f"{i}→{j}" if directed else f"{i}—{j}")
    return patch


def _checked(adjacency: Any) -> np.ndarray:
    entries = np.asarray(adjacency)
    square = entries.ndim == 2 and entries.shape[0] == entries.shape[1] > 0
    if not square or not np.isin(entries, (0, 1)).all() or np.diagonal(entries).any():
        raise ValueError(
            "`adjacency` must be a square matrix of zeros and ones with an empty diagonal, got shape "
            f"{entries.shape}. Cut weights at a threshold first."
        )
    return entries.astype(bool)
