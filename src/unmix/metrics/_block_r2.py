"""Blocks of factors against groups of codes: what each group knows, and what leaks."""

from collections.abc import Iterable
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from ._checks import column_blocks, weighted_pair
from ._r2 import explained


def block_r2(
    z_true: ArrayLike,
    z_hat: ArrayLike,
    *,
    blocks: Iterable[Iterable[SupportsIndex]] | None = None,
    code_blocks: Iterable[Iterable[SupportsIndex]] | None = None,
    probe: str = "kernel",
    n_fit: int = 2000,
    weights: ArrayLike | None = None,
    random_state: Any = 0,
) -> np.ndarray:
    """Predict each block of factors from each group of codes alone, on unseen samples.

    Block identification means one large entry per row and per column. An entry off that pattern is leakage,
    unless the factors themselves are dependent: `block_r2(z_true, z_true, ...)` shows how much that explains.

    Parameters
    ----------
    z_true : array-like of shape (n_samples, n_factors)
        None of the factors may be constant.
    z_hat : array-like of shape (n_samples, n_codes)
    blocks : iterable of iterables of int, optional
        Blocks of factors, by default each factor by itself. Shares are averaged over the factors of a block.
    code_blocks : iterable of iterables of int, optional
        Groups of codes, by default each code by itself.
    probe, n_fit, weights, random_state
        As for `r2`; the kernel probe is the default, since blocks are identified up to nonlinear maps.

    Returns
    -------
    ndarray of shape (n_blocks, n_code_blocks)

    Examples
    --------
    >>> z = np.random.default_rng(0).normal(size=(400, 3))
    >>> codes = np.column_stack([z[:, 2] ** 3, z[:, 0] + z[:, 1], z[:, 0] - z[:, 1]])
    >>> block_r2(z, codes, blocks=[[0, 1], [2]], code_blocks=[[1, 2], [0]]).round(1) + 0.0
    array([[1. , 0. ],
           [0. , 0.9]])

    References
    ----------
    von Kügelgen et al. (2021), Self-supervised learning with data augmentations provably isolates content
    from style, section 5, arXiv:2106.04619; Xu, Lachapelle, Magliacane (2026), appendix D.11,
    arXiv:2604.13218.
    """
    truth, codes, w = weighted_pair(z_true, z_hat, weights, n_least=4)
    rows = column_blocks(blocks, truth.shape[1], "blocks")
    groups = column_blocks(code_blocks, codes.shape[1], "code_blocks")
    drawn = int(np.random.default_rng(random_state).integers(2**32))
    seed = random_state if isinstance(random_state, int) else drawn  # one split for all
    shares = [explained(truth, codes[:, group], probe, n_fit, w, seed) for group in groups]
    return np.array([[share[block].mean() for share in shares] for block in rows])
