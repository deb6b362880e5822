"""Tables whose number of latents is known: 3 to 20 of them, in up to four times as many variables."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from unmix.data import degenerate_mixture, multi_domain, slots, sparse_mixing

LAWS: dict[str, Callable[[np.random.Generator, tuple[int, int]], np.ndarray]] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "uniform": lambda rng, shape: rng.uniform(-1.7, 1.7, size=shape),
    "laplace": lambda rng, shape: rng.laplace(size=shape),
    "exponential": lambda rng, shape: rng.exponential(size=shape),
}
NOISE = (0.0, 0.1, 0.3)
N_LATENTS = (3, 20)


class Size(NamedTuple):
    """Samples, latents, observed variables, and noise in standard deviations of a variable."""

    n_samples: int
    n_latents: int
    n_observed: int
    noise: float


def drawn_size(n_samples: int, rng: np.random.Generator) -> Size:
    """Draw 3 to 20 latents and n + 2 to 4 n variables."""
    n = int(rng.integers(N_LATENTS[0], N_LATENTS[1] + 1))
    return Size(n_samples, n, int(rng.integers(n + 2, 4 * n + 1)), float(rng.choice(NOISE)))


def _noisy(x: np.ndarray, spread: float | np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return x + spread * x.std(0) * rng.normal(size=x.shape)


def _choice(rng: np.random.Generator, names: tuple[str, ...]) -> str:
    return str(rng.choice(names))


def linear(size: Size, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Mix latents of any law by a random matrix."""
    z = LAWS[_choice(rng, tuple(LAWS))](rng, (size.n_samples, size.n_latents))
    return _noisy(z @ rng.normal(size=(size.n_latents, size.n_observed)), size.noise, rng), size.n_latents


def uneven(size: Size, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Mix linearly, with noise of 0.05 to 0.6 standard deviations, another for each variable."""
    d = max(size.n_observed, 2 * size.n_latents + 2)
    x, n = linear(size._replace(n_observed=d, noise=0.0), rng)
    return _noisy(x, rng.uniform(0.05, 0.6, size=d), rng), n


def sparse_linear(size: Size, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Let each variable react to two latents, linearly."""
    return _sparse(size, rng, "tall", ("linear",))


def sparse_bent(size: Size, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Let each variable react to two latents by a network."""
    return _sparse(size, rng, "tall", ("leaky", "tanh"))


def dense_bent(size: Size, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Let each variable react to every latent by a network."""
    return _sparse(size, rng, "dense", ("leaky", "tanh"))


def _sparse(
    size: Size, rng: np.random.Generator, profile: str, mixings: tuple[str, ...]
) -> tuple[np.ndarray, int]:
    law, mixing = _choice(rng, ("normal", "uniform", "laplace")), _choice(rng, mixings)
    made = {"profile": profile, "latents": law, "mixing": mixing, "noise": size.noise}
    data = sparse_mixing(size.n_samples, size.n_latents, size.n_observed, random_state=rng, **made)  # type: ignore[arg-type]
    return data.x, size.n_latents


def resting(size: Size, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Mix latents that rest in some components by a piecewise affine map into more variables."""
    profile = _choice(rng, ("paper", "hard", "linear"))
    x = degenerate_mixture(size.n_samples, size.n_latents, profile=profile, random_state=rng).x
    wide = (x / x.std(0)) @ rng.normal(size=(size.n_latents, size.n_observed))
    turned = np.maximum(wide, 0.5 * wide) @ np.linalg.qr(rng.normal(size=(size.n_observed,) * 2))[0]
    return _noisy(turned, size.noise, rng), size.n_latents


def domains(size: Size, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Mix latents that change between domains."""
    n = size.n_latents
    data = multi_domain(
        size.n_samples,
        n,
        size.n_observed,
        n_domains=int(rng.integers(n + 1, 2 * n + 2)),
        noise=size.noise,
        random_state=rng,
    )
    return data.x, n


def in_slots(size: Size, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Mix slots of one to three latents, each into variables of its own."""
    each = int(rng.integers(1, 4))
    count = max(-(-N_LATENTS[0] // each), round(size.n_latents / each))
    n_rows = int(rng.integers(each + 2, 4 * each + 1))
    count = min(count, N_LATENTS[1] // each)
    data = slots(size.n_samples, count, each, n_rows=n_rows, noise=size.noise, random_state=rng)
    return data.x, count * each


def nothing_shared(size: Size, rng: np.random.Generator) -> tuple[np.ndarray, None]:
    """Draw variables that have nothing to do with each other."""
    return LAWS[_choice(rng, tuple(LAWS))](rng, (size.n_samples, size.n_observed)), None


def no_end(size: Size, rng: np.random.Generator) -> tuple[np.ndarray, None]:
    """Draw as many latents as variables, whose variances fall by a power law."""
    d = max(size.n_observed, 30)
    spread = np.arange(1, d + 1) ** -rng.uniform(0.3, 0.8)
    z = LAWS[_choice(rng, tuple(LAWS))](rng, (size.n_samples, d)) * spread
    return z @ np.linalg.qr(rng.normal(size=(d, d)))[0], None


WORLDS: dict[str, Callable[[Size, np.random.Generator], tuple[np.ndarray, int | None]]] = {
    "linear": linear,
    "linear, uneven noise": uneven,
    "sparse, linear": sparse_linear,
    "sparse, bent": sparse_bent,
    "dense, bent": dense_bent,
    "resting latents": resting,
    "domains": domains,
    "slots": in_slots,
    "nothing shared": nothing_shared,
    "no end": no_end,
}
