"""Draw the pictures of the page on trust: python docs/img/draw_trust.py.

Zeros of the sparsest directions are counted in matrices drawn here; links are measured on two fits, one of
data that sparsity identifies and one of data in which nothing is identified.
"""

from collections.abc import Callable
from itertools import combinations

import numpy as np
from ink import BLUE, GREY, ORANGE, plain, save
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import unmix
from unmix.theory import variables_needed

N, RESOLUTION, DRAWS = 4, 0.05, 20
SIZES = range(N, 31, 2)
ROWS, OBSERVED = 2000, 16

Rng = np.random.Generator


def sparse(d: int, rng: Rng) -> np.ndarray:
    """Return loadings of d variables on N latents, two parents each."""
    support = np.array([rng.permutation(N) < 2 for _ in range(d)])
    return rng.normal(size=(d, N)) * support


def dense(d: int, rng: Rng) -> np.ndarray:
    """Return loadings in general position."""
    return rng.normal(size=(d, N))


def signs(d: int, rng: Rng) -> np.ndarray:
    """Return loadings of equal size, so that every row is a pattern of signs."""
    return rng.choice([-1.0, 1.0], (d, N))


def most_zeros(loadings: np.ndarray) -> int:
    """Return how many variables the sparsest direction leaves alone, of all that leave N - 1 by choice."""
    rows = loadings / np.linalg.norm(loadings, axis=1, keepdims=True)
    chosen = rows[list(combinations(range(len(rows)), N - 1))]
    directions = np.linalg.svd(chosen)[2][:, -1]
    return int((np.abs(directions @ rows.T) < RESOLUTION).sum(1).max())


def draw_zeros() -> Figure:
    """Draw the zeros of the sparsest direction against the number of variables, for three kinds of mixing."""
    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    ax = figure.subplots()
    _zeros(ax, sparse, "sparse: two parents each", BLUE)
    _zeros(ax, signs, "dense, loadings of equal size", GREY)
    _zeros(ax, dense, "dense, in general position", ORANGE)
    ax.axhline(N - 1, color=GREY, linewidth=0.8, linestyle=":")
    ax.text(SIZES[-1], N - 1.2, "free, whatever the truth", color=GREY, fontsize=8, ha="right", va="top")
    enough = variables_needed(N, 2, resolution=RESOLUTION).n_observed
    ax.axvline(enough, color=GREY, linewidth=0.8, linestyle="--")
    across = "observed variables (dashed: enough by variables_needed)"
    plain(ax, f"{N} latents", across, "zeros of the sparsest direction", size=10)
    ax.set(ylim=(0, None))
    ax.legend(frameon=False, fontsize=8, labelcolor=GREY, loc="upper left")
    return figure


def _zeros(ax: Axes, kind: Callable[[int, Rng], np.ndarray], label: str, colour: str) -> None:
    rng = np.random.default_rng(0)
    found = np.array([[most_zeros(kind(d, rng)) for _ in range(DRAWS)] for d in SIZES])
    ax.plot(SIZES, found.mean(1), color=colour, linewidth=1.6, marker="o", markersize=4, label=label)
    ax.fill_between(SIZES, found.min(1), found.max(1), color=colour, alpha=0.15, linewidth=0)


def draw_links() -> Figure:
    """Draw the strength of each link for each latent, where latents are identified and where none is."""
    figure = Figure(figsize=(8.4, 3.2), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True, sharex=True)
    _links(left, _identified(), "sparse mixing", BLUE)
    _links(right, _nothing(), "Gaussian latents, dense linear mixing", ORANGE)
    left.invert_yaxis()
    return figure


def _identified() -> np.ndarray:
    return unmix.data.sparse_mixing(
        ROWS, n_latents=N, n_observed=OBSERVED, latents="laplace", random_state=0
    ).x


def _nothing() -> np.ndarray:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(ROWS, N)) @ dense(OBSERVED, rng).T
    return x + 0.05 * x.std(0) * rng.normal(size=x.shape)


def _links(ax: Axes, x: np.ndarray, title: str, colour: str) -> None:
    model = unmix.DiverseDictionaryLearning(N, max_iter=100, n_restarts=2, random_state=0).fit(x)
    links = [each for each in unmix.trust(model, x, random_state=0).evidence if each.checked]
    for place, each in enumerate(links):
        ax.scatter(each.strength, np.full(N, place), s=26, color=colour, alpha=0.6, linewidths=0)
    ax.axvline(0, color=GREY, linewidth=0.8, linestyle=":")
    plain(ax, title, "strength: against  |  for", "", size=10)
    ax.set_yticks(range(len(links)), [each.name for each in links])


if __name__ == "__main__":
    save({"trust_zeros": draw_zeros(), "trust_links": draw_links()})
