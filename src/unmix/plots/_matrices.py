"""Two matrices as pictures: which observed variable depends on which latent, and truth against estimate."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ..metrics import Matching
from ..structure import Structure
from ._style import BLUE, ORANGE, axes_or_new, label_axis, labels, shades, signed_shades, without_frame

MAX_NUMBERS = 12  # larger matrices are read by colour alone


def structure(
    structure: Structure,
    ax: Axes | None = None,
    *,
    strength: np.ndarray | None = None,
    observed_names: Sequence[str] | None = None,
    latent_names: Sequence[str] | None = None,
) -> Axes:
    """Draw a dependency structure as a heat map: observed variables in rows, latents in columns.

    Parameters
    ----------
    structure : Structure
        The structure, of shape (n_observed, n_latents).
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    strength : array of shape (n_observed, n_latents), optional
        Relative magnitudes in [0, 1] to shade by; the edges of the structure are then marked with a dot.
    observed_names, latent_names : sequence of str, optional
        Labels; x0, x1, ... and z0, z1, ... by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> ax = structure(Structure([[1, 0], [1, 1]]))
    >>> ax.images[0].get_array().astype(int).tolist()
    [[1, 0], [1, 1]]
    """
    ax = axes_or_new(ax)
    shade = structure.support.astype(float) if strength is None else _checked_strength(strength, structure)
    _matrix(ax, shade, shades(BLUE), low=0.0)
    if strength is not None:
        rows, columns = np.nonzero(structure.support)
        ax.scatter(columns, rows, s=9, color=ax.xaxis.label.get_color(), linewidths=0)
    label_axis(ax.yaxis, labels(observed_names, structure.n_observed, "x", "observed_names"))
    label_axis(ax.xaxis, labels(latent_names, structure.n_latents, "z", "latent_names"))
    ax.set(xlabel="latents", ylabel="observed variables")
    return ax


def correlation(
    matching: Matching,
    ax: Axes | None = None,
    *,
    true_names: Sequence[str] | None = None,
    estimated_names: Sequence[str] | None = None,
) -> Axes:
    """Draw the signed correlations of true and estimated latents, the estimated ones in matched order.

    A recovered latent shows one strong cell on the diagonal and nothing else in its row and column. Its sign
    carries no meaning, since no method of this library can know it.

    Parameters
    ----------
    matching : Matching
        As returned by `unmix.metrics.match_components`.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    true_names, estimated_names : sequence of str, optional
        Labels, the estimated ones in their own (unmatched) order.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from unmix.metrics import match_components
    >>> z = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0], [3.0, 2.0]])
    >>> ax = correlation(match_components(z, -z[:, ::-1]))
    >>> ax.images[0].get_array().diagonal().round(6).tolist()
    [-1.0, -1.0]
    """
    ax = axes_or_new(ax)
    n_true, n_estimated = matching.correlation.shape
    columns = _matched_first(matching.order, n_estimated)
    values = matching.correlation[:, columns]
    _matrix(ax, values, signed_shades(ORANGE, BLUE), low=-1.0)
    if max(values.shape) <= MAX_NUMBERS:
        _write_numbers(ax, values)
    estimated = labels(estimated_names, n_estimated, "ẑ", "estimated_names")
    label_axis(ax.yaxis, labels(true_names, n_true, "z", "true_names"))
    label_axis(ax.xaxis, [estimated[k] for k in columns])
    ax.set(xlabel="estimated latents, matched", ylabel="true latents")
    return ax


def _matrix(ax: Axes, values: np.ndarray, colours: Any, *, low: float) -> None:
    ax.imshow(values, cmap=colours, vmin=low, vmax=1.0, aspect="auto", interpolation="none")
    ax.set_xticks(np.arange(values.shape[1] + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(values.shape[0] + 1) - 0.5, minor=True)
    ax.grid(which="minor", linewidth=0.6 if max(values.shape) <= 40 else 0.0, alpha=0.6)
    ax.tick_params(which="minor", length=0)
    without_frame(ax)


def _write_numbers(ax: Axes, values: np.ndarray) -> None:
    for (row, column), value in np.ndenumerate(values):
        if abs(value) >= 0.1:
            ax.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize="small")


def _matched_first(order: Any, n_estimated: int) -> list[int]:
    """List the matched codes in the order of their factors, then the codes that nothing was matched to."""
    matched = [int(code) for code in order if code >= 0]
    return matched + [code for code in range(n_estimated) if code not in matched]


def _checked_strength(strength: np.ndarray, structure: Structure) -> np.ndarray:
    values = np.asarray(strength, dtype=float)
    if values.shape != structure.shape or not ((values >= 0) & (values <= 1)).all():
        raise ValueError(
            f"`strength` must hold numbers in [0, 1] of shape {structure.shape}, got shape {values.shape}. "
            "Divide each row of E|J| by its maximum."
        )
    return values
