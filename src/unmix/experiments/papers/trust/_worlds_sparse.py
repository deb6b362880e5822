"""Worlds for sparse mixing: those that diverse dictionary learning is made for, and those where it must fail.

Mechanisms differ from those of `unmix.data`: additive waves, products and post-nonlinear sums, none of which
the estimator was tuned on.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from unmix.data import LatentDataset, sparse_mixing
from unmix.estimators import DiverseDictionaryLearning
from unmix.structure import Structure, diverse

from ._family import Family

Rng = np.random.Generator
Map = Callable[[np.ndarray, np.ndarray, Rng], np.ndarray]
_ROWS, _FEW = 2000, 400


def weights(support: np.ndarray, rng: Rng) -> np.ndarray:
    """Draw loadings of at least half the largest size on a support."""
    sizes = rng.uniform(0.5, 1.0, support.shape) * rng.choice([-1.0, 1.0], support.shape)
    return support * sizes


def linear(z: np.ndarray, w: np.ndarray, rng: Rng) -> np.ndarray:
    """Mix linearly."""
    del rng
    return z @ w.T


def waves(z: np.ndarray, w: np.ndarray, rng: Rng) -> np.ndarray:
    """Add to a linear map a slow wave of each latent, so that every edge bends by itself."""
    turn, phase = rng.uniform(0.8, 1.6, w.shape), rng.uniform(0, 2 * np.pi, w.shape)
    bent = np.sin(z[:, None, :] * turn + phase) / (2 * turn)
    return z @ w.T + np.einsum("sij,ij->si", bent, w)


def products(z: np.ndarray, w: np.ndarray, rng: Rng) -> np.ndarray:
    """Add to a linear map a saturating function of another sum of the same parents: latents interact."""
    other = weights(w != 0, rng)
    return z @ w.T + 0.7 * np.tanh(z @ other.T) * np.abs(w).max(1)


def outer(z: np.ndarray, w: np.ndarray, rng: Rng) -> np.ndarray:
    """Bend every sum as a whole, as a sensor does: the latents do not interact beyond it."""
    total = z @ w.T / np.sqrt(np.square(w).sum(1))
    return np.where(total > 0, total, rng.uniform(0.3, 0.8, len(w)) * total)


MAPS: tuple[Map, ...] = (waves, products)
LAWS: tuple[Callable[[tuple[int, int], Rng], np.ndarray], ...] = (
    lambda shape, rng: rng.normal(size=shape),
    lambda shape, rng: rng.uniform(-1.7, 1.7, size=shape),
    lambda shape, rng: rng.laplace(scale=0.7, size=shape),
    lambda shape, rng: rng.gamma(4.0, 0.5, size=shape) - 2.0,
)


def common_cause(shape: tuple[int, int], rng: Rng) -> np.ndarray:
    """Draw latents with correlations of about a half, of signs at random."""
    shared = rng.normal(size=(shape[0], 1)) * rng.choice([-1.0, 1.0], shape[1])
    return np.sqrt(0.5) * shared + np.sqrt(0.5) * rng.normal(size=shape)


def sizes(rng: Rng, widest: float = 3.5) -> tuple[int, int]:
    """Draw numbers of latents and of observed variables."""
    n = int(rng.integers(3, 7))
    return n, int(rng.integers(2 * n, int(widest * n) + 1))


def mixed(
    n_samples: int,
    seed: int,
    *,
    maps: tuple[Map, ...] = MAPS,
    laws: tuple[Callable[..., np.ndarray], ...] = LAWS,
    noise: float = 0.0,
    structure: Callable[[Rng], Structure] | None = None,
) -> LatentDataset:
    """Draw a world: a structure, a law of the latents, a map along the structure, and noise."""
    rng = np.random.default_rng((7, seed))
    support = (structure or sparse)(rng).support
    z = laws[rng.integers(len(laws))]((n_samples, support.shape[1]), rng)
    x = maps[rng.integers(len(maps))](z, weights(support, rng), rng)
    x = x + noise * x.std(0) * rng.normal(size=x.shape)
    return LatentDataset(x, z, Structure(support))


def sparse(rng: Rng) -> Structure:
    """Draw a diverse structure with two parents, or three where there are many latents."""
    n, d = sizes(rng)
    parents = 3 if n > 4 and rng.random() < 0.3 else 2
    return diverse(d, n, n_parents=parents, random_state=int(rng.integers(2**31)))


def full(rng: Rng) -> Structure:
    """Draw sizes of a dense structure: nothing is identified."""
    n, d = sizes(rng)
    return Structure(np.ones((d, n), bool))


def pairs(rng: Rng) -> Structure:
    """Draw latents in pairs that move variables of their own, densely: no latent is identified alone."""
    k, rows = int(rng.integers(2, 4)), int(rng.integers(3, 6))
    return Structure(np.kron(np.eye(k, dtype=bool), np.ones((rows, 2), bool)))


def networks(n_samples: int, seed: int) -> LatentDataset:
    """Draw a world of `unmix.data.sparse_mixing`, with sizes and laws of its own."""
    rng = np.random.default_rng((11, seed))
    n, d = sizes(rng, 3.0)
    law = str(rng.choice(["normal", "uniform", "laplace"]))
    options: Any = {"latents": law, "mixing": str(rng.choice(["leaky", "tanh"]))}
    return sparse_mixing(n_samples, n, d, random_state=int(rng.integers(2**31)), **options)  # type: ignore[arg-type]
    return sparse_mixing(n_samples, n, d, random_state=int(rng.integers(2**31)), **options)


def skewed(n_samples: int, seed: int) -> LatentDataset:
    """Read every column in units that are skewed, as concentrations and incomes are."""
    data = mixed(n_samples, seed)
    white = data.x / data.x.std(0)
    return LatentDataset(np.exp(0.8 * white), data.z, data.structure)


def moebius(n_samples: int, seed: int) -> LatentDataset:
    """Mix by a conformal map, square and dense: local angles are kept, and nothing is sparse."""
    rng = np.random.default_rng((13, seed))
    n = int(rng.integers(3, 6))
    z = rng.uniform(-1, 1, (n_samples, n))
    turn = np.linalg.qr(rng.normal(size=(n, n)))[0]
    pole = 2.5 * _unit(rng.normal(size=n))
    away = z @ turn.T - pole
    return LatentDataset(away / np.square(away).sum(1, keepdims=True), z)


def noise_only(n_samples: int, seed: int) -> LatentDataset:
    """Draw columns of Gaussian noise with a random covariance: there is no latent at all."""
    rng = np.random.default_rng((17, seed))
    n, d = sizes(rng)
    z = rng.normal(size=(n_samples, n))  # independent of x
    return LatentDataset(rng.normal(size=(n_samples, d)) @ rng.normal(size=(d, d)) / np.sqrt(d), z)


def signs(z: np.ndarray, w: np.ndarray, rng: Rng) -> np.ndarray:
    """Mix linearly and densely with loadings of equal size, so that rows cluster at patterns of signs."""
    del rng
    return z @ np.sign(w).T


def _unit(v: np.ndarray) -> np.ndarray:
    return v / np.linalg.norm(v)


def _ddl(data: LatentDataset, seed: int, *, beside: int = 0) -> DiverseDictionaryLearning:
    return DiverseDictionaryLearning(data.z.shape[1] + beside, random_state=seed)


def _family(
    name: str, draw: Callable[..., LatentDataset], *, n: int = _ROWS, beside: int = 0, null: bool = False
):
    return Family(name, "sparse", draw, partial(_ddl, beside=beside), n, null)


NORMAL = LAWS[:1]
FAMILIES: tuple[Family, ...] = (
    _family("sparse: waves and products", mixed),
    _family("sparse: networks", networks),
    _family("sparse: linear", partial(mixed, maps=(linear,), noise=0.02)),
    _family("sparse: bent sums", partial(mixed, maps=(outer,))),
    _family("sparse: noise", partial(mixed, noise=0.1)),
    _family("sparse: few samples", mixed, n=_FEW),
    _family("sparse: skewed units", skewed),
    _family("sparse: dependent", partial(mixed, laws=(common_cause,))),
    _family("sparse: one too few", mixed, beside=-1),
    _family("sparse: one too many", mixed, beside=1),
    _family(
        "null: dense linear",
        partial(mixed, maps=(linear, signs), laws=NORMAL, noise=0.05, structure=full),
        null=True,
    ),
    _family("null: dense bent", partial(mixed, structure=full), null=True),
    _family("null: pairs", partial(mixed, maps=(linear, *MAPS), structure=pairs), null=True),
    _family("null: Moebius", moebius, null=True),
    _family("null: noise", noise_only, null=True),
)
