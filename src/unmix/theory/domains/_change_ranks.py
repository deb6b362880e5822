"""Ranks of changes between domains, at points z, with margins and against sampling noise."""

from dataclasses import dataclass

import numpy as np

from ._log_densities import Derivatives

_SHARE = 0.95
# latents are in units of their spread; numerical second derivatives are exact to about 1e-8
_VANISHING = 1e-6


@dataclass(frozen=True)
class RankCheck:
    """Whether changes between domains span all the directions asked for.

    Attributes
    ----------
    latents : tuple of int
    rank : int
        Directions spanned at a share 0.95 of points z.
    wanted : int
        Directions asked for: one per latent for A3, two for A5.
    margin : float
        Smallest over largest singular value, with columns of unit length: its 5 per cent quantile over
        points.
    """

    latents: tuple[int, ...]
    rank: int
    wanted: int
    margin: float

    def __bool__(self) -> bool:
        return self.rank >= self.wanted


def rank_check(found: Derivatives, latents: tuple[int, ...], tolerance: float, *, second: bool) -> RankCheck:
    """Count the directions in which some latents change between domains, to first or second order."""
    columns = list(latents)
    values, errors = found.first[:, :, columns], found.first_error[:, :, columns]
    if second:
        values = np.concatenate([found.second[:, :, columns], values], axis=2)
        errors = np.concatenate([found.second_error[:, :, columns], errors], axis=2)
    wanted = values.shape[2]
    if not wanted:
        return RankCheck(latents, 0, 0, 1.0)
    # centred rows span what differences to a reference domain span, and no domain is singled out
    centred = values - values.mean(1, keepdims=True)
    margins = _margins(centred)
    ranks = np.minimum((margins > tolerance).sum(1), _significant(values, errors, z_matters=not second))
    rank = int(np.quantile(ranks, 1 - _SHARE, method="lower"))
    return RankCheck(latents, rank, wanted, float(np.quantile(margins[:, -1], 1 - _SHARE)))


def _margins(centred: np.ndarray) -> np.ndarray:
    """Return singular values relative to the largest, with columns of unit length; (n_points, n_columns)."""
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    vanishing = lengths <= _VANISHING
    scaled = np.where(vanishing, 0.0, centred / np.where(vanishing, 1.0, lengths))
    values = _singular_values(scaled)
    return values / np.maximum(values[:, :1], 1e-300)


def _significant(values: np.ndarray, errors: np.ndarray, *, z_matters: bool) -> np.ndarray:
    """Count the singular values that exceed what noise may reach, where values are estimates.

    Columns and domains are scaled until no error exceeds 1, which leaves ranks as they are if centring is
    scaled with them. A U x p matrix of such noise has norm about sqrt(U) + sqrt(p); the factor is for errors
    of l' and l'' of one latent, which are correlated. Errors come with fitted Gaussians only, whose
    second-order rank is the same at every z: there the clearest point decides for all.
    """
    if not errors.any():
        return np.full(len(values), values.shape[2])
    columns = np.exp(np.log(errors).mean(1, keepdims=True))
    rows = 1 / (errors / columns).max(2, keepdims=True)
    axis = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    scaled = rows * values / columns
    centred = scaled - axis * (axis * scaled).sum(1, keepdims=True)
    limit = np.sqrt(2) * (np.sqrt(values.shape[1]) + np.sqrt(values.shape[2]))
    counts = (_singular_values(centred) > limit).sum(1)
    return counts if z_matters else np.full(len(counts), counts.max())


def _singular_values(matrices: np.ndarray) -> np.ndarray:
    """Return as many singular values as columns, zeros where domains are too few."""
    values = np.linalg.svd(matrices, compute_uv=False)
    return np.pad(values, ((0, 0), (0, matrices.shape[2] - values.shape[1])))
