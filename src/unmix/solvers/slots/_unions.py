"""Slots that nobody counted: latents that together move no more observed variables than each of them."""

import numpy as np

_NOTHING = 0.15  # standard deviations of an observed variable that hardly count as influence
_JUMP = 1.75  # least ratio between the price of a wrong union and that of the dearest right one
_FREE = 0.3  # of the variables that a latent moves: what a union within a slot may always cost


def joined_slots(spread: np.ndarray) -> list[list[int]]:
    """Return groups of latents, joined as long as unions stay cheap.

    Groups of s latents that move r observed variables have s (r - s) entries to choose in the mixing, up to a
    change of basis within the group. A slot costs the same as a whole and in parts, however sparse the
    parts are: its directions can be chosen to leave s - 1 of its variables alone. The union of two slots
    costs more, by the variables that one of them does not move. So groups are joined, the cheapest union
    first, until the price jumps, compared with the dearest before and with three tenths of the variables that
    a latent moves.

    Parameters
    ----------
    spread : array of shape (n_latents, n_observed)
        Variance that each latent, of unit variance, gives each observed variable, of unit variance.

    Examples
    --------
    >>> spread = [[3.0, 2.9, 1.1, 0.0, 0.0], [0.0, 0.0, 0.2, 2.0, 2.2], [1.0, 1.1, 0.0, 0.0, 0.0]]
    >>> joined_slots(np.array(spread))
    [[0, 2], [1]]

    References
    ----------
    Matthes, Han and Shen (2026), Mechanistic independence, arXiv:2509.22196 (slots that are independent move
    variables of their own; counting entries up to a basis is ours).
    """
    groups = [[i] for i in range(len(spread))]
    dearest = _FREE * float(_moved(spread).mean())
    while len(groups) > 1:
        price, pair = _cheapest(spread, groups)
        if price > _JUMP * dearest:
            break
        groups = [g for k, g in enumerate(groups) if k not in pair] + [groups[pair[0]] + groups[pair[1]]]
        dearest = max(dearest, price)
    return sorted(sorted(group) for group in groups)


def _cheapest(spread: np.ndarray, groups: list[list[int]]) -> tuple[float, tuple[int, int]]:
    """Return the lowest price of a union, and the two groups."""
    sums, sizes = np.stack([spread[g].sum(0) for g in groups]), np.array([len(g) for g in groups])
    alone = _entries(_moved(sums), sizes)
    union = _entries(_moved(sums[:, None] + sums), sizes[:, None] + sizes)
    price = union - alone[:, None] - alone + np.diag(np.full(len(groups), np.inf))
    first, second = np.unravel_index(price.argmin(), price.shape)
    return float(price[first, second]), (int(first), int(second))


def _moved(spread: np.ndarray) -> np.ndarray:
    """Count the observed variables that get some variance, smoothly."""
    return (spread / (spread + _NOTHING**2)).sum(-1)


def _entries(moved: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    return sizes * (moved - sizes)
