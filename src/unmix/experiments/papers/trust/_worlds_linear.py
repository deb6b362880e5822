"""Worlds for linear independent components: many laws, and each way in which the theorem does not apply.

Sizes, laws and mixings vary with the seed. Mixings are random matrices of bounded condition, since a nearly
singular one is a world of too much noise, which has a family of its own.
"""

from collections.abc import Callable

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import gennorm

from unmix.data import LatentDataset
from unmix.estimators import FastICA

from ._family import RIGHT, Family, Units, case_of

Rng = np.random.Generator


def _bimodal(n: int, rng: Rng) -> np.ndarray:
    return rng.choice([-1.0, 1.0], n, p=[0.4, 0.6]) + rng.uniform(0.2, 0.6) * rng.normal(size=n)


def _steps(n: int, rng: Rng) -> np.ndarray:
    return rng.integers(0, 4, n) + 0.2 * rng.uniform(size=n)


HEAVY: tuple[Callable[[int, Rng], np.ndarray], ...] = (
    lambda n, rng: rng.laplace(size=n),
    lambda n, rng: rng.standard_t(5, n),
    lambda n, rng: gennorm.rvs(0.7, size=n, random_state=rng),
    lambda n, rng: rng.lognormal(sigma=0.6, size=n),
    lambda n, rng: rng.normal(size=n) * rng.choice([0.3, 1.5], n),
)
LIGHT: tuple[Callable[[int, Rng], np.ndarray], ...] = (
    lambda n, rng: rng.uniform(size=n),
    lambda n, rng: rng.beta(0.5, 0.5, n),
    lambda n, rng: rng.gamma(1.5, size=n),
    _bimodal,
    _steps,
)


def normal(n: int, rng: Rng) -> np.ndarray:
    """Draw a Gaussian latent."""
    return rng.normal(size=n)


def sources(n: int, k: int, rng: Rng, laws: tuple[Callable[[int, Rng], np.ndarray], ...]) -> np.ndarray:
    """Draw k independent latents of unit variance, each of a law drawn from some."""
    return unit(np.column_stack([laws[rng.integers(len(laws))](n, rng) for _ in range(k)]))


def unit(z: np.ndarray) -> np.ndarray:
    """Centre columns and give them unit variance."""
    return (z - z.mean(0)) / z.std(0)


def matrix(d: int, k: int, rng: Rng) -> np.ndarray:
    """Draw a mixing with singular values between 1 and 4."""
    left, _, right = np.linalg.svd(rng.normal(size=(d, k)), full_matrices=False)
    return (left * np.exp(rng.uniform(0, np.log(4), min(d, k)))) @ right


def heavy(n: int, seed: int) -> LatentDataset:
    """Three to eight latents with heavy tails, as many variables."""
    rng = np.random.default_rng(seed)
    z = sources(n, int(rng.integers(3, 9)), rng, HEAVY)
    return LatentDataset(z @ matrix(z.shape[1], z.shape[1], rng).T, z)


def light(n: int, seed: int) -> LatentDataset:
    """Three to eight bounded, skewed or bimodal latents in units that differ a hundredfold."""
    rng = np.random.default_rng(seed)
    z = sources(n, int(rng.integers(3, 9)), rng, LIGHT)
    x = z @ matrix(z.shape[1], z.shape[1], rng).T
    return LatentDataset(x * 10 ** rng.uniform(-1, 1, x.shape[1]), z)


def many(n: int, seed: int) -> LatentDataset:
    """Nine to fifteen latents in more variables, with 1% to 5% of noise."""
    rng = np.random.default_rng(seed)
    z = sources(n, int(rng.integers(9, 16)), rng, HEAVY + LIGHT)
    x = unit(z @ matrix(z.shape[1] + int(rng.integers(1, 10)), z.shape[1], rng).T)
    return LatentDataset(x + 10 ** rng.uniform(-2, -1.3) * rng.normal(size=x.shape), z)


def some_gaussian(n: int, seed: int) -> LatentDataset:
    """Latents of which one to four are Gaussian: one can be told from the others, two cannot."""
    rng = np.random.default_rng(seed)
    few = sources(n, int(rng.integers(2, 5)), rng, HEAVY + LIGHT)
    z = np.column_stack([few, sources(n, int(rng.integers(1, 5)), rng, (normal,))])
    return LatentDataset(z @ matrix(z.shape[1], z.shape[1], rng).T, z)


def noisy(n: int, seed: int) -> LatentDataset:
    """More variables than latents, each with 1% to 60% of noise."""
    rng = np.random.default_rng(seed)
    z = sources(n, int(rng.integers(3, 7)), rng, HEAVY + LIGHT)
    x = unit(z @ matrix(z.shape[1] + int(rng.integers(0, 5)), z.shape[1], rng).T)
    return LatentDataset(x + 10 ** rng.uniform(-2, -0.2) * rng.normal(size=x.shape), z)


def noisy_sensors(n: int, seed: int) -> LatentDataset:
    """More variables than latents, each with a noise of its own, some of them far noisier than others."""
    rng = np.random.default_rng(seed)
    z = sources(n, int(rng.integers(3, 7)), rng, HEAVY + LIGHT)
    x = unit(z @ matrix(z.shape[1] + int(rng.integers(1, 6)), z.shape[1], rng).T)
    level = 10 ** rng.uniform(-2, 0, x.shape[1]) * rng.uniform(0.1, 1)
    return LatentDataset(x + level * rng.standard_t(6, x.shape), z)


def short(n: int, seed: int) -> LatentDataset:
    """Five to twelve latents, and only 5 to 50 rows for each pair of them."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(5, 13))
    z = sources(int(k * (k - 1) / 2 * 10 ** rng.uniform(0.7, 1.7)), k, rng, HEAVY + LIGHT)
    return LatentDataset(z @ matrix(k, k, rng).T, z)


def few_rows(n: int, seed: int) -> LatentDataset:
    """Between 60 and 600 rows, some of them twice."""
    rng = np.random.default_rng(seed)
    rows = int(60 * 10 ** rng.uniform(0, 1))
    z = sources(rows, int(rng.integers(3, 7)), rng, HEAVY + LIGHT)
    x = z @ matrix(z.shape[1], z.shape[1], rng).T
    twice = np.concatenate([np.arange(rows), rng.integers(0, rows, rows // 4 if case_of(seed, 2) else 0)])
    return LatentDataset(x[twice], z[twice])


def events(n: int, seed: int) -> LatentDataset:
    """Add up events, for which another rotation may have the higher contrast, with a little noise."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(3, 9))
    z = 1.0 * (rng.uniform(size=(n, k)) < rng.uniform(0.02, 0.3, k))
    x = unit(z) @ matrix(k, k, rng).T
    return LatentDataset(x + 0.02 * rng.normal(size=x.shape), unit(z))


def bursts(n: int, seed: int) -> LatentDataset:
    """Latents that rest most of the time and burst, with a little noise."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(3, 9))
    active = rng.uniform(size=(n, k)) < rng.uniform(0.02, 0.4, k)
    z = unit(active * rng.normal(size=(n, k)))
    x = z @ matrix(k, k, rng).T
    return LatentDataset(x + 0.02 * rng.normal(size=x.shape), z)


def dependent(n: int, seed: int) -> LatentDataset:
    """Latents with a common scale, correlated latents, or one that is a function of another."""
    rng = np.random.default_rng(seed)
    z = sources(n, int(rng.integers(3, 7)), rng, HEAVY + LIGHT)
    kind, strength = case_of(seed, 3), rng.uniform(0.2, 1.0)
    if kind == 0:
        z = z * np.exp(strength * rng.normal(size=(n, 1)))
    elif kind == 1:
        z = z + strength * unit(rng.laplace(size=(n, 1)))
    else:
        z[:, 0] = strength * unit(np.square(z[:, [1]]))[:, 0] + (1 - strength) * z[:, 0]
    return LatentDataset(unit(z) @ matrix(z.shape[1], z.shape[1], rng).T, unit(z))


def curved(n: int, seed: int) -> LatentDataset:
    """Bend the mixing: each variable is distorted after it, or a layer of tanh is within."""
    rng = np.random.default_rng(seed)
    z = sources(n, int(rng.integers(3, 6)), rng, HEAVY + LIGHT)
    k, bend = z.shape[1], rng.uniform(0.2, 2.0)
    x = unit(z @ matrix(k, k, rng).T)
    x = x + bend * np.tanh(2 * x) if case_of(seed, 2) else np.tanh(bend * x) @ matrix(k, k, rng).T
    return LatentDataset(x, z)


def wrong_number(n: int, seed: int) -> LatentDataset:
    """Latents and some noise, of which the model of the family asks one too few or one too many."""
    rng = np.random.default_rng(seed)
    z = sources(n, int(rng.integers(4, 8)), rng, HEAVY + LIGHT)
    x = unit(z @ matrix(z.shape[1] + 3, z.shape[1], rng).T)
    return LatentDataset(x + 0.05 * rng.normal(size=x.shape), z)


def gaussian(n: int, seed: int) -> LatentDataset:
    """Nothing but Gaussian latents."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, int(rng.integers(2, 9))))
    return LatentDataset(z @ matrix(z.shape[1], z.shape[1], rng).T, z)


def spherical(n: int, seed: int) -> LatentDataset:
    """Draw Student t, a shell or a ball: laws that look alike from each side."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 8))
    way = rng.normal(size=(n, k))
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    shell = 1 + 0.1 * rng.normal(size=n)
    heavy_ = np.sqrt(rng.chisquare(k, n) / rng.chisquare(4, n))
    z = way * (heavy_, shell, rng.uniform(size=n) ** (1 / k))[case_of(seed, 3)][:, None]
    return LatentDataset(z @ matrix(k, k, rng).T, z)


def planes(n: int, seed: int) -> LatentDataset:
    """Two or three independent planes, each spherical: only they are identified, no latent is."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, (int(rng.integers(2, 4)), n))
    radius = rng.gamma(rng.uniform(1, 6, (len(angle), 1)), size=angle.shape)
    z = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)]).T
    return LatentDataset(z @ matrix(z.shape[1], z.shape[1], rng).T, z)


def fast_ica(data: LatentDataset, seed: int) -> FastICA:
    """Return the model that a user would try: as many components as latents are asked for."""
    return FastICA(data.z.shape[1], random_state=seed)


def one_off(data: LatentDataset, seed: int) -> FastICA:
    """Return a model with one component too few, or one too many."""
    return FastICA(data.z.shape[1] + (1 if seed % 2 else -1), random_state=seed)


def right_events(data: LatentDataset, codes: np.ndarray, units: Units) -> np.ndarray:
    """Judge latents that mostly rest by plain correlation: ranks of what rests are ranks of the noise."""
    del units  # each latent is one
    table = np.abs(unit(codes).T @ data.z) / len(codes)
    found = np.zeros(len(table), bool)
    rows, columns = linear_sum_assignment(-table)
    found[rows] = table[rows, columns] > RIGHT
    return found


FAMILIES: tuple[Family, ...] = (
    Family("linear.heavy", "linear", heavy, fast_ica),
    Family("linear.light", "linear", light, fast_ica),
    Family("linear.many", "linear", many, fast_ica),
    Family("linear.some_gaussian", "linear", some_gaussian, fast_ica),
    Family("linear.noisy", "linear", noisy, fast_ica),
    Family("linear.noisy_sensors", "linear", noisy_sensors, fast_ica),
    Family("linear.short", "linear", short, fast_ica),
    Family("linear.bursts", "linear", bursts, fast_ica, right=right_events),
    Family("linear.few_rows", "linear", few_rows, fast_ica, n_samples=600),
    Family("linear.events", "linear", events, fast_ica, right=right_events),
    Family("linear.dependent", "linear", dependent, fast_ica),
    Family("linear.curved", "linear", curved, fast_ica),
    Family("linear.wrong_number", "linear", wrong_number, one_off),
    Family("linear.gaussian", "linear", gaussian, fast_ica, null=True),
    Family("linear.spherical", "linear", spherical, fast_ica, null=True),
    Family("linear.planes", "linear", planes, fast_ica, null=True),
)
