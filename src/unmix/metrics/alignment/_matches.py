"""Which latent of another run is nearest: found on the rows to fit, tile by tile, judged on the others."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ._columns import Pair

_TILE = 2**25  # entries of a tile of the correlation matrix: 128 MB in single precision
_CHUNK = 512  # rows of a tile that are sorted at a time


class Matches(NamedTuple):
    """For each latent of the first run, by the rows to fit.

    `best` is its nearest latent of the second run, `strength` their |correlation|, `mutual` whether
    that one has no nearer latent in the first run, and `candidates` the nearest ones.
    """

    best: np.ndarray
    strength: np.ndarray
    mutual: np.ndarray
    candidates: np.ndarray


def tiles(n_first: int, n_second: int) -> Iterator[slice]:
    """Yield the columns of the second run, as many at a time as a tile holds."""
    size = max(1, _TILE // n_first)
    return (slice(start, min(start + size, n_second)) for start in range(0, n_second, size))


def match(pair: Pair, n_candidates: int) -> Matches:
    """Correlate all pairs of latents tile by tile, and keep the nearest of each.

    Latents are matched where each is the other's nearest. An assignment of all to all would cost the cube of
    the width, and differ only where two latents of one run are both near the same latent: two correlations
    of .9 with one latent mean at least .62 with each other.
    """
    first, second = pair.first, pair.second
    values = np.full((first.width, n_candidates), -1.0, dtype=first.dtype)
    index = np.zeros((first.width, n_candidates), dtype=np.int64)
    back = np.zeros(second.width, dtype=np.int64)
    for part in tiles(first.width, second.width):
        strength = _strength(pair, part)
        back[part] = strength.argmax(0)
        for start in range(0, first.width, _CHUNK):
            rows = slice(start, start + _CHUNK)
            values[rows], index[rows] = _nearest(values[rows], index[rows], strength[rows], part.start)
    mutual = (back[index[:, 0]] == np.arange(first.width)) & (values[:, 0] > 0)
    return Matches(index[:, 0], values[:, 0].astype(float), mutual, index)


def _strength(pair: Pair, part: slice) -> np.ndarray:
    """Return |correlation| of all latents of the first run with a tile of the second, on the rows to fit."""
    total = np.zeros((pair.first.width, part.stop - part.start), dtype=pair.first.dtype)
    for span in pair.split.spans():
        total += pair.first.take(span, 0).T @ pair.second.take(span, 0, part)
        pair.tick()
    return np.abs(np.divide(total, pair.split.n_fit, out=total), out=total)


def _nearest(
    values: np.ndarray, index: np.ndarray, strength: np.ndarray, offset: int
) -> tuple[np.ndarray, np.ndarray]:
    """Merge the nearest so far with a tile, strongest first."""
    n_kept = values.shape[1]
    if strength.shape[1] > n_kept:
        local = np.argpartition(-strength, n_kept - 1, axis=1)[:, :n_kept]
        strength = np.take_along_axis(strength, local, axis=1)
    else:
        local = np.broadcast_to(np.arange(strength.shape[1]), strength.shape)
    values, index = np.hstack([values, strength]), np.hstack([index, local + offset])
    order = np.argsort(-values, axis=1, kind="stable")[:, :n_kept]
    return np.take_along_axis(values, order, axis=1), np.take_along_axis(index, order, axis=1)


class Judged(NamedTuple):
    """The correlation of each latent with its match on the rows held out, and the kurtosis of all latents of
    both runs, in the rows to fit and in those held out.
    """

    correlation: np.ndarray
    kurtosis1: np.ndarray
    kurtosis2: np.ndarray


def judge(pair: Pair, best: np.ndarray) -> Judged:
    """Correlate each latent with its match on rows that had no part in choosing it."""
    n_held = pair.split.n_held
    sizes = np.array([[pair.split.n_fit], [n_held]])
    product, fourth1, fourth2 = (
        np.zeros(len(best)),
        np.zeros((2, len(best))),
        np.zeros((2, pair.second.width)),
    )
    for span in pair.split.spans():
        for part, (a, b) in enumerate(zip(pair.first.both(span), pair.second.both(span), strict=True)):
            fourth1[part] += ((a * a) ** 2).sum(0)
            fourth2[part] += ((b * b) ** 2).sum(0)
        product += np.einsum("ij,ij->j", a, b[:, best])  # of the part held out, which comes last
        pair.tick()
    return Judged(np.clip(product / n_held, -1, 1), fourth1 / sizes, fourth2 / sizes)
