"""Derivatives of the log-densities of latents in each domain: given, estimated, or of Gaussians."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

LogDensity = Callable[[np.ndarray, int], ArrayLike]
_N_POINTS = 64
_STEP = 1e-3


@dataclass(frozen=True, eq=False)
class Derivatives:
    """d/dz_i and d2/dz_i^2 of log p(z_i | u), at points z, with latents in units of their spread.

    Attributes
    ----------
    first, second : ndarray of shape (n_points, n_domains, n_latents)
    first_error, second_error : ndarray of the same shape
        Standard errors; zeros where densities are given.
    """

    first: np.ndarray
    second: np.ndarray
    first_error: np.ndarray
    second_error: np.ndarray


def of_gaussians(means: ArrayLike, variances: ArrayLike, counts: np.ndarray | None = None) -> Derivatives:
    """Return l' = -(z - m) / v and l'' = -1 / v, with standard errors where parameters are estimates.

    Parameters
    ----------
    means, variances : array-like of shape (n_domains, n_latents)
    counts : ndarray of shape (n_domains,), optional
        Samples in each domain, from which moments were estimated.
    """
    m, v = _checked_gaussians(means, variances)
    centre = m.mean(0)
    spread = np.sqrt((v + (m - centre) ** 2).mean(0))
    m, v = (m - centre) / spread, v / spread**2
    # points as they occur over all domains; the same whatever the order of domains
    z = np.random.default_rng(0).standard_normal((_N_POINTS, 1, m.shape[1]))
    first = -(z - m) / v
    second = np.broadcast_to(-1 / v, first.shape)
    if counts is None:
        return Derivatives(first, second, np.zeros_like(first), np.zeros_like(first))
    share = 1 / counts[:, None]
    # var(m) = v / N and var(v) = 2 v^2 / N, carried through l' and l''
    first_error = np.sqrt(share / v + 2 * share * first**2)
    second_error = np.broadcast_to(np.sqrt(2 * share) / v, first.shape)
    return Derivatives(first, second, first_error, second_error)


def of_samples(z: ArrayLike, u: ArrayLike | None) -> Derivatives:
    """Return derivatives of Gaussians fitted to the samples of each domain."""
    codes = np.asarray(z, dtype=np.float64)
    if codes.ndim != 2 or not np.isfinite(codes).all():
        raise ValueError(f"`z` must be finite and of shape (n_samples, n_latents), got {codes.shape}.")
    index = _domains_of(u, len(codes))
    counts = np.bincount(index)
    if counts.min() < 3:
        raise ValueError(
            f"`u` must give each domain at least 3 samples, got {counts.min()} for domain {counts.argmin()}. "
            "Drop that domain."
        )
    groups = [codes[index == domain] for domain in range(len(counts))]
    means, variances = np.array([g.mean(0) for g in groups]), np.array([g.var(0) for g in groups])
    return of_gaussians(means, variances, counts)


def of_function(log_density: LogDensity, points: ArrayLike, n_domains: int) -> Derivatives:
    """Differentiate log p(z_i | u) by central differences; each column depends on its own latent only."""
    z = np.asarray(points, dtype=np.float64)
    if z.ndim != 2 or not len(z) or not np.isfinite(z).all():
        raise ValueError(f"`points` must be finite and of shape (n_points, n_latents), got {z.shape}.")
    check_domains(n_domains, "n_domains")
    spread = np.where(z.std(0) > 0, z.std(0), 1.0)
    below, at, above = (
        np.stack([_evaluated(log_density, z + shift, u) for u in range(n_domains)], axis=1)
        for shift in (-_STEP * spread, 0 * spread, _STEP * spread)
    )
    first, second = (above - below) / (2 * _STEP), (above - 2 * at + below) / _STEP**2
    return Derivatives(first, second, np.zeros_like(first), np.zeros_like(first))


def check_domains(n_domains: int, name: str) -> None:
    """Refuse to look for changes where there is nothing to compare with."""
    if n_domains < 2:
        raise ValueError(
            f"`{name}` must hold at least two domains, got {n_domains}. With one domain nothing changes."
        )


def _evaluated(log_density: LogDensity, z: np.ndarray, domain: int) -> np.ndarray:
    values = np.asarray(log_density(z, domain), dtype=np.float64)
    if values.shape != z.shape or not np.isfinite(values).all():
        raise ValueError(
            f"`log_density` must return finite values of shape {z.shape}, one log p(z_i | u) per latent, got "
            f"{values.shape} in domain {domain}. Densities must be positive at all points."
        )
    return values


def _checked_gaussians(means: ArrayLike, variances: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    m, v = np.asarray(means, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    if m.ndim != 2 or v.shape != m.shape:
        raise ValueError(
            f"`means` and `variances` must have the same shape (n_domains, n_latents), got {m.shape} and "
            f"{v.shape}. One row per domain."
        )
    check_domains(len(m), "means")
    if not np.isfinite(m).all() or not np.isfinite(v).all():
        raise ValueError(
            "`means` and `variances` must be finite, got NaN or infinite entries. Drop those domains."
        )
    if (v <= 0).any():
        domain, latent = np.argwhere(v <= 0)[0].tolist()
        raise ValueError(
            f"`variances` must be positive, got {v[domain, latent]} for z{latent} in domain {domain}. "
            "Densities must be positive; a constant latent has none."
        )
    return m, v


def _domains_of(u: ArrayLike | None, n_samples: int) -> np.ndarray:
    if u is None:
        raise ValueError("`u` must be given with `z`, got None. Say which domain each sample is from.")
    given = np.asarray(u)
    if given.shape != (n_samples,):
        raise ValueError(f"`u` must have shape ({n_samples},), got {given.shape}. One label for each sample.")
    if given.dtype.kind == "f" and np.isnan(given).any():
        raise ValueError(f"`u` must not be missing, got NaN for {int(np.isnan(given).sum())} samples.")
    values, index = np.unique(given, return_inverse=True)
    check_domains(len(values), "u")
    return index
