"""Draw what the library is for: python docs/img/draw_before_after.py.

Hidden variables, two of the variables that are observed, and two fits that reconstruct these equally well.
"""

import numpy as np
from ink import GREY, save
from matplotlib.axes import Axes
from matplotlib.colors import hsv_to_rgb
from matplotlib.figure import Figure

import unmix

SHOWN, FIT = 500, {"max_iter": 100, "batch_size": 200, "random_state": 0}


def draw_before_after() -> Figure:
    """Draw four planes of the same rows, coloured by the hidden variables."""
    data = unmix.data.sparse_mixing(2000, n_latents=4, n_observed=16, latents="uniform", random_state=0)
    plain = unmix.Autoencoder(4, **FIT).fit_transform(data.x)
    found = unmix.DiverseDictionaryLearning(4, n_restarts=2, **FIT).fit_transform(data.x)
    panels = {
        "hidden": data.z[:, :2],
        "observed: 2 of 16": data.x[:, :2],
        f"autoencoder, MCC {unmix.metrics.mcc(data.z, plain):.2f}": matched(data.z, plain),
        f"Unmix, MCC {unmix.metrics.mcc(data.z, found):.2f}": matched(data.z, found),
    }
    figure = Figure(figsize=(9, 2.6), layout="constrained")
    for ax, (title, plane) in zip(figure.subplots(1, 4), panels.items(), strict=True):
        panel(ax, title, plane[:SHOWN], colours(data.z[:SHOWN, :2]))
    return figure


def matched(z: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return the codes of the first two latents, with their signs: the best that can be said for a fit."""
    codes = codes[:, unmix.metrics.match_components(z, codes).order]
    signs = np.sign([np.corrcoef(z[:, j], codes[:, j])[0, 1] for j in range(2)])
    return codes[:, :2] * signs


def colours(z: np.ndarray) -> np.ndarray:
    """Return a colour for each place of a plane: hue by one axis, brightness by the other."""
    across, up = np.argsort(np.argsort(z, axis=0), axis=0).T / len(z)
    return hsv_to_rgb(np.column_stack([0.55 + 0.5 * across, np.full(len(z), 0.75), 0.45 + 0.5 * up]) % 1.0001)


def panel(ax: Axes, title: str, plane: np.ndarray, shades: np.ndarray) -> None:
    """Draw one plane without numbers."""
    ax.scatter(*plane.T, c=shades, s=5, linewidths=0)
    ax.set(xticks=[], yticks=[])
    ax.set_title(title, color=GREY, fontsize=10)
    for spine in ax.spines.values():
        spine.set_color(GREY)


if __name__ == "__main__":
    save({"before_after": draw_before_after()})
