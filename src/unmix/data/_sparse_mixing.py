"""Latents mixed along a sparse dependency structure."""

from collections.abc import Callable

import numpy as np

from unmix.structure import Structure, dense, diverse

from ._dataset import LatentDataset
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


LATENTS: dict[str, Callable[[tuple[int, int], np.random.Generator], np.ndarray]] = {
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
    _check(n_samples, n_latents, n_observed, structure, profile, noise, latents, mixing, nonlinearity)
    rng = np.random.default_rng(random_state)
    z, g = latents_and_mixing(
        rng,
        n_samples,
        _structures(n_latents, n_observed, structure, profile),
        LATENTS[latents],
        mixing,
        nonlinearity,
    )
    clean = g(z)
    x = clean + noise * clean.std(0) * rng.normal(size=clean.shape)
    return LatentDataset(
        x, z, g.structure, mixing=g, noise=noise, latents=latents, description=_describe(g, latents, noise)
    )


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
    latents: Callable[[tuple[int, int], np.random.Generator], np.ndarray],
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
    upright = np.linalg.svd(J, compute_uv=False)[:, -1].min() > _SMALLEST
    one_sided = J.shape[1] > J.shape[2] or abs(np.sign(np.linalg.det(J)).sum()) == len(J)
    steps, moves = np.diff(z, axis=0), np.diff(g(z), axis=0)
    apart = np.linalg.norm(moves, axis=1) > _SMALLEST * np.linalg.norm(steps, axis=1)
    return ~visible.all(1) | (not (upright and one_sided and apart.all()))


def _describe(g: SparseMixing, latents: str, noise: float) -> str:
    x, z = g.structure.shape
    return f"{z} {latents} latents, mixed into {x} observed variables along {g.structure.n_edges} edges" + (
        f", with noise of {noise:g} standard deviations." if noise else "."
    )


def _check(
    n_samples: int,
    n_latents: int,
    n_observed: int | None,
    structure: Structure | None,
    profile: str,
    noise: float,
    latents: str,
    mixing: str,
    nonlinearity: float,
) -> None:
    for name, choice, choices in (
        ("profile", profile, PROFILES),
        ("latents", latents, tuple(LATENTS)),
        ("mixing", mixing, MIXINGS),
    ):
        if choice not in choices:
            raise ValueError(f"`{name}` must be one of {choices}, got {choice!r}. Choose one of these.")
    check_sizes(n_samples, n_latents, n_observed, structure, noise, nonlinearity)


def check_sizes(
    n_samples: int,
    n_latents: int,
    n_observed: int | None,
    structure: Structure | None,
    noise: float,
    nonlinearity: float,
) -> None:
    """Check what all mixings along a structure ask for."""
    for name, value, least in (("n_samples", n_samples, 2), ("n_latents", n_latents, 1)):
        if not isinstance(value, int | np.integer) or value < least:
            raise ValueError(f"`{name}` must be an integer of at least {least}, got {value!r}.")
    for name, amount in (("noise", noise), ("nonlinearity", nonlinearity)):
        if not np.isfinite(amount) or amount < 0:
            raise ValueError(f"`{name}` must be a finite number of at least 0, got {amount!r}.")
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
