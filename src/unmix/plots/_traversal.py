"""What one latent does: move it through its range, hold the others, and watch the observed variables."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from unmix.structure import Structure

from ._style import CYCLE, GREY, axes_or_new, labels, legend_above

MAX_NAMED = len(CYCLE) - 1  # lines in colours of their own, with a name; the last colour is for the others


LONGEST, SHORT = 44, 10  # letters of a name, and of one that leaves room for others beside it


def traversal(
    model: Any,
    X: Any,
    latent: int,
    ax: Axes | None = None,
    *,
    observed_names: Sequence[str] | None = None,
    n_points: int = 61,
    max_lines: int = 40,
) -> Axes:
    """Draw how the reconstruction changes while one latent moves and the others rest at their median.

    Parameters
    ----------
    model : fitted estimator
        Anything with `transform` and `inverse_transform`; a `structure_` tells which variables should move.
    X : array of shape (n_samples, n_observed)
        Data that say where the latents live; the latent moves from its 2% to its 98% quantile.
    latent : int
        Which latent moves.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    observed_names : sequence of str, optional
        Labels; x0, x1, ... by default.
    n_points : int
        Number of positions of the latent.
    max_lines : int
        Draw at most this many observed variables, those that move most.

    Returns
    -------
    matplotlib Axes
        One line per observed variable, in standard deviations of that variable, zero where the latent is at
        its median. The five that move most have colours and names, the others are pale. Variables that
        `structure_` says do not depend on the latent are grey.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from types import SimpleNamespace
    >>> from unmix.structure import Structure
    >>> same = SimpleNamespace(transform=abs, inverse_transform=abs, structure_=Structure(np.eye(2)))
    >>> ax = traversal(same, np.array([[1.0, 5.0], [2.0, 3.0], [3.0, 1.0]]), 0)
    >>> [line.get_label() for line in ax.lines]
    ['_x1', 'x0']
    """
    codes = np.asarray(model.transform(X))
    if not 0 <= latent < codes.shape[1]:
        raise ValueError(f"`latent` must be from 0 to {codes.shape[1] - 1}, got {latent}.")
    (walk,) = walks(model.inverse_transform, codes, [latent], n_points)
    return draw_walk(
        walk,
        np.asarray(X).std(0),
        getattr(model, "structure_", None),
        axes_or_new(ax),
        observed_names=observed_names,
        max_lines=max_lines,
    )


class Walk(NamedTuple):
    """The positions of one latent, and the change of every observed variable at each."""

    latent: int
    places: np.ndarray
    changes: np.ndarray


def walks(
    decode: Callable[[np.ndarray], Any], codes: np.ndarray, latents: Sequence[int], n_points: int
) -> list[Walk]:
    """Move each latent through its range, the others at rest, and decode all positions in one call."""
    ranges = [np.quantile(codes[:, j], [0.02, 0.98]) for j in latents]
    steps = np.tile(np.median(codes, axis=0), (len(latents), n_points + 1, 1))
    for walk, j, (low, high) in zip(steps, latents, ranges, strict=True):
        walk[1:, j] = np.linspace(low, high, n_points)
    flat = steps.reshape(-1, codes.shape[1]).astype(codes.dtype)
    decoded = np.asarray(decode(flat)).reshape(*steps.shape[:2], -1)
    return [
        Walk(j, walk[1:, j], seen[1:] - seen[0])
        for j, walk, seen in zip(latents, steps, decoded, strict=True)
    ]


class Lines(NamedTuple):
    """The observed variables to draw, those that move most, and the colours of the foremost of them."""

    changes: np.ndarray
    drawn: list[int]
    colours: dict[int, str]
    reached: np.ndarray


def lines_of(walk: Walk, spread: np.ndarray, structure: Structure | None, max_lines: int) -> Lines:
    """Choose what to draw of a walk; changes are in standard deviations of the variables, `spread`."""
    changes = walk.changes / np.where(spread > 0, spread, 1.0)
    reached = np.ones(len(spread), bool) if structure is None else structure.support[:, walk.latent]
    most = np.argsort(-np.ptp(changes, axis=0), kind="stable")[:max_lines]
    foremost = most[reached[most]][:MAX_NAMED].tolist()
    colours = {i: CYCLE[rank] for rank, i in enumerate(foremost)}
    behind = sorted(most.tolist(), key=lambda i: (reached[i], i in colours, i))
    return Lines(changes, behind, colours, reached)


def draw_walk(
    walk: Walk,
    spread: np.ndarray,
    structure: Structure | None,
    ax: Axes,
    *,
    observed_names: Sequence[str] | None = None,
    max_lines: int = 40,
    legend: bool = True,
) -> Axes:
    """Draw a line per observed variable, in its standard deviations."""
    lines = lines_of(walk, spread, structure, max_lines)
    names = labels(observed_names, lines.changes.shape[1], "x", "observed_names", longest=LONGEST)
    for i in lines.drawn:
        style = _line(names[i], lines.colours.get(i), bool(lines.reached[i]))
        ax.plot(walk.places, lines.changes[:, i], **style)
    ax.set(xlabel=f"z{walk.latent}", ylabel="change in standard deviations")
    if legend:
        legend_above(ax, MAX_NAMED, stacked=max(map(len, names)) > SHORT)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _line(name: str, colour: str | None, reached: bool) -> dict[str, Any]:
    if colour is not None:
        return {"color": colour, "linewidth": 1.8, "label": name}
    pale = {"color": CYCLE[0], "alpha": 0.25} if reached else {"color": GREY, "alpha": 0.45}
    return pale | {"linewidth": 1.0, "label": f"_{name}"}
