"""Planted dictionaries: rows that are sums of a few known atoms.

Worlds take generators of their own, never the seed of a model: a model once started at the planted dictionary
because both drew from the same seed.
"""

from typing import Any, NamedTuple

import numpy as np

_BLOCK = 2**14


class World(NamedTuple):
    """Rows (n_samples, n_observed) in single precision, and the atoms (n_atoms, n_observed) behind them."""

    x: np.ndarray
    atoms: np.ndarray


def world_rng(seed: int, purpose: int = 0) -> np.random.Generator:
    """Return the generator of a world: it shares no stream with `np.random.RandomState(seed)` or torch's."""
    return np.random.default_rng([0x5AE, purpose, seed])


def atoms_of(n_atoms: int, n_observed: int, rng: np.random.Generator, *, common: float = 0.0) -> np.ndarray:
    """Draw unit atoms; `common` is the share of each that lies in a few common directions."""
    drawn = _unit(rng.normal(size=(n_atoms, n_observed)))
    if common:
        few = _unit(rng.normal(size=(max(2, n_observed // 8), n_observed)))
        shared = _unit(rng.normal(size=(n_atoms, len(few))) @ few)
        drawn = _unit(np.sqrt(1 - common) * drawn + np.sqrt(common) * shared)
    return drawn


def rows_of(
    atoms: np.ndarray,
    n_samples: int,
    k: int,
    rng: np.random.Generator,
    *,
    noise: float = 0.02,
    weights: np.ndarray | None = None,
    law: str = "exponential",
) -> np.ndarray:
    """Add up k atoms in each row, drawn with some weights, with Gaussian noise relative to the signal."""
    x = np.empty((n_samples, atoms.shape[1]), dtype=np.float32)
    for start in range(0, n_samples, _BLOCK):
        size = min(_BLOCK, n_samples - start)
        strength, which = amplitudes((size, k), rng, law), drawn(size, len(atoms), k, rng, weights)
        x[start : start + size] = np.einsum("nk,nkd->nd", strength, atoms.astype(np.float32)[which])
    return noisy(x, noise, rng)


def drawn(n: int, m: int, k: int, rng: np.random.Generator, weights: np.ndarray | None = None) -> np.ndarray:
    """Draw which k of m atoms are on in each row, without repetition; by weights with Gumbel's trick."""
    if weights is None and k * k < m:
        which = rng.integers(m, size=(n, k))
        while (again := np.flatnonzero((np.diff(np.sort(which, axis=1), axis=1) == 0).any(1))).size:
            which[again] = rng.integers(m, size=(len(again), k))
        return which
    score = np.maximum(rng.random((n, m), dtype=np.float32), 1e-12)
    ease = 0.0 if weights is None else np.log(weights).astype(np.float32)
    return np.argpartition(ease - np.log(-np.log(score)), m - k, axis=1)[:, m - k :]


def supports(n: int, m: int, k: int, rng: np.random.Generator) -> np.ndarray:
    """Draw supports as a table of zeros and ones."""
    on = np.zeros((n, m), dtype=np.float32)
    np.put_along_axis(on, drawn(n, m, k, rng), 1.0, axis=1)
    return on


def amplitudes(shape: tuple[int, int], rng: np.random.Generator, law: str) -> np.ndarray:
    """Draw how strong atoms are, where they are on."""
    if law == "exponential":
        return 0.5 + rng.standard_exponential(shape, dtype=np.float32)
    if law == "lognormal":
        return np.exp(0.8 * rng.standard_normal(shape, dtype=np.float32))
    return np.ones(shape, dtype=np.float32)


def noisy(x: np.ndarray, noise: float, rng: np.random.Generator) -> np.ndarray:
    """Add noise of so much of the standard deviation of all entries."""
    return x + np.float32(noise * x.std()) * rng.standard_normal(x.shape, dtype=np.float32)


def right_atoms(atoms: np.ndarray, truth: np.ndarray, least: float = 0.95) -> np.ndarray:
    """Return for each atom whether it is a true one, each of which can be claimed once, by the nearest.

    >>> right_atoms(np.eye(3)[[0, 0, 1]], np.eye(3)).tolist()
    [True, False, True]
    """
    found = np.zeros(len(atoms), bool)
    if not len(truth):
        return found
    table = _unit(np.asarray(atoms, float)) @ truth.T
    best, cosine = table.argmax(1), table.max(1)
    for each in np.unique(best):
        mine = np.flatnonzero(best == each)
        found[mine[cosine[mine].argmax()]] = True
    return found & (cosine > least)


def found_atoms(atoms: np.ndarray, truth: np.ndarray, least: float = 0.95) -> float:
    """Return the share of true atoms that are there."""
    return float(((_unit(np.asarray(atoms, float)) @ truth.T).max(0) > least).mean())


def _unit(rows: Any) -> np.ndarray:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
