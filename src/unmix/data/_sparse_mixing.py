"""Latents mixed along a sparse dependency structure."""

from collections.abc import Callable

import numpy as np

from unmix.structure import Structure, dense, diverse

from ._checks import amounts, at_least, one_of
from ._dataset import LatentDataset, Law, World
from ._mixing import SparseMixing

PROFILES = ("tall", "square", "dense")
MIXINGS = ("leaky", "tanh", "linear")
_CORRELATION = 0.5
_WEAKEST = 0.3  # edge of a row, against its strongest
_SMALLEST = 0.1  # of the singular values of the Jacobian, and of the secants between samples
_FLATTENINGS = 12
_DRAWS = 50
_CHECKED = 2000


def _normal(shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=shape)


def _uniform(shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(-np.sqrt(3), np.sqrt(3), size=shape)


def _laplace(shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    return rng.laplace(scale=np.sqrt(0.5), size=shape)


def _dependent(shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    common = rng.normal(size=(shape[0], 1))
    return np.sqrt(_CORRELATION) * common + np.sqrt(1 - _CORRELATION) * rng.normal(size=shape)


LATENTS: dict[str, Law] = {
    "normal": _normal,
    "uniform": _uniform,
    "laplace": _laplace,
    "dependent": _dependent,
}


def sparse_mixing(
    n_samples: int = 10_000,
    n_latents: int = 5,
    n_observed: int | None = None,
    structure: Structure | None = None,
    *,
    profile: str = "tall",
    noise: float = 0.0,
    latents: str = "normal",
    mixing: str = "leaky",
    nonlinearity: float = 0.5,
    random_state: int | np.random.Generator | None = None,
) -> LatentDataset:
    """Mix latents by an injective nonlinear map whose Jacobian support is exactly a given structure.

    The generator checks its own promises on the samples and draws again until they hold: every edge of the
    structure, and no other, is seen in the Jacobian, with at least 0.3 of the mean size of the strongest edge
    of its row; the Jacobian's smallest singular value stays above 0.1 (with one sign of the determinant when
    square); no two samples come closer than 0.1 times the distance of their latents. Networks that bend too
    much for that are flattened in steps of 0.8, those of single rows where a single edge is too weak.

    Parameters
    ----------
    n_samples, n_latents : int
    n_observed : int, optional
        By default twice `n_latents`, or `n_latents` for the square profile.
    structure : Structure, optional
        Which latent moves which observed variable; it overrides the sizes and the profile.
    profile : {"tall", "square", "dense"}
        "tall" and "square": a random diverse structure, two parents for each observed variable and no
        latent's children among another's. "dense": every latent moves every observed variable, by the same
        family of maps.
    noise : float
        Standard deviation of Gaussian noise, in standard deviations of each observed variable.
    latents : {"normal", "uniform", "laplace", "dependent"}
        Independent with mean 0 and variance 1, or jointly normal with all correlations 0.5.
    mixing : {"leaky", "tanh", "linear"}
        Activation of the networks, or none at all.
    nonlinearity : float
        Spread of the nonlinear part against that of the linear part, before any flattening.
    random_state : int, Generator or None

    Returns
    -------
    LatentDataset

    Examples
    --------
    >>> data = sparse_mixing(100, n_latents=3, random_state=0)
    >>> data.x.shape, data.z.shape, data.structure.n_edges
    ((100, 6), (100, 3), 12)

    References
    ----------
    Zheng et al. (2026), Diverse dictionary learning, Section 4.1, arXiv:2604.17568. Their settings are the
    square profile (diverse) and a dense structure ("Base").
    """
    one_of(profile=(profile, PROFILES), latents=(latents, LATENTS), mixing=(mixing, MIXINGS))
    check_sizes(n_samples, n_latents, n_observed, structure, noise, nonlinearity)
    rng = np.random.default_rng(random_state)
    z, g = latents_and_mixing(
        rng,
        n_samples,
        _structures(n_latents, n_observed, structure, profile),
        LATENTS[latents],
        mixing,
        nonlinearity,
    )
    return World(LATENTS[latents], latents, g, noise, _describe(g, latents, noise)).observed(z, rng)


def _structures(
    n_latents: int, n_observed: int | None, structure: Structure | None, profile: str
) -> Callable[[np.random.Generator], Structure]:
    """Return how to draw a structure of the profile."""
    if structure is not None:
        return lambda rng: structure
    x = n_observed or (n_latents if profile == "square" else 2 * n_latents)
    if profile == "dense":
        return lambda rng: dense(x, n_latents)
    return lambda rng: diverse(x, n_latents, random_state=rng)


def latents_and_mixing(
    rng: np.random.Generator,
    n_samples: int,
    structures: Callable[[np.random.Generator], Structure],
    latents: Law,
    mixing: str,
    nonlinearity: float,
) -> tuple[np.ndarray, SparseMixing]:
    """Draw latents and a mixing that keeps its promises on them."""
    strength = 0.0 if mixing == "linear" else nonlinearity
    activation = "leaky" if mixing == "linear" else mixing
    for _ in range(_DRAWS):
        structure = structures(rng)
        g = SparseMixing.draw(structure, nonlinearity=strength, activation=activation, rng=rng)
        z = latents((n_samples, structure.n_latents), rng)
        probe = latents((_CHECKED, structure.n_latents), rng)
        probe[: min(n_samples, _CHECKED // 2)] = z[: _CHECKED // 2]
        for _ in range(_FLATTENINGS):
            too_bent = _too_bent(g, probe)
            if not too_bent.any():
                return z, g
            g = g.flattened(np.where(too_bent, 0.8, 1.0))
    raise ValueError(
        f"`structure` must allow an injective mixing, got {structure!r}: none was found in {_DRAWS} draws. "
        "Use more observed variables, or another structure."
    )


def _too_bent(g: SparseMixing, z: np.ndarray) -> np.ndarray:
    """Return the rows whose networks must be flattened for the promises to hold at sample points."""
    J = g.jacobian(z)
    strength, support = np.abs(J).mean(0), g.structure.support
    visible = (strength >= _WEAKEST * strength.max(1, keepdims=True)) == support
    one_sided = J.shape[1] > J.shape[2] or abs(np.sign(np.linalg.det(J)).sum()) == len(J)
    return ~visible.all(1) | (not (one_sided and keeps_apart(g, J, z)))


def keeps_apart(g: Callable[[np.ndarray], np.ndarray], J: np.ndarray, z: np.ndarray) -> bool:
    """Return whether a mixing is injective with a margin at sample points, where its Jacobian is J."""
    upright = np.linalg.svd(J, compute_uv=False)[:, -1].min() > _SMALLEST
    steps, moves = np.diff(z, axis=0), np.diff(g(z), axis=0)
    apart = np.linalg.norm(moves, axis=1) > _SMALLEST * np.linalg.norm(steps, axis=1)
    return bool(upright and apart.all())


def _describe(g: SparseMixing, latents: str, noise: float) -> str:
    x, z = g.structure.shape
    return f"{z} {latents} latents, mixed into {x} observed variables along {g.structure.n_edges} edges" + (
        f", with noise of {noise:g} standard deviations." if noise else "."
    )


def check_sizes(
    n_samples: int,
    n_latents: int,
    n_observed: int | None,
    structure: Structure | None,
    noise: float,
    nonlinearity: float,
) -> None:
    """Check what all mixings along a structure ask for."""
    at_least(n_samples=(n_samples, 2), n_latents=(n_latents, 1))
    amounts(noise=noise, nonlinearity=nonlinearity)
    if structure is not None and not isinstance(structure, Structure):
        raise TypeError(
            f"`structure` must be a Structure, got {type(structure).__name__}. Wrap the mask in one."
        )
    if structure is not None and not structure.is_injective():
        raise ValueError(
            "`structure` must allow an injective mixing: match each latent to an observed variable."
        )
    if n_observed is not None and n_observed < n_latents:
        raise ValueError(
            f"`n_observed` must be at least n_latents={n_latents}, got {n_observed}. Observe more variables."
        )
