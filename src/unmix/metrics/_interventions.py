"""Batches of codes in which one factor stands still, from arrays or from a generator and an encoder."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._checks import paired, table
from ._kinds import Declared, equal_count, kinds, labels

Sampler = Callable[[int, int, int, np.random.Generator], np.ndarray]
Encoder = Callable[[Any], Any]
_CHUNK = 2**22  # numbers held at once
_PROBED = 10_000  # draws for the spread of codes, as in the published protocols


@dataclass(frozen=True, eq=False)
class Interventions:
    """What both scores draw from.

    `sampler(k, n_batches, size, rng)` gives codes of shape (n_batches, size, n_codes); within each batch
    factor k has one value and the others vary. `codes` are those of all factors moving.
    """

    n_factors: int
    codes: np.ndarray
    sampler: Sampler
    rng: np.random.Generator

    def batches(
        self, n_points: int, active: np.ndarray, *, per_point: int, size: int
    ) -> Iterator[tuple[int, np.ndarray]]:
        """Draw a factor for each point; yield it with the active codes of its batches, `per_point` each."""
        counts = np.bincount(self.rng.integers(self.n_factors, size=n_points), minlength=self.n_factors)
        for k, n in enumerate(counts):
            for part in in_chunks(n, per_point * size * len(active)):
                yield k, self.sampler(k, part * per_point, size, self.rng)[:, :, active]


def prepared(
    z_true: ArrayLike,
    z_hat: ArrayLike | Encoder,
    generator: Encoder | None,
    bins: int | None,
    discrete: Declared,
    random_state: Any,
    **counts: int,
) -> Interventions:
    """Return what to draw from, arrays or a generator and an encoder, or say what is wrong with them."""
    _check_counts(**counts, bins=2 if bins is None else bins)
    rng = np.random.default_rng(random_state)
    if not callable(z_hat):
        if generator is not None:
            raise TypeError("`z_hat` must be an encoder `x -> codes` beside `generator`, got an array.")
        truth, codes = paired(z_true, z_hat, n_least=4)
        return Interventions(truth.shape[1], codes, _from_arrays(truth, codes, bins, discrete), rng)
    truth, _ = paired(z_true, z_true, n_least=4)
    encode = z_hat if generator is None else _then(generator, z_hat)
    moving = _encoded(encode, _fresh(truth, min(_PROBED, max(len(truth), 1000)), rng))
    return Interventions(truth.shape[1], moving, _from_generator(truth, encode), rng)


def in_chunks(n_batches: int, numbers_per_batch: int) -> Iterator[int]:
    """Split a number of batches into parts that fit into memory."""
    most = max(1, _CHUNK // max(numbers_per_batch, 1))
    while n_batches > 0:
        yield min(most, n_batches)
        n_batches -= most


def _check_counts(**counts: int) -> None:
    """Refuse numbers of votes, batches and bins below 2."""
    for name, count in counts.items():
        if count < 2:
            raise ValueError(f"`{name}` must be at least 2, got {count}. The published protocol uses more.")


def _from_arrays(truth: np.ndarray, codes: np.ndarray, bins: int | None, discrete: Declared) -> Sampler:
    """Pick rows that share a level, or a bin, of the factor, with replacement."""
    exact = kinds(truth, discrete)
    n_bins = int(np.clip(len(truth) // 10, 2, 20)) if bins is None else bins
    columns = zip(truth.T, exact, strict=True)
    pools = [
        _Pool(labels(c) if is_exact else equal_count(c, n_bins), k) for k, (c, is_exact) in enumerate(columns)
    ]
    return lambda k, n_batches, size, rng: codes[pools[k].rows(n_batches, size, rng)]


def _from_generator(truth: np.ndarray, encode: Encoder) -> Sampler:
    """Draw every factor from its own column, independently of the others, and hold one still."""

    def sample(k: int, n_batches: int, size: int, rng: np.random.Generator) -> np.ndarray:
        factors = _fresh(truth, n_batches * size, rng)
        factors[:, k] = np.repeat(rng.choice(truth[:, k], n_batches), size)
        return _encoded(encode, factors).reshape(n_batches, size, -1)

    return sample


class _Pool:
    """The rows of each level of one factor, those of levels seen once left out."""

    def __init__(self, level: np.ndarray, factor: int) -> None:
        counts = np.bincount(level)
        if counts.max() < 2:
            raise ValueError(
                f"`z_true` must have rows that share a value of each factor, got none for factor {factor}. "
                "Use more samples or fewer bins."
            )
        self.order = np.argsort(level, kind="stable")
        self.start, self.size = np.cumsum(counts) - counts, counts
        self.anchors = level[counts[level] > 1]

    def rows(self, n_batches: int, size: int, rng: np.random.Generator) -> np.ndarray:
        """Draw rows of shape (n_batches, size); levels come up as often as in the data."""
        level = rng.choice(self.anchors, n_batches)[:, None]
        return self.order[self.start[level] + rng.integers(self.size[level], size=(n_batches, size))]


def _fresh(truth: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    return np.stack([rng.choice(column, n) for column in truth.T], axis=1)


def _then(generator: Encoder, encoder: Encoder) -> Encoder:
    return lambda factors: encoder(generator(factors))


def _encoded(encode: Encoder, factors: np.ndarray) -> np.ndarray:
    codes = table(encode(factors), "z_hat(...)")
    if len(codes) != len(factors):
        raise ValueError(f"`z_hat` must give one row per sample, got {len(codes)} for {len(factors)}.")
    return codes
