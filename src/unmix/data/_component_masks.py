"""Which latents vary in which component of a mixture."""

import numpy as np

_DRAWS = 1000


def draw_masks(n_latents: int, mask_size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw up to 5 n different masks with `mask_size` active latents each, shape (n_masks, n_latents).

    One active latent gives the n circulant masks. Masks in which some latent is never active, or never
    inactive, are drawn again.

    References
    ----------
    Xu, Lachapelle and Magliacane (2026), Section 5 (5n random k-hot masks), arXiv:2604.13218.
    """
    if mask_size == 1:
        return np.eye(n_latents, dtype=bool)
    for _ in range(_DRAWS):
        ranks = rng.random((5 * n_latents, n_latents)).argsort(1).argsort(1)
        masks = np.unique(ranks < mask_size, axis=0)
        if masks.any(0).all() and not masks.all(0).any():
            return masks[rng.permutation(len(masks))]
    raise ValueError(
        f"`mask_size` must leave every latent active in some component, got {mask_size} of {n_latents}."
    )


def block_masks(sizes: tuple[int, ...], share: float, rng: np.random.Generator) -> np.ndarray:
    """Draw masks in which the latents of a block are active together."""
    n_active = max(1, int(share * len(sizes)))
    return np.repeat(draw_masks(len(sizes), n_active, rng), sizes, axis=1)


def active_count(mask_size: int | float, n_latents: int) -> int:
    """Return the number of active latents, given as it is or as a share (rounded down, at least 1)."""
    if isinstance(mask_size, int | np.integer):
        return int(mask_size)
    return max(1, int(mask_size * n_latents))
