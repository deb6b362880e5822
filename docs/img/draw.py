"""Draw the pictures that explain, from what they explain: python docs/img/draw.py."""

import matplotlib
import numpy as np
import torch
from ink import BLUE, GREY, ORANGE, plain, save
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from unmix.data import slots
from unmix.solvers.slots._search import influences, sparsest_slots
from unmix.structure import Structure
from unmix.theory import certify

SEVEN_REGIONS = Structure([[1, 0, 0, 1, 1, 0, 1], [0, 1, 0, 1, 0, 1, 1], [0, 0, 1, 0, 1, 1, 1]])


def mix(z: np.ndarray) -> np.ndarray:
    """Return x0 = z0 + sin(z0 + z1)/2, x1 = z1 + 0.3 sin(z1)."""
    return np.column_stack([z[:, 0] + 0.5 * np.sin(z.sum(1)), z[:, 1] + 0.3 * np.sin(z[:, 1])])


def shear(z: np.ndarray) -> np.ndarray:
    """Return the other latents that explain the same data as sparsely: z0 - z1 and z1."""
    return np.column_stack([z[:, 0] - z[:, 1], z[:, 1]])


def draw_shear() -> Figure:
    """Draw one cloud of data, and two sets of latents behind it; blue lines keep the true z0 fixed."""
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    z = np.random.default_rng(0).normal(size=(150, 2))
    lines = [np.column_stack([np.full(60, c), np.linspace(-2.4, 2.4, 60)]) for c in (-1.5, 0.0, 1.5)]
    panels = (
        ("the data", mix, "x0", "x1"),
        ("the truth", lambda a: a, "z0", "z1"),
        ("fits as well, as sparse", shear, "estimated z0", "estimated z1"),
    )
    for ax, (title, view, across, up) in zip(figure.subplots(1, 3), panels, strict=True):
        ax.scatter(*view(z).T, s=9, color=ORANGE, alpha=0.55, linewidths=0)
        for line in lines:
            ax.plot(*view(line).T, color=BLUE, linewidth=1.6)
        ax.set(xticks=[], yticks=[])
        plain(ax, title, across, up)
    return figure


def turn(z: np.ndarray, angle: float) -> np.ndarray:
    """Return the estimates of z0 and z1 where z2 is the given angle."""
    cos, sin = np.cos(angle), np.sin(angle)
    return z @ np.array([[cos, sin], [-sin, cos]])


def draw_turn() -> Figure:
    """Draw two latents with the same children, turned by an angle that a third one sets."""
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    z = np.random.default_rng(0).normal(size=(250, 2))
    lines = [np.column_stack([np.full(2, c), [-2.2, 2.2]]) for c in (-1.0, 0.0, 1.0)]
    panels = (
        ("the truth, whatever z2 is", 0.0, "z0", "z1"),
        ("estimates where z2 = -0.6", -0.6, "estimated z0", "estimated z1"),
        ("estimates where z2 = 0.6", 0.6, "estimated z0", "estimated z1"),
    )
    for ax, (title, angle, across, up) in zip(figure.subplots(1, 3), panels, strict=True):
        ax.scatter(*turn(z, angle).T, s=9, color=ORANGE, alpha=0.55, linewidths=0)
        for line in lines:
            ax.plot(*turn(line, angle).T, color=BLUE, linewidth=1.6)
        ax.set(xticks=[], yticks=[], xlim=(-3, 3), ylim=(-3, 3), aspect="equal")
        plain(ax, title, across, up)
    return figure


def draw_relations() -> Figure:
    """Draw the seven regions of three observed variables: what is stated, and what always follows."""
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    found = certify(SEVEN_REGIONS)
    paper_only = found.separated_in_paper & found.may_depend
    level = np.where(~found.may_depend, 2, np.where(paper_only, 1, 0))
    left, right = figure.subplots(1, 2, width_ratios=(1.15, 1))
    colours = matplotlib.colors.ListedColormap(["#00000000", ORANGE, BLUE])
    left.imshow(SEVEN_REGIONS.support, cmap=matplotlib.colors.ListedColormap(["#00000000", BLUE]), alpha=0.8)
    right.imshow(level, cmap=colours, alpha=0.8)
    latents = [f"z{j}" for j in range(7)]
    left.set(xticks=range(7), xticklabels=latents, yticks=range(3), yticklabels=["x0", "x1", "x2"])
    right.set(xticks=range(7), xticklabels=latents, yticks=range(7), yticklabels=latents)
    plain(left, "structure: which latent moves what", "latents", "observed variables")
    plain(
        right, "blue: row is free of the column's estimate\norange: only if independent", "estimates", "truth"
    )
    return figure


def columns(overlap: int, rows: int = 6) -> np.ndarray:
    """Return the Jacobian of two latents that move `rows` rows each, some in common."""
    jacobian = np.zeros((2 * rows - overlap, 2))
    jacobian[:rows, 0] = np.linspace(1, 2, rows)
    jacobian[rows - overlap :, 1] = 1
    return jacobian


def _bars(ax: Axes, jacobian: np.ndarray, labels: list[str], colours: list[str]) -> None:
    """Draw which rows each column moves, and how many."""
    for column, colour in enumerate(colours):
        moved = np.flatnonzero(np.abs(jacobian[:, column]) > 1e-9)
        ax.bar([column] * len(moved), 0.84, 0.66, bottom=moved - 0.42, color=colour, alpha=0.8)
    counts = (np.abs(jacobian) > 1e-9).sum(0)
    ticks = [f"{label}\n{count} rows" for label, count in zip(labels, counts, strict=True)]
    ax.set(xticks=range(len(ticks)), xticklabels=ticks, yticks=[], xlim=(-0.6, len(ticks) - 0.4))
    ax.set_ylim(len(jacobian) - 0.4, -0.6)


def draw_mechanisms() -> Figure:
    """Draw the four ways in which two slots can act independently."""
    figure = Figure(figsize=(10, 3.3), layout="constrained")
    disjoint, shadows, mixed, additive = figure.subplots(1, 4, width_ratios=(1, 1, 1.35, 1.25))
    _bars(disjoint, columns(0), ["slot 0", "slot 1"], [BLUE, ORANGE])
    plain(disjoint, "D: nothing shared", "", "observed variables")
    _bars(shadows, columns(3), ["slot 0", "slot 1"], [BLUE, ORANGE])
    plain(shadows, "M: each has own rows", "", "")
    overlap = columns(3)
    across = overlap[:, 0] - overlap[4, 0] * overlap[:, 1]  # cancels the fifth row, and no other
    _bars(mixed, np.column_stack([overlap, across]), ["slot 0", "slot 1", "a mixture"], [BLUE, ORANGE, GREY])
    plain(mixed, "S: mixtures move more", "", "")
    z0 = np.linspace(-2, 2, 80)
    for z1, colour in ((-1.0, GREY), (0.0, BLUE), (1.0, ORANGE)):
        additive.plot(z0, np.sin(z0) + z1, color=colour, linewidth=1.8, label=f"slot 1 at {z1:.0f}")
    additive.set(xticks=[], yticks=[])
    additive.legend(frameon=False, fontsize=8, labelcolor=GREY, loc="upper left")
    additive.set_ylim(-2.2, 3.4)
    plain(additive, "H$_2$: effects add up", "slot 0", "an observed variable")
    return figure


def draw_slots() -> Figure:
    """Draw what moves what in an arbitrary code, and after the search; slots share half of their rows."""
    data = slots(300, 3, 2, n_rows=12, overlap=0.5, random_state=0)
    mix = np.random.default_rng(0).normal(size=(6, 6))
    J = torch.tensor(data.mixing.jacobian(data.z) / data.x.std(0)[:, None] @ np.linalg.inv(mix))
    covariance = torch.tensor(mix @ mix.T)
    basis = sparsest_slots(influences(J), covariance, [2, 2, 2], torch.Generator().manual_seed(0))
    given = torch.diag(covariance.diagonal().rsqrt())
    panels = (("a code that explains the data", given), ("its sparsest slots", basis))
    figure = Figure(figsize=(7, 3.2), layout="constrained")
    for ax, (title, change) in zip(figure.subplots(1, 2), panels, strict=True):
        shown = (J @ torch.linalg.inv(change)).square().mean(0).sqrt().T.numpy()
        ax.imshow(shown, cmap="Blues", aspect="auto", vmin=0, vmax=0.8)
        ax.set(xticks=[], yticks=range(6))
        plain(ax, title, "observed variables", "latents")
        for edge in (1.5, 3.5) if change is basis else ():
            ax.axhline(edge, color=ORANGE, linewidth=1.6)
    return figure


if __name__ == "__main__":
    drawn = (draw_shear, draw_turn, draw_relations, draw_mechanisms, draw_slots)
    save({draw.__name__.removeprefix("draw_"): draw() for draw in drawn})
