"""Slots that nobody counted: latents that together move no more observed variables than each of them."""

from collections.abc import Sequence

import numpy as np
import torch

_NOTHING = 0.15  # standard deviations of an observed variable that hardly count as influence
_JUMP = 1.75  # least ratio between the price of a wrong union and that of the dearest right one
_FREE = 0.3  # of the variables that a latent moves: what a union within a slot may always cost
_LEAST = 1e-6  # entries that a swap has to save, rounding errors apart
_ORDERS = 50  # random ones, from which latents of two groups are swapped


def joined_slots(spread: np.ndarray, n_groups: int | None = None) -> list[list[int]]:
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
    n_groups : int, optional
        How many there are, where that is known; then prices do not decide.

    Examples
    --------
    >>> spread = [[3.0, 2.9, 1.1, 0.0, 0.0], [0.0, 0.0, 0.2, 2.0, 2.2], [1.0, 1.1, 0.0, 0.0, 0.0]]
    >>> joined_slots(np.array(spread))
    [[0, 2], [1]]
    >>> joined_slots(np.array(spread), n_groups=1)
    [[0, 1, 2]]

    References
    ----------
    Matthes, Han and Shen (2026), Mechanistic independence, arXiv:2509.22196 (slots that are independent move
    variables of their own; counting entries up to a basis is ours).
    """
    groups = [[i] for i in range(len(spread))]
    dearest = _FREE * float(_moved(spread).mean())
    while len(groups) > (n_groups or 1):
        price, pair = _cheapest(spread, groups)
        if n_groups is None and price > _JUMP * dearest:
            break
        groups = [g for k, g in enumerate(groups) if k not in pair] + [groups[pair[0]] + groups[pair[1]]]
        dearest = max(dearest, price)
    return sorted(sorted(group) for group in groups)


def sized_slots(spread: np.ndarray, sizes: Sequence[int], generator: torch.Generator) -> list[list[int]]:
    """Return groups of these sizes that have the fewest entries to choose, counted as in `joined_slots`.

    From random groups, those two latents are swapped whose swap lowers the count most, until none does; the
    lowest of all ends is returned.

    Parameters
    ----------
    spread : array of shape (n_latents, n_observed)
        As in `joined_slots`.
    sizes : sequence of int
        Latents of each group, in this order.
    generator : torch.Generator

    Examples
    --------
    >>> spread = [[3.0, 2.9, 1.1, 0.0, 0.0], [0.0, 0.0, 0.2, 2.0, 2.2], [1.0, 1.1, 0.0, 0.0, 0.0]]
    >>> sized_slots(np.array(spread), [1, 2], torch.Generator().manual_seed(0))
    [[1], [0, 2]]
    """
    owner = np.repeat(np.arange(len(sizes)), sizes)
    orders = (torch.randperm(len(owner), generator=generator).numpy() for _ in range(_ORDERS))
    ends = [_swapped(spread, owner[order], np.asarray(sizes)) for order in orders]
    best = min(ends, key=lambda end: _price(spread, end, np.asarray(sizes)))
    return [np.flatnonzero(best == k).tolist() for k in range(len(sizes))]


def _price(spread: np.ndarray, owner: np.ndarray, sizes: np.ndarray) -> float:
    return float(_entries(_moved(_sums(spread, owner, len(sizes))), sizes).sum())


def _sums(spread: np.ndarray, owner: np.ndarray, n_groups: int) -> np.ndarray:
    return np.stack([spread[owner == k].sum(0) for k in range(n_groups)])


def _swapped(spread: np.ndarray, owner: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Swap latents of different groups, the best swap first, as long as that lowers the price."""
    while len(sizes) > 1:
        one, other = np.nonzero(np.triu(owner[:, None] != owner))
        sums, shift = _sums(spread, owner, len(sizes)), spread[other] - spread[one]
        moved, a, b = _moved(sums), owner[one], owner[other]
        gain = sizes[a] * (moved[a] - _moved(np.maximum(sums[a] + shift, 0)))
        gain += sizes[b] * (moved[b] - _moved(np.maximum(sums[b] - shift, 0)))
        best = gain.argmax()
        if gain[best] < _LEAST:
            break
        owner = owner.copy()
        owner[[one[best], other[best]]] = b[best], a[best]
    return owner


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
