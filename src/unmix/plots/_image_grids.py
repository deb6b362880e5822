"""Grids of images, each of which says what it shows: reconstructions, traversals, swaps, slopes."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from ._image_words import (
    MAX_LATENTS,
    checked_latents,
    checked_pair,
    checked_rows,
    checked_steps,
    column_names,
    hat,
    heading,
    name,
    ordered,
    percent,
    range_words,
    rank,
    reach_words,
    row_name,
    signed_words,
    slope_meaning,
)
from ._looking import Look, Strip, Swaps, swapped
from ._pixels import coloured, signed
from ._style import GREY
from ._tiles import draw_grid, frame, strip_tiles, told


def image_reconstructions(
    model: Any,
    X: Any,
    ax: Axes | None = None,
    *,
    rows: Sequence[int] | None = None,
    n: int = 8,
    ids: Sequence[Any] | None = None,
) -> Axes:
    """Draw images above what a model makes of them, and the difference below.

    Parameters
    ----------
    model : fitted estimator or pipeline of images
    X : array of shape (n_samples, height, width, channels)
        Bytes, or floats from 0 to 1.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    rows : sequence of int, optional
        Which images; by default `n` that are spread over the data.
    n : int
        Number of images, where `rows` does not name them.
    ids : sequence, optional
        Names of all images; by default they are numbered.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from types import SimpleNamespace
    >>> flat = SimpleNamespace(transform=lambda x: x.reshape(len(x), -1),
    ...                        inverse_transform=lambda z: z.reshape(len(z), 1, 2, 1))
    >>> ax = image_reconstructions(flat, np.eye(2).reshape(2, 1, 2, 1))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['image', 'reconstruction', 'difference']
    """
    look = Look(model, X)
    return draw_reconstructions(look, checked_rows(look, rows, n), ax, ids=ids)


def draw_reconstructions(look: Look, rows: Sequence[int], ax: Axes | None = None, *, ids: Any = None) -> Axes:
    """Draw the reconstructions of some rows."""
    seen, found = look.reconstructions(rows)
    wrong = found - seen
    tiles = np.stack([coloured(seen), coloured(found), signed(wrong, 1.0)])
    names = [row_name(row, ids) for row in rows]
    ax = draw_grid(tiles, ax, rows=("image", "reconstruction", "difference"), columns=names)
    about = f"Reconstructions of {len(rows)} images"
    return told(ax, about, f"The difference is reconstruction minus image: {signed_words(wrong)}.")


def image_traversals(
    model: Any,
    X: Any,
    ax: Axes | None = None,
    *,
    latents: Sequence[int] | None = None,
    row: int | None = None,
    n_steps: int = 9,
    trust: Any = None,
    ids: Sequence[Any] | None = None,
) -> Axes:
    """Draw what each latent does to one image: a row per latent, which moves while the others stay.

    The middle column is the reconstruction of the image. To its left the latent goes down to its 2% quantile
    in the data, to its right up to its 98% quantile; one that takes few values goes through these, and the
    image's own is framed. A latent that moves no pixel by more than one grey level is called dead, and pale.

    Parameters
    ----------
    model, X, ax, ids
        As for `image_reconstructions`.
    latents : sequence of int, optional
        Which latents; by default all, at most 24, the trusted first, then those that move most.
    row : int, optional
        Which image; by default one in the middle of the data.
    n_steps : int
        Positions of each latent, an odd number of at least 3.
    trust : Trust, optional
        Verdicts to write beside the latents and to sort by, as `unmix.trust` returns.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from types import SimpleNamespace
    >>> flat = SimpleNamespace(transform=lambda x: x.reshape(len(x), -1),
    ...                        inverse_transform=lambda z: z.reshape(len(z), 1, 2, 1))
    >>> X = np.random.default_rng(0).uniform(size=(100, 1, 2, 1)) * np.array([1.0, 0.001]).reshape(2, 1)
    >>> print(image_traversals(flat, X, n_steps=3).get_yticklabels()[1].get_text())
    ẑ1, dead
    −1.7 to 1.4 sd
    """
    look = Look(model, X)
    chosen = look.centre if row is None else checked_rows(look, [row])[0]
    strips = look.strips(checked_latents(look, latents), chosen, checked_steps(n_steps))
    shown = strips if latents is not None else ordered(strips, trust)[:MAX_LATENTS]
    return draw_traversals(look, shown, chosen, ax, trust=trust, ids=ids)


def draw_traversals(
    look: Look,
    strips: Sequence[Strip],
    row: int,
    ax: Axes | None = None,
    *,
    trust: Any = None,
    ids: Any = None,
) -> Axes:
    """Draw strips as they come."""
    tiles = np.stack([strip_tiles(strip, max(len(each.values) for each in strips)) for strip in strips])
    labels = [f"{heading(strip, trust)}\n{range_words(look, strip)}" for strip in strips]
    ax = draw_grid(tiles, ax, rows=labels, columns=column_names(strips))
    for k, strip in enumerate(strips):
        frame(ax, k, strip.here, tiles.shape[2:4])
    about = f"What each latent does to {row_name(row, ids)}"
    moves = "One latent moves, the others stay as they are. Framed: the reconstruction of the image."
    return told(ax, about, f"{moves} {reach_words(look, [strip.latent for strip in strips])}.")


def image_swaps(
    model: Any,
    X: Any,
    ax: Axes | None = None,
    *,
    rows: Sequence[int] | None = None,
    latents: Sequence[int] | None = None,
    ids: Sequence[Any] | None = None,
) -> Axes:
    """Draw two images that exchange latents, a column per latent.

    Upper row: the first image with this one latent of the second. Middle: the second with this one of the
    first. Lower: the first with all latents of the second from the left up to this one, so that, where all
    latents are shown, it ends with the reconstruction of the second.

    Parameters
    ----------
    model, X, ax, ids
        As for `image_reconstructions`.
    rows : pair of int, optional
        Which two images; by default one in the middle of the data and one far from it.
    latents : sequence of int, optional
        Which latents, in the order in which they are exchanged; by default all, at most 24.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from types import SimpleNamespace
    >>> flat = SimpleNamespace(transform=lambda x: x.reshape(len(x), -1),
    ...                        inverse_transform=lambda z: z.reshape(len(z), 1, 2, 1))
    >>> ax = image_swaps(flat, np.random.default_rng(0).uniform(size=(10, 1, 2, 1)), rows=(3, 5))
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['as it is', 'ẑ0', 'ẑ1']
    """
    look = Look(model, X)
    pair = look.pair if rows is None else checked_pair(look, rows)
    shown = checked_latents(look, latents)[: MAX_LATENTS if latents is None else None]
    found = swapped(look.decode, look.code(pair[0]), look.code(pair[1]), shown)
    return draw_swaps(found, pair, shown, ax, ids=ids)


def draw_swaps(
    found: Swaps, pair: tuple[int, int], latents: Sequence[int], ax: Axes | None = None, *, ids: Any = None
) -> Axes:
    """Draw the swaps of two rows."""
    first, second = (row_name(row, ids) for row in pair)
    ends = found.ends[[0, 1, 0], None]
    tiles = np.concatenate([ends, np.stack([found.one, found.other, found.up_to])], axis=1)
    labels = (
        f"{first},\none latent of {second}",
        f"{second},\none latent of {first}",
        f"{first},\nall up to here of {second}",
    )
    ax = draw_grid(coloured(tiles), ax, rows=labels, columns=["as it is", *map(hat, latents)])
    about = f"Latents exchanged between {first} and {second}"
    rest = "In the lowest row all latents from the left up to the one named are exchanged."
    return told(ax, about, f"Above each column the latent that is taken from the other image. {rest}")


def image_jacobian(
    model: Any,
    X: Any,
    ax: Axes | None = None,
    *,
    latents: Sequence[int] | None = None,
    rows: Sequence[int] | None = None,
    n: int = 3,
    trust: Any = None,
    ids: Sequence[Any] | None = None,
) -> Axes:
    """Draw what each latent moves, with its sign: columns of the decoder's Jacobian, as pictures.

    Each is the slope at one image, times one standard deviation of the latent. Pictures of three channels
    stay medium grey where nothing moves; those of one channel are white there, blue where the picture gets
    brighter and orange where it gets darker. The largest change of each latent has full colour, and is
    written beside it. Models that do not know their slopes show the change over one standard deviation, and
    latents that take few values the change from the value below to the one above.

    Parameters
    ----------
    model, X, ax, ids
        As for `image_reconstructions`.
    latents : sequence of int, optional
        Which latents; by default all, at most 24, the trusted first, then those that move most.
    rows : sequence of int, optional
        At which images; by default at `n` that are spread over the data.
    n : int
        Number of images, where `rows` does not name them.
    trust : Trust, optional
        Verdicts to write beside the latents and to sort by, as `unmix.trust` returns.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> from types import SimpleNamespace
    >>> flat = SimpleNamespace(transform=lambda x: x.reshape(len(x), -1),
    ...                        inverse_transform=lambda z: z.reshape(len(z), 1, 2, 1))
    >>> ax = image_jacobian(flat, np.random.default_rng(0).uniform(size=(50, 1, 2, 1)), n=2)
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['row 0', 'row 49']
    """
    look = Look(model, X)
    shown, at = checked_latents(look, latents), checked_rows(look, rows, n)
    slopes = look.slopes(at)
    if latents is None:
        size = np.square(slopes).mean((0, 2, 3, 4))
        shown = sorted(shown, key=lambda j: (rank(trust, j), -size[j]))[:MAX_LATENTS]
    return draw_jacobian(look, slopes, shown, at, ax, trust=trust, ids=ids)


def draw_jacobian(
    look: Look,
    slopes: np.ndarray,
    latents: Sequence[int],
    rows: Sequence[int],
    ax: Axes | None = None,
    *,
    trust: Any = None,
    ids: Any = None,
    dead: Collection[int] = (),
) -> Axes:
    """Draw slopes of shape (n_rows, n_latents, height, width, channels), below the images they belong to."""
    largest = [float(np.abs(slopes[:, j]).max()) for j in latents]
    found = coloured(look.reconstructions(rows)[1])
    pictures = [signed(slopes[:, j], size) for j, size in zip(latents, largest, strict=True)]
    labels = [
        f"{f'{hat(j)}, dead' if j in dead else name(j, trust)}\nat most {percent(size)}"
        for j, size in zip(latents, largest, strict=True)
    ]
    columns = [row_name(row, ids) for row in rows]
    tiles = np.stack([found, *pictures])
    ax = draw_grid(tiles, ax, rows=["reconstruction", *labels], columns=columns)
    for row, column in np.ndindex(tiles.shape[:2]):  # what does not move may be as white as the paper
        frame(ax, row, column, tiles.shape[2:4], colour=GREY, width=0.4)
    per = f"Change of the picture where {slope_meaning(look, latents)}, in % of full brightness"
    scale = "Each latent has its own scale."
    return told(ax, "What each latent moves", f"{per}: {signed_words(slopes)}. {scale}")
