"""Values of rest: how often each latent sits at one value while another varies, beside what smooth laws show.

A latent of a degenerate mixture rests at one value in some components. A sum of it and another latent rests
only where both do. So what protects latent j from being mixed with k are the samples in which j rests while k
varies: they are counted within a narrow strip around the value of rest of j, and compared with the two strips
beside it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment

from unmix._threads import threads
from unmix.solvers.sparse_rows import SEARCHED, share_off, sparsest_rows

SCALES = (0.01, 0.02, 0.04, 0.08, 0.16)  # half widths of a strip, in standard deviations of the latent
SMOOTH = 2.0  # samples in a strip over those beside it: at most 1.3 for normal laws, 2 for Laplace ones
_VARIES = 0.25  # standard deviations from rest, beyond which a latent varies
_SPARSER = 0.98  # share off rest, of the one that another basis must have to be sparser
_MODE = 0.1  # share of samples in the shortest interval, whose middle is taken for the value of rest


@dataclass(frozen=True, eq=False)
class Rest:
    """Samples at rest and beside it, for each latent j while another one k varies; for j = k all samples.

    Attributes
    ----------
    inside, beside : ndarray of shape (n_scales, n_latents, n_latents)
        Counts in the strip around the rest of j, and in the two strips beside it that together are as wide.
    """

    inside: np.ndarray
    beside: np.ndarray

    @property
    def z(self) -> np.ndarray:
        """For each pair by how many standard errors more rest than a smooth law has, at the best scale."""
        excess = self.inside - SMOOTH * self.beside
        return (excess / np.sqrt(self.inside + SMOOTH**2 * self.beside + 1)).max(0)

    @property
    def ratio(self) -> np.ndarray:
        """For each pair how many times more samples are at rest than beside it, where `z` is taken."""
        excess = self.inside - SMOOTH * self.beside
        best = (excess / np.sqrt(self.inside + SMOOTH**2 * self.beside + 1)).argmax(0)[None]
        inside, beside = (np.take_along_axis(part, best, 0)[0] for part in (self.inside, self.beside))
        return (inside + 1) / (beside + 1)


def count(values: np.ndarray, spread: np.ndarray | None = None) -> Rest:
    """Count samples at zero, where latents rest, and beside it.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_latents)
        Distances of each latent from its rest, with a sign.
    spread : ndarray of shape (n_latents,), optional
        The unit of each latent, by default the standard deviation of its values.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> alone = rng.normal(size=(1000, 2)) * (rng.random((1000, 2)) < 0.5)
    >>> together = rng.normal(size=(1000, 2)) * (rng.random((1000, 1)) < 0.5)
    >>> (count(alone).z > 10).tolist(), (count(together).z > 10).tolist()
    ([[True, True], [True, True]], [[True, False], [False, True]])
    """
    spread = values.std(0) if spread is None else spread
    size = np.abs(values) / np.where(spread > 0, spread, np.inf)
    varies = (size > _VARIES).astype(float)
    strips = [(size < s, (size >= s) & (size < 2 * s)) for s in SCALES]
    tables = [[_paired(strip & (spread > 0), varies) for strip in pair] for pair in strips]
    return Rest(*(np.array(part) for part in zip(*tables, strict=True)))


def second_rest(values: np.ndarray) -> np.ndarray:
    """Return for each latent the z of a second value that it takes often, among the samples off its rest.

    >>> rng = np.random.default_rng(0)
    >>> values = rng.choice([-1.0, 0.0, 1.0], size=(500, 2))
    >>> values[:, 1] *= rng.normal(size=500)
    >>> (second_rest(values) > 5).tolist()
    [True, False]
    """
    return np.array([_second(column[:, None]) for column in values.T])


def _second(column: np.ndarray) -> float:
    spread = column.std(0)
    off = column[(np.abs(column) > _VARIES * spread).any(1)]
    return float(count(off - rest_values(off), spread).z[0, 0]) if len(off) > 1 else 0.0


def _paired(strip: np.ndarray, varies: np.ndarray) -> np.ndarray:
    counts = strip.T.astype(float) @ varies
    np.fill_diagonal(counts, strip.sum(0))
    return counts


def rest_values(codes: np.ndarray) -> np.ndarray:
    """Return for each latent the middle of the shortest interval that holds a tenth of the samples.

    >>> rest_values(np.array([[3.0], [3.0], [3.0], [0.0], [9.0]])).tolist()
    [3.0]
    """
    ordered = np.sort(codes, axis=0)
    k = min(max(2, int(_MODE * len(codes))), len(codes))
    first = (ordered[k - 1 :] - ordered[: len(codes) - k + 1]).argmin(0)
    columns = np.arange(codes.shape[1])
    return 0.5 * (ordered[first, columns] + ordered[first + k - 1, columns])


def moved(model: Any, codes: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """Return how far x moves when one latent of a sample is put to rest, in standard deviations of x.

    A code may pile up values at one point by squeezing what lies around it; distances in x undo that.
    """
    decoded = model.inverse_transform(codes)
    spread = decoded.std(0)
    unit = np.where(spread > 0, spread, 1)
    away = np.empty_like(codes)
    for j, value in enumerate(rest):
        still = codes.copy()
        still[:, j] = value
        away[:, j] = np.linalg.norm((model.inverse_transform(still) - decoded) / unit, axis=1)
    return np.sign(codes - rest) * away


@threads(1)
def searched_noise(codes: np.ndarray, seed: int) -> float:
    """Return the largest z that the search for rest finds where no direction differs from another.

    Each direction that the search finds counts with its weakest pair, as latents do.
    """
    white = _without_directions(codes, seed)
    if white.shape[1] < 2:
        return 0.0  # there is one direction, and nothing to search
    y = torch.as_tensor(white)
    found = sparsest_rows(y[:SEARCHED], torch.Generator().manual_seed(seed))
    return float(count((y @ found.rows.T + found.offsets).numpy()).z.min(1).max())


def turned_noise(codes: np.ndarray, seed: int, draws: int = 5) -> float:
    """Return the same for random directions, where a search would cost as much as the fit.

    Little is lost: where no direction differs from another, a search finds hardly more than these have.
    """
    white, rng = _without_directions(codes, seed), np.random.default_rng((seed, 1))
    if white.shape[1] < 2:
        return 0.0
    turns = (np.linalg.qr(rng.normal(size=(white.shape[1],) * 2))[0] for _ in range(draws))
    return max(float(count(_from_rest(white @ turn)).z.min(1).max()) for turn in turns)


def _from_rest(values: np.ndarray) -> np.ndarray:
    return values - rest_values(values)


def _without_directions(codes: np.ndarray, seed: int) -> np.ndarray:
    """Return samples that keep their distances from the mean, in the metric of their covariance, and have
    random directions.
    """
    white = _white(codes)
    if white.shape[1] < 2:
        return white
    ways = np.random.default_rng(seed).normal(size=white.shape)
    ways *= np.linalg.norm(white, axis=1, keepdims=True) / np.linalg.norm(ways, axis=1, keepdims=True)
    return _white(ways)


@threads(1)
def in_sparsest(codes: np.ndarray, seed: int) -> np.ndarray:
    """Return the correlation of each latent with the sparsest affine coordinates; 1 if none are sparser.

    A basis may rest while others vary and still not be the one that rests most: where one latent varies at a
    time, so do sums of two out of three.
    """
    white, centred = _white(codes), codes - codes.mean(0)
    rows = centred.T @ white
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
    own = white @ rows.T
    y = torch.as_tensor(white[:SEARCHED])
    found = sparsest_rows(y, torch.Generator().manual_seed(seed))
    off = share_off(y, torch.as_tensor(rows), torch.as_tensor(-rest_values(own))).sum()
    if float(found.shares.sum()) > _SPARSER * float(off):
        return np.ones(codes.shape[1])
    return match(codes, white @ found.rows.numpy().T)[1]


def match(codes: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return for each latent its partner in another code, and the size of their correlation."""
    n = codes.shape[1]
    with np.errstate(invalid="ignore", divide="ignore"):
        table = np.abs(np.nan_to_num(np.corrcoef(codes.T, np.asarray(others).T)[:n, n:]))
    rows, columns = linear_sum_assignment(-table)
    partner = table.argmax(1)
    partner[rows] = columns
    return partner, table[np.arange(n), partner]


def _white(codes: np.ndarray) -> np.ndarray:
    """Return uncorrelated coordinates of variance 1, as many as the codes have dimensions."""
    spread = codes.std(0)
    unit = (codes - codes.mean(0)) / np.where(spread > 0, spread, 1)
    left, sizes, _ = np.linalg.svd(unit, full_matrices=False)
    return left[:, sizes > 1e-6 * max(sizes.max(), 1e-300)] * len(codes) ** 0.5
