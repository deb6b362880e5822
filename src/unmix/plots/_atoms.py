"""The Venn regions of a structure as an UpSet picture, which stays readable where circles do not."""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes

from ..structure import Structure
from ._style import BLUE, axes_or_new, label_axis, labels, without_frame


def atoms(
    structure: Structure,
    ax: Axes | None = None,
    *,
    observed_names: Sequence[str] | None = None,
    latent_names: Sequence[str] | None = None,
) -> Axes:
    r"""Draw the atoms (non-empty Venn regions) of a structure as an UpSet picture.

    Each column is one region, i.e. the latents that reach exactly the observed variables with a full dot; the
    latents of the region are named above it. A region with one latent is what the theory can tell apart, a
    region with several is a block that structure alone can't separate.

    Parameters
    ----------
    structure, ax, observed_names, latent_names
        As for `unmix.plots.structure`.

    Returns
    -------
    matplotlib Axes

    References
    ----------
    Zheng et al. (2026), Diverse dictionary learning, Section 3 (atomic regions), arXiv:2604.17568.
    Lex et al. (2014), UpSet: visualization of intersecting sets.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> ax = atoms(Structure([[1, 0, 0], [1, 1, 1]]))
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['z1\nz2', 'z0']
    """
    ax = axes_or_new(ax)
    names = labels(latent_names, structure.n_latents, "z", "latent_names")
    regions = sorted(structure.atoms().items(), key=lambda atom: (len(atom[0]), sorted(atom[0])))
    neutral = ax.xaxis.label.get_color()
    for column, (observed, latents) in enumerate(regions):
        _column(ax, column, observed, structure.n_observed, BLUE if len(latents) == 1 else neutral)
    label_axis(ax.yaxis, labels(observed_names, structure.n_observed, "x", "observed_names"))
    ax.xaxis.tick_top()
    label_axis(ax.xaxis, ["\n".join(names[j] for j in sorted(latents)) for _, latents in regions])
    ax.set(
        xlim=(-0.6, len(regions) - 0.4), ylim=(structure.n_observed - 0.4, -0.6), ylabel="observed variables"
    )
    without_frame(ax)
    return ax


def _column(ax: Axes, column: int, observed: frozenset[int], n_observed: int, colour: Any) -> None:
    """Draw one region: empty dots for all observed variables, full dots and a stroke for its own."""
    others = [row for row in range(n_observed) if row not in observed]
    own = sorted(observed)
    ax.scatter(
        [column] * len(others), others, s=22, color=ax.xaxis.label.get_color(), alpha=0.16, linewidths=0
    )
    ax.plot([column] * len(own), own, color=colour, marker="o", markersize=6.5, linewidth=1.6)
