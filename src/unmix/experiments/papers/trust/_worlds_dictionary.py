"""Worlds of planted dictionaries: kept, broken in one way or another, and without any sparse structure."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from unmix.estimators import SparseAutoencoder

from ..sae._planted import World, amplitudes, atoms_of, noisy, rows_of, supports, world_rng

Rng = np.random.Generator


@dataclass(frozen=True)
class Planted:
    """Worlds of one mechanism, and the sparse autoencoder that a user would try on them.

    Attributes
    ----------
    name : str
    draw : callable (n_samples, generator, (n_observed, n_atoms, k)) -> World
    size, sparsity : float
        What is asked for: so many times the true number of atoms, and of atoms in a row.
    n_samples : int
    null : bool
        Whether there is no atom to be found, so that every yes is false trust.
    """

    name: str
    draw: Callable[[int, Rng, tuple[int, int, int]], World]
    size: float = 1.0
    sparsity: float = 1.0
    n_samples: int = 20_000
    null: bool = False
    kind: str = "dictionary"

    def world(self, seed: int, n_samples: int | None = None) -> tuple[World, tuple[int, int, int]]:
        """Draw a world, its sizes first."""
        rng = world_rng(seed, 1)
        d = int(rng.choice([16, 24, 32, 48]))
        shape = d, int(d * rng.uniform(1.2, 3)), int(rng.integers(2, max(3, d // 8) + 1))
        return self.draw(n_samples or self.n_samples, rng, shape), shape

    def model(self, shape: tuple[int, int, int], seed: int) -> SparseAutoencoder:
        """Return the model, not fitted; of the truth it knows sizes alone, rightly or wrongly."""
        m, k = max(4, round(self.size * shape[1])), max(1, round(self.sparsity * shape[2]))
        kind = ("topk", "batch_topk")[seed % 2]
        settings: dict[str, Any] = {"max_iter": 20, "batch_size": 512, "lr": 0.01, "device": "cpu"}
        return SparseAutoencoder(m, k=min(k, m), activation=kind, random_state=seed, **settings)


def plain(n: int, rng: Rng, shape: tuple[int, int, int], *, common: float = 0.0, **how: Any) -> World:
    """Add up k atoms in each row, all equally often."""
    atoms = atoms_of(shape[1], shape[0], rng, common=common)
    return World(rows_of(atoms, n, shape[2], rng, **how), atoms)


def noisy_rows(n: int, rng: Rng, shape: tuple[int, int, int]) -> World:
    """Add noise between a tenth of the signal and as much again."""
    return plain(n, rng, shape, noise=10 ** rng.uniform(-1, 0))


def coherent(n: int, rng: Rng, shape: tuple[int, int, int]) -> World:
    """Let up to half of each atom lie in a few common directions."""
    return plain(n, rng, shape, common=rng.uniform(0.2, 0.5))


def unequal(n: int, rng: Rng, shape: tuple[int, int, int]) -> World:
    """Let few atoms be on often and many rarely."""
    return plain(n, rng, shape, weights=1 / np.arange(1, shape[1] + 1) ** rng.uniform(0.5, 1.2))


def few_rows(n: int, rng: Rng, shape: tuple[int, int, int]) -> World:
    """Give each atom 5 to 100 rows."""
    return plain(int(shape[1] / shape[2] * 10 ** rng.uniform(0.7, 2)) + 50, rng, shape, noise=0.1)


def other_laws(n: int, rng: Rng, shape: tuple[int, int, int]) -> World:
    """Let atoms be on or off, or of very different strengths, around a mean that is not 0."""
    found = plain(n, rng, shape, law=str(rng.choice(["lognormal", "binary"])))
    return World(found.x + rng.normal(size=shape[0]).astype(np.float32), found.atoms)


def crowded(n: int, rng: Rng, shape: tuple[int, int, int]) -> World:
    """Have a quarter to a half as many atoms in each row as there are variables."""
    return plain(n, rng, (shape[0], shape[1], max(2, int(shape[0] * rng.uniform(0.25, 0.5)))))


def together(n: int, rng: Rng, shape: tuple[int, int, int]) -> World:
    """Let atoms be on in groups: where one of a group is, the others are likely."""
    d, m, k = shape
    atoms, group = atoms_of(m, d, rng), rng.integers(max(2, m // 4), size=m)
    on = supports(n, m, k, rng)
    pulled = np.zeros_like(on)
    for each in np.unique(group):
        members = np.flatnonzero(group == each)
        pulled[:, members] = on[:, members].max(1, keepdims=True)
    join = rng.random(on.shape, dtype=np.float32) < rng.uniform(0.2, 0.8)
    z = np.maximum(on, pulled * join) * amplitudes(on.shape, rng, "exponential")
    return World(noisy(z @ atoms.astype(np.float32), 0.02, rng), atoms)


def nested(n: int, rng: Rng, shape: tuple[int, int, int]) -> World:
    """Let half of the atoms be on only where another is: the model may put both into one."""
    d, m, k = shape
    atoms, on = atoms_of(m, d, rng), supports(n, m, k, rng)
    parent, child = np.arange(m // 2), np.arange(m // 2, 2 * (m // 2))
    on[:, parent] = np.maximum(on[:, parent], on[:, child])
    z = on * amplitudes(on.shape, rng, "exponential")
    return World(noisy(z @ atoms.astype(np.float32), 0.02, rng), atoms)


def gaussian(n: int, rng: Rng, shape: tuple[int, int, int]) -> World:
    """Draw Gaussian rows with the covariance of a planted dictionary, or one that falls off."""
    d = shape[0]
    root = rng.normal(size=(d, d)) / np.sqrt(d)
    if rng.random() < 0.5:
        root = root * np.arange(1, d + 1) ** -rng.uniform(0.3, 1.0)
    return World((rng.normal(size=(n, d)) @ root.T).astype(np.float32), np.zeros((0, d)))


def spherical(n: int, rng: Rng, shape: tuple[int, int, int]) -> World:
    """Draw rows of heavy-tailed length in all directions alike."""
    d = shape[0]
    way = rng.normal(size=(n, d))
    length = np.sqrt(4 / rng.chisquare(rng.choice([3, 5]), size=(n, 1)))
    return World((way * length).astype(np.float32), np.zeros((0, d)))


def dense(n: int, rng: Rng, shape: tuple[int, int, int]) -> World:
    """Rotate dense light-tailed sources: not Gaussian, and not sparse."""
    d = shape[0]
    sources = rng.uniform(-1, 1, size=(n, d))
    return World((sources @ rng.normal(size=(d, d))).astype(np.float32), np.zeros((0, d)))


PLANTED: tuple[Planted, ...] = (
    Planted("planted.plain", plain),
    Planted("planted.noisy", noisy_rows),
    Planted("planted.coherent", coherent),
    Planted("planted.unequal", unequal),
    Planted("planted.few_rows", few_rows),
    Planted("planted.other_laws", other_laws),
    Planted("planted.crowded", crowded),
    Planted("planted.together", together),
    Planted("planted.nested", nested),
    Planted("planted.k_too_small", plain, sparsity=0.5),
    Planted("planted.k_too_large", plain, sparsity=2.0),
    Planted("planted.m_too_small", partial(plain, noise=0.05), size=0.5),
    Planted("planted.m_too_large", partial(plain, noise=0.05), size=2.0),
    Planted("planted.gaussian", gaussian, null=True),
    Planted("planted.spherical", spherical, null=True),
    Planted("planted.dense", dense, null=True),
)
