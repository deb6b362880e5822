"""Worlds of slots: groups of latents that move observed variables of their own, and worlds where none do."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from unmix.data import LatentDataset, slots
from unmix.estimators import SlotAutoencoder

from ._family import Family
from ._right_slots import right_slots

Slots = tuple[tuple[int, ...], ...]

_LAWS = ("normal", "uniform", "laplace", "dependent", "reweighted")
_SKEWED = 2.0  # powers of ten between the units of two columns


@dataclass(frozen=True)
class Blocks:
    """The truth of worlds that are drawn here: the latents of each slot."""

    partition: Slots

    @property
    def mixing(self) -> "Blocks":
        """Itself: where a data set looks for its partition."""
        return self


def waves(z: np.ndarray, n_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Return rows that are linear in z, and wavy."""
    a, b = rng.normal(size=(2, z.shape[1], n_rows))
    return z @ a + 0.4 * np.linalg.norm(a, axis=0) * np.sin(z @ b + rng.uniform(0, 6, n_rows))


def squares(z: np.ndarray, n_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Return rows that are linear and quadratic in z."""
    a, b = rng.normal(size=(2, z.shape[1], n_rows))
    return z @ a + 0.2 * np.square(z @ b)


def fields(z: np.ndarray, n_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Return rows that answer to a place in the space of z, like cells of the hippocampus."""
    centres, width = rng.uniform(-2, 2, size=(n_rows, z.shape[1])), 1.5 * np.sqrt(z.shape[1])
    return np.exp(-np.square(z[:, None] - centres).sum(2) / (2 * width**2))


MECHANISMS = (waves, squares, fields)


def disjoint(n_samples: int, seed: int) -> LatentDataset:
    """Draw slots with rows of their own, of the library's own mechanism; laws and sizes vary."""
    rng = np.random.default_rng((seed, 1))
    sizes = _sizes(rng)
    return slots(
        *(n_samples, len(sizes), sizes),
        n_rows=int(rng.integers(6, 13)),
        latents=str(rng.choice(_LAWS)),
        mixing=str(rng.choice(["bent", "additive"])),
        random_state=seed,
    )


def overlapping(n_samples: int, seed: int) -> LatentDataset:
    """Draw slots of equal size that share from a tenth to six tenths of their rows with the next."""
    rng = np.random.default_rng((seed, 2))
    return slots(
        *(n_samples, int(rng.integers(2, 4)), int(rng.integers(1, 3))),
        n_rows=int(rng.integers(8, 13)),
        overlap=float(rng.choice([0.1, 0.25, 0.4, 0.6])),
        profile=str(rng.choice(["chain", "nested"], p=[0.8, 0.2])),
        mixing=str(rng.choice(["bent", "additive", "interacting"])),
        random_state=seed,
    )


def own(n_samples: int, seed: int, *, mechanisms: Sequence[int], mix: float = 0.0) -> LatentDataset:
    """Draw slots whose rows follow one of the mechanisms; with `mix` latents correlate across slots."""
    rng = np.random.default_rng((seed, 3, *mechanisms))
    sizes = _sizes(rng)
    z = _latents(n_samples, sum(sizes), rng, mix * rng.random())
    partition = _partition(sizes)
    mechanism = MECHANISMS[rng.choice(mechanisms)]
    rows = rng.integers(4, 9) + 2 * np.array(sizes)
    parts = [mechanism(z[:, slot], m, rng) for slot, m in zip(partition, rows, strict=True)]
    return _shuffled(np.hstack(parts), z, partition, rng)


def noisy(n_samples: int, seed: int) -> LatentDataset:
    """Draw slots, and spoil the table: noise, few samples, skewed units, or rows that repeat."""
    rng = np.random.default_rng((seed, 4))
    trouble = rng.integers(4)
    data = own(n_samples if trouble != 1 else int(rng.integers(150, 500)), seed, mechanisms=(0, 1, 2))
    noise = rng.uniform(0.05, 0.5) if trouble == 0 else 0.02
    x = data.x + noise * data.x.std(0) * rng.normal(size=data.x.shape)
    x = x * 10 ** rng.uniform(-_SKEWED, _SKEWED, x.shape[1]) if trouble == 2 else x
    keep = rng.integers(len(x) // 4, size=len(x)) if trouble == 3 else np.arange(len(x))
    return LatentDataset(x[keep], data.z[keep], world=data.world)


def shared(n_samples: int, seed: int) -> LatentDataset:
    """Draw slots beside one latent that moves every row, such as the light of a scene."""
    rng = np.random.default_rng((seed, 5))
    data = own(n_samples, seed, mechanisms=(0, 1))
    light = rng.normal(size=(n_samples, 1))
    strength = rng.uniform(0.3, 1.0) * data.x.std(0) * rng.choice([-1, 1], data.x.shape[1])
    z = np.hstack([data.z, light])
    x = data.x + strength * waves(light, data.x.shape[1], rng)
    return LatentDataset(x, z, world=Blocks((*data.partition, (z.shape[1] - 1,))))


def dense(n_samples: int, seed: int) -> LatentDataset:
    """Draw latents each of which moves every row, along a curve."""
    rng = np.random.default_rng((seed, 6))
    z = _latents(n_samples, int(rng.integers(2, 6)), rng, 0.0)
    x = MECHANISMS[rng.integers(3)](z, int(rng.integers(8, 25)), rng)
    return _observed(x, z, _halved(z.shape[1]), rng.uniform(0, 0.1), rng)


def dense_linear(n_samples: int, seed: int) -> LatentDataset:
    """Draw latents each of which moves every row linearly; loadings are normal, or of one size."""
    rng = np.random.default_rng((seed, 7))
    z = _latents(n_samples, int(rng.integers(2, 6)), rng, 0.0)
    loadings = rng.normal(size=(z.shape[1], int(rng.integers(8, 25))))
    x = z @ (np.sign(loadings) + 0.2 * loadings if rng.random() < 0.3 else loadings)
    return _observed(x, z, _halved(z.shape[1]), rng.uniform(0, 0.1), rng)


def square(n_samples: int, seed: int) -> LatentDataset:
    """Draw a dense mixing into hardly more variables than latents, which a code can copy."""
    rng = np.random.default_rng((seed, 8))
    z = _latents(n_samples, int(rng.integers(3, 7)), rng, 0.0)
    x = MECHANISMS[rng.integers(2)](z, z.shape[1] + int(rng.integers(3)), rng)
    return _observed(x, z, _halved(z.shape[1]), 0.0, rng)


def nothing(n_samples: int, seed: int) -> LatentDataset:
    """Draw Gaussian noise, white or with a full covariance, that has nothing to do with the latents."""
    rng = np.random.default_rng((seed, 9))
    z, d = rng.normal(size=(n_samples, 4)), int(rng.integers(6, 16))
    mixing = np.eye(d) if rng.random() < 0.5 else rng.normal(size=(d, d))
    return LatentDataset(rng.normal(size=(n_samples, d)) @ mixing, z, world=Blocks(((0, 1), (2, 3))))


def told(data: LatentDataset, seed: int) -> SlotAutoencoder:
    """Return a model that is given the slots in every other data set, and finds them in the rest."""
    partition = data.partition if seed % 2 else None
    return SlotAutoencoder(data.z.shape[1], slots=partition, random_state=seed)


def mistaken(data: LatentDataset, seed: int) -> SlotAutoencoder:
    """Return a model with a latent too many or too few, with two slots glued, or with one cut."""
    n, partition = data.z.shape[1], list(data.partition)
    wrong = seed % 4
    if wrong < 2 and n + 2 * wrong - 1 > 1:
        return SlotAutoencoder(n + 2 * wrong - 1, random_state=seed)
    if wrong == 2 and len(partition) > 2:
        return SlotAutoencoder(n, slots=[partition[0] + partition[1], *partition[2:]], random_state=seed)
    big = max(partition, key=len)
    cut = [big[:1], big[1:]] if len(big) > 1 else [big]
    return SlotAutoencoder(n, slots=[s for s in partition if s != big] + cut, random_state=seed)


def _sizes(rng: np.random.Generator) -> list[int]:
    return rng.integers(1, 4, size=rng.integers(2, 4)).tolist()


def _latents(n: int, n_latents: int, rng: np.random.Generator, mix: float) -> np.ndarray:
    """Draw latents of a random law, each with its own, which share a factor as far as `mix` says."""
    laws = (rng.standard_normal, partial(rng.uniform, -1.7, 1.7), partial(rng.laplace, 0, 0.7))
    z = laws[rng.integers(3)](size=(n, n_latents))
    return np.sqrt(1 - mix) * z + np.sqrt(mix) * rng.normal(size=(n, 1))


def _partition(sizes: Sequence[int]) -> Slots:
    owner = np.repeat(np.arange(len(sizes)), sizes)
    return tuple(tuple(np.flatnonzero(owner == k).tolist()) for k in range(len(sizes)))


def _halved(n: int) -> Slots:
    return tuple(range(n // 2)), tuple(range(n // 2, n))


def _shuffled(x: np.ndarray, z: np.ndarray, partition: Slots, rng: np.random.Generator) -> LatentDataset:
    return LatentDataset(x[:, rng.permutation(x.shape[1])], z, world=Blocks(partition))


def _observed(
    x: np.ndarray, z: np.ndarray, partition: Slots, noise: float, rng: np.random.Generator
) -> LatentDataset:
    return LatentDataset(x + noise * x.std(0) * rng.normal(size=x.shape), z, world=Blocks(partition))


_slots = partial(Family, kind="slots", model=told, n_samples=2500, right=right_slots)

FAMILIES: tuple[Family, ...] = (
    _slots("slots.disjoint", draw=disjoint),
    _slots("slots.overlapping", draw=overlapping),
    _slots("slots.curves", draw=partial(own, mechanisms=(0, 1))),
    _slots("slots.fields", draw=partial(own, mechanisms=(2,))),
    _slots("slots.dependent", draw=partial(own, mechanisms=(0, 1, 2), mix=0.9)),
    _slots("slots.spoilt", draw=noisy),
    _slots("slots.shared", draw=shared),
    _slots("slots.mistaken", draw=partial(own, mechanisms=(0, 1)), model=mistaken),
    _slots("slots.dense", draw=dense, null=True),
    _slots("slots.dense_linear", draw=dense_linear, null=True),
    _slots("slots.square", draw=square, null=True),
    _slots("slots.nothing", draw=nothing, null=True),
)
