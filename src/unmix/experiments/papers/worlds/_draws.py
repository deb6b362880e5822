"""Worlds that are harder than those the defaults were chosen on, by the arguments of a cell."""

from collections.abc import Sequence

import numpy as np

from unmix.data import LatentDataset
from unmix.structure import Structure, diverse

from ._mixings import LAWS, Rng, along, family_of, layers


def sparse(
    n_samples: int,
    seed: int,
    *,
    n: int = 5,
    d: int = 10,
    parents: int = 2,
    law: str = "normal",
    bend: float = 0.7,
    weakest: float = 0.5,
    noise: float = 0.0,
    units: str = "",
    nested: bool = False,
    family: str = "",
) -> LatentDataset:
    """Draw a sparse mixing; `units` "skewed" reads columns as exponentials and cubes, in turn."""
    rng = np.random.default_rng((43, seed))
    structure = _nested(n, d, rng) if nested else diverse(d, n, n_parents=parents, random_state=rng)
    z = LAWS[law](rng, (n_samples, n))
    x = along(structure.support, z, rng, family=family or family_of(seed), bend=bend, weakest=weakest)
    x = x + noise * x.std(0) * rng.normal(size=x.shape)
    return LatentDataset(skewed(x, rng) if units == "skewed" else x, z, structure)


def skewed(x: np.ndarray, rng: Rng) -> np.ndarray:
    """Read each column in units of its own: exponentials, or cubes."""
    white = (x - x.mean(0)) / x.std(0)
    exponential = rng.permutation(x.shape[1]) % 2 == 0
    return np.where(exponential, np.exp(0.9 * white), (white + 0.3 * rng.normal(size=x.shape[1])) ** 3)


def _nested(n: int, d: int, rng: Rng) -> Structure:
    """Draw children that lie in those of the next latent, in a random order."""
    ends = np.linspace(max(2, d // n), d, n).round()
    support = np.arange(d)[:, None] < ends
    return Structure(support[rng.permutation(d)][:, rng.permutation(n)])


def domains(
    n_samples: int,
    seed: int,
    *,
    n: int = 5,
    d: int = 10,
    n_domains: int = 5,
    n_layers: int = 0,
    nested: bool = False,
    shared: float = 0.0,
    means: bool = True,
) -> LatentDataset:
    """Draw latents whose laws change; `shared` is their correlation within domains; 0 layers are sparse."""
    rng = np.random.default_rng((47, seed))
    u = rng.integers(n_domains, size=n_samples)
    scales = np.exp(rng.uniform(np.log(0.3), np.log(2.0), (n_domains, n)))
    centres = rng.uniform(-2, 2, (n_domains, n)) * means
    e = np.sqrt(shared) * rng.normal(size=(n_samples, 1)) + np.sqrt(1 - shared) * rng.normal(
        size=(n_samples, n)
    )
    z = centres[u] + scales[u] * e
    family = family_of(seed)
    if n_layers:
        return LatentDataset(layers(z, d, n_layers, rng, family=family), z, u=u)
    structure = _nested(n, d, rng) if nested else diverse(d, n, random_state=rng)
    x = along(structure.support, z / z.std(0), rng, family=family)
    return LatentDataset(x, z, structure, u=u)


def slots(
    n_samples: int,
    seed: int,
    *,
    sizes: Sequence[int] = (3, 3, 3),
    width: int = 20,
    overlap: float = 0.25,
    n_layers: int = 2,
    shared: float = 0.0,
) -> LatentDataset:
    """Draw slots, each mixed by layers into rows of its own; where rows are shared, slots add up.

    `shared` is the correlation of latents of different slots, which have a cause in common.
    """
    rng = np.random.default_rng((53, seed))
    n, step = sum(sizes), max(1, round((1 - overlap) * width))
    z = np.sqrt(shared) * rng.normal(size=(n_samples, 1)) + np.sqrt(1 - shared) * rng.normal(
        size=(n_samples, n)
    )
    x = np.zeros((n_samples, step * (len(sizes) - 1) + width))
    partition = tuple(map(tuple, np.split(np.arange(n), np.cumsum(sizes)[:-1])))
    for k, slot in enumerate(partition):
        own = layers(z[:, slot], width, n_layers, rng, family=family_of(seed))
        x[:, k * step : k * step + width] += own / own.std(0)
    return LatentDataset(x, z, hidden={"slot": np.repeat(np.arange(len(sizes)), sizes)})


def mixture(
    n_samples: int, seed: int, *, n: int = 5, n_layers: int = 3, soft: float = 0.0, rest: float = 0.5
) -> LatentDataset:
    """Draw latents that rest at one value, or near one (`soft`), behind layers with slopes of 1 and 0.2."""
    rng = np.random.default_rng((59, seed))
    z = rng.normal(size=(n_samples, n)) + rng.uniform(-1, 1, n)
    z = np.where(rng.random(z.shape) < rest, soft * rng.normal(size=z.shape), z)
    x = z / z.std(0)
    for number in range(n_layers):
        x = x @ np.linalg.qr(rng.normal(size=(n, n)))[0]
        if number < n_layers - 1:
            x = np.where(x > 0, x, 0.2 * x)
    return LatentDataset(x, z)
