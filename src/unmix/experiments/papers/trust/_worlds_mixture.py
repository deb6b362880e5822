"""Worlds of latents with values of rest: kept, broken in one way or another, and without any rest at all."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from unmix.data import LatentDataset, degenerate_mixture
from unmix.estimators import PDGMM, LabelledSparseAutoencoder, SparseBasis

from ._family import RIGHT, Family, Units, case_of

Draw = Callable[[int, int], LatentDataset]
Spoil = Callable[[LatentDataset, np.random.Generator], LatentDataset]


def right_up_to_scale(data: LatentDataset, codes: np.ndarray, units: Units) -> np.ndarray:
    """Return for each latent whether it is one of the true ones up to sign, scale and shift.

    By the correlation of values: ranks of a latent that rests half of the time are ties, and a code that is
    right up to the last digit would have a rank correlation of .94.
    """
    del units  # each latent is one
    n = codes.shape[1]
    table = np.abs(np.nan_to_num(np.corrcoef(codes.T, data.z.T)[:n, n:]))
    rows, columns = linear_sum_assignment(-table)
    found = np.zeros(n, bool)
    found[rows] = table[rows, columns] > RIGHT
    return found


def _smooth(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Draw columns of variance 1 from laws of their own, with means of their own."""
    laws = (
        lambda size: rng.normal(size=size),
        lambda size: rng.uniform(-1, 1, size) * 3**0.5,
        lambda size: rng.gamma(2.0, size=size) / 2**0.5,
        lambda size: rng.logistic(size=size) * 3**0.5 / np.pi,
    )
    columns = [laws[rng.integers(len(laws))](shape[0]) for _ in range(shape[1])]
    return np.column_stack(columns) + rng.uniform(-0.7, 0.7, shape[1])


def _activity(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Draw who is active: each latent with a share of its own, and by chance together with another."""
    active = rng.random(shape) < rng.uniform(0.35, 0.65, shape[1])
    follows = rng.random(shape[0]) < rng.uniform(0, 0.3)
    active[follows, 0] = active[follows, 1]
    return active


def _resting(n_samples: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw latents that vary by laws of their own and otherwise rest at values of their own."""
    mixed = np.eye(n) + 0.4 * np.triu(rng.normal(size=(n, n)), 1)
    return _smooth(rng, (n_samples, n)) @ mixed * _activity(rng, (n_samples, n))


def _bent(z: np.ndarray, n_observed: int, rng: np.random.Generator, *, bend: float) -> np.ndarray:
    """Mix latents by a smooth invertible map into some more variables, in units of their own."""
    n = z.shape[1]
    turned = z @ np.linalg.qr(rng.normal(size=(n, n)))[0]
    bowed = turned + bend * np.tanh(turned) @ np.linalg.qr(rng.normal(size=(n, n)))[0]
    return bowed @ _matrix(n, n_observed, rng) * np.exp(rng.normal(size=n_observed) / 2)


def _matrix(n: int, n_observed: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a well-conditioned matrix (n, n_observed) of full rank."""
    square = np.linalg.qr(rng.normal(size=(n, n)))[0] * np.exp(rng.uniform(-0.3, 0.3, n))
    return np.column_stack([square, rng.normal(size=(n, n_observed - n)) / n**0.5])


def _world(seed: int, sizes: Sequence[int], latents: Any, n_samples: int, *, bend: float) -> LatentDataset:
    """Draw a world: its number of latents, their values, and a mixing into up to three variables more."""
    rng = np.random.default_rng((seed, 16))
    n = int(rng.choice(sizes))
    z = latents(n_samples, n, rng)
    return LatentDataset(_bent(z, n + int(rng.integers(4)), rng, bend=bend), z)


def masked(n_samples: int, seed: int) -> LatentDataset:
    """Draw components in which one or two latents vary, as published, with sizes drawn anew."""
    rng = np.random.default_rng((seed, 17))
    n = int(rng.integers(3, 5))
    return degenerate_mixture(
        n_samples,
        n,
        mask_size=int(rng.integers(1, n - 1)),
        graph_degree=int(rng.integers(2)),
        n_layers=int(rng.integers(2, 7)),
        random_state=seed,
    )


def spherical(n_samples: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw latents whose law no rotation changes: nothing tells a direction from any other."""
    way = rng.normal(size=(n_samples, n))
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    gauss = rng.chisquare(n, n_samples) ** 0.5
    radii = (
        gauss,
        rng.random(n_samples) ** (1 / n),
        gauss / (rng.chisquare(4, n_samples) / 4) ** 0.5,
        rng.gamma(n, size=n_samples),
        gauss * np.where(rng.random(n_samples) < 0.5, 0.1, 1.0),
    )
    return way * radii[rng.integers(len(radii))][:, None]


def full_components(n_samples: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw from Gaussians of full rank, which tell latents up to an affine map at best."""
    label, means = rng.integers(3, size=n_samples), 1.5 * rng.normal(size=(3, n))
    turns = np.linalg.qr(rng.normal(size=(2, 3, n, n)))[0]
    roots = turns[0] * rng.uniform(0.6, 1.4, (3, 1, n)) @ turns[1]  # no component is thin in any direction
    return np.einsum("ij,ijk->ik", rng.normal(size=(n_samples, n)), roots[label]) + means[label]


def together(n_samples: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw Gaussian latents that rest three by three, so that a rotation of three rests as often."""
    active = rng.random((n_samples, n // 3)) < rng.uniform(0.35, 0.65, n // 3)
    return rng.normal(size=(n_samples, n)) * np.repeat(active, 3, axis=1)


def never(n_samples: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw latents without one value of rest, whose laws may tell them apart but by another argument."""
    law = rng.integers(3)
    if law == 0:
        return _smooth(rng, (n_samples, n))
    return (
        rng.laplace(size=(n_samples, n)) if law == 1 else rng.integers(2, size=(n_samples, n)).astype(float)
    )


def nested(n_samples: int, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw latents the second of which is active only where the first is."""
    z = _resting(n_samples, n, rng)
    z[:, 1] *= z[:, 0] != 0
    return z


def _skewed(data: LatentDataset, rng: np.random.Generator) -> LatentDataset:
    return replace(data, x=data.x * 10.0 ** rng.uniform(-3, 3, data.x.shape[1]))


def _noisy(
    data: LatentDataset, rng: np.random.Generator, levels: Sequence[float] = (0.03, 0.1, 0.25)
) -> LatentDataset:
    share = rng.choice(levels)
    return replace(data, x=data.x + share * data.x.std(0) * rng.normal(size=data.x.shape))


def _few(data: LatentDataset, rng: np.random.Generator) -> LatentDataset:
    n = int(rng.integers(60, 200))
    return replace(data, x=data.x[:n].copy(), z=data.z[:n].copy())


def _copied(data: LatentDataset, rng: np.random.Generator) -> LatentDataset:
    rows = rng.integers(len(data.x) // 4, size=len(data.x))
    return replace(data, x=data.x[rows], z=data.z[rows])


def _spoilt(
    n_samples: int, seed: int, *, by: Sequence[Spoil], sizes: Sequence[int], bend: float, latents: Any
) -> LatentDataset:
    """Draw a world that keeps its assumptions, and spoil the table in one of some ways."""
    data = _world(seed, sizes, latents, n_samples, bend=bend)
    return by[case_of(seed, len(by))](data, np.random.default_rng((seed, 18)))


def _one_of(*latents: Any) -> Any:
    return lambda n_samples, n, rng: latents[rng.integers(len(latents))](n_samples, n, rng)


def _drawn(latents: Any, sizes: Sequence[int], *, bend: float) -> Draw:
    return lambda n_samples, seed: _world(seed, sizes, latents, n_samples, bend=bend)


def _labelled(n_samples: int, seed: int) -> LatentDataset:
    """Components with labels, which every third world shuffles."""
    rng = np.random.default_rng((seed, 19))
    data = degenerate_mixture(n_samples, 3, mask_size=1, n_layers=2, random_state=seed)
    labels = np.asarray(data.labels)
    return replace(data, u=rng.permutation(labels) if case_of(seed, 3) == 2 else labels.copy())


def _model(estimator: Any, data: LatentDataset, seed: int) -> Any:
    return estimator(data.z.shape[1], random_state=seed)


def _miscounted(estimator: Any, data: LatentDataset, seed: int) -> Any:
    """Ask for one latent too few, or for one too many where there are variables for it."""
    n = data.z.shape[1]
    return estimator(min(n + (1 if seed % 2 else -1), data.x.shape[1]), random_state=seed)


def _hardly(data: LatentDataset, rng: np.random.Generator) -> LatentDataset:
    """Add so little noise that the rank of the data tells nothing about their number of latents."""
    return _noisy(data, rng, levels=(0.02,))


_family = partial(Family, kind="mixture", right=right_up_to_scale)
_BENT, _LINEAR = (3, 4), (3, 4, 5, 6, 8)
_NETWORK, _BASIS = partial(_model, PDGMM), partial(_model, SparseBasis)
_SHAPELESS = _one_of(spherical, full_components)


def _spoilt_families(name: str, estimator: Any, *, n_samples: int, **world: Any) -> Iterator[Family]:
    """Yield families in which one assumption each is broken."""
    ways: dict[str, tuple[Sequence[Spoil], Any]] = {
        "noisy": ((_noisy,), _resting),
        "rough": ((_few, _copied, _skewed), _resting),
        "miscounted": ((_hardly,), _resting),
        "unmet": ((_hardly,), _one_of(nested, never)),
    }
    for how, (by, latents) in ways.items():
        draw = partial(_spoilt, by=by, latents=latents, **world)
        model = partial(_miscounted if how == "miscounted" else _model, estimator)
        yield _family(f"{name}.{how}", draw=draw, model=model, n_samples=n_samples)


FAMILIES: tuple[Family, ...] = (
    _family("mixture.masked", draw=masked, model=_NETWORK, n_samples=700),
    _family("mixture.resting", draw=_drawn(_resting, _BENT, bend=0.4), model=_NETWORK, n_samples=700),
    *_spoilt_families("mixture", PDGMM, sizes=_BENT, bend=0.4, n_samples=700),
    _family(
        "mixture.shapeless",
        draw=_drawn(_SHAPELESS, _BENT, bend=0.4),
        model=_NETWORK,
        n_samples=700,
        null=True,
    ),
    _family(
        "mixture.together", draw=_drawn(together, (3,), bend=0.4), model=_NETWORK, n_samples=700, null=True
    ),
    _family("basis.resting", draw=_drawn(_resting, _LINEAR, bend=0.0), model=_BASIS, n_samples=1500),
    *_spoilt_families("basis", SparseBasis, sizes=_LINEAR, bend=0.0, n_samples=1500),
    _family(
        "basis.shapeless", draw=_drawn(_SHAPELESS, _LINEAR, bend=0.0), model=_BASIS, n_samples=1500, null=True
    ),
    _family(
        "basis.together", draw=_drawn(together, (3, 6), bend=0.0), model=_BASIS, n_samples=1500, null=True
    ),
    _family(
        "mixture.labelled",
        draw=_labelled,
        model=partial(_model, LabelledSparseAutoencoder),
        n_samples=700,
        labelled=True,
    ),
)
