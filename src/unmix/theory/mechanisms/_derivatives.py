"""Samples of a generator's derivatives: what is accepted, and differences where none are at hand."""

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from .._certificate import positions

Slots = int | Iterable[Iterable[SupportsIndex]]
Partition = tuple[frozenset[int], ...]


def finite_differences(g: Callable[[np.ndarray], ArrayLike], z: ArrayLike, order: int = 1) -> np.ndarray:
    """Differentiate a generator by central differences.

    The step is eps^(1 / (order + 2)), which balances rounding against truncation for latents of order one.

    Parameters
    ----------
    g : callable
        Maps (n, z) to (n, x), each sample by itself; smooth (differences across a kink mean nothing).
    z : array-like of shape (n, n_latents)
    order : int
        1 for Jacobians, 2 for Hessians, 3 for third derivatives.

    Returns
    -------
    ndarray of shape (n, x, z), (n, x, z, z) or (n, x, z, z, z)

    Examples
    --------
    >>> z = np.array([[2.0, 3.0]])
    >>> finite_differences(lambda z: z[:, :1] * z[:, 1:], z).round(6)
    array([[[3., 2.]]])
    >>> finite_differences(lambda z: z[:, :1] * z[:, 1:], z, order=2).round(4) + 0.0
    array([[[[0., 1.],
             [1., 0.]]]])

    References
    ----------
    Matthes, Han and Shen (2026), Mechanistic independence (Type H_n needs derivatives of order n),
    arXiv:2509.22196.
    """
    points = np.asarray(z, dtype=np.float64)
    if points.ndim != 2 or not points.size or not np.isfinite(points).all():
        raise ValueError(f"`z` must be a finite (n, n_latents) array, got shape {points.shape}. Check it.")
    if order not in (1, 2, 3):
        raise ValueError(f"`order` must be 1, 2 or 3, got {order}. Higher derivatives drown in rounding.")
    d = points.shape[1]
    step = float(np.finfo(np.float64).eps ** (1 / (order + 2)))
    axes = product(range(d), repeat=order)
    columns = [_difference(g, points, sorted_axes, step) for sorted_axes in map(sorted, axes)]
    stacked = np.stack(columns, axis=2)
    return stacked.reshape(*stacked.shape[:2], *(d,) * order)


def _difference(
    g: Callable[[np.ndarray], ArrayLike], z: np.ndarray, axes: Sequence[int], step: float
) -> np.ndarray:
    """Apply (f(z + step e_a) - f(z - step e_a)) / (2 step) once for each axis a."""
    if not axes:
        return np.asarray(g(z), dtype=np.float64)
    shift = np.zeros(z.shape[1])
    shift[axes[0]] = step
    ahead, behind = (_difference(g, z + sign * shift, axes[1:], step) for sign in (1, -1))
    return (ahead - behind) / (2 * step)


def jacobian_samples(jacobians: ArrayLike) -> np.ndarray:
    """Return finite float64 samples of shape (n, x, z); a single (x, z) Jacobian counts as one sample."""
    samples = np.asarray(jacobians, dtype=np.float64)
    samples = samples[None] if samples.ndim == 2 else samples
    if samples.ndim != 3 or not samples.size:
        raise ValueError(
            f"`jacobians` must have shape (n, n_observed, n_latents) with no empty axis, got "
            f"{np.shape(jacobians)}. Put samples first."
        )
    _check_finite(samples, "jacobians")
    return samples


def higher(derivatives: ArrayLike | None, jacobians: np.ndarray, name: str, order: int) -> np.ndarray | None:
    """Return derivatives of the given order, symmetric, of the shape that the Jacobians ask for."""
    if derivatives is None:
        return None
    samples = np.asarray(derivatives, dtype=np.float64)
    n, x, d = jacobians.shape
    if samples.shape != (n, x, *(d,) * order):
        raise ValueError(
            f"`{name}` must have shape {(n, x, *(d,) * order)} like `jacobians`, got {samples.shape}. "
            "Evaluate both at the same points."
        )
    _check_finite(samples, name)
    allowed = 1e-3 * np.abs(samples).max()
    if any(np.abs(samples - np.swapaxes(samples, -1, axis)).max() > allowed for axis in range(2, order + 1)):
        raise ValueError(f"`{name}` must be symmetric in its last axes, got others. Check their order.")
    return samples


def blocks(partition: Slots, n_latents: int) -> Partition:
    """Return the slots as sets; an int asks for that many equal consecutive ones."""
    if isinstance(partition, int | np.integer):
        if partition < 1 or n_latents % partition:
            raise ValueError(
                f"`partition` must divide n_latents={n_latents}, got {partition}. Or list every slot."
            )
        return tuple(
            frozenset(part.tolist()) for part in np.array_split(np.arange(n_latents), int(partition))
        )
    groups = [list(positions(group, "partition")) for group in partition]
    listed = sorted(latent for group in groups for latent in group)
    if listed != list(range(n_latents)) or not all(groups):
        raise ValueError(f"`partition` must {_fault(listed, n_latents)}, got {groups}. Check the indices.")
    return tuple(frozenset(group) for group in groups)


def relative(tolerance: float) -> float:
    """Return a tolerance strictly between 0 and 1."""
    if not 0 < tolerance < 1:
        raise ValueError(
            f"`tolerance` must be between 0 and 1, got {tolerance}. It is relative: 1e-6 for an exact "
            "generator, 0.01 to 0.05 for a learned one."
        )
    return float(tolerance)


def _fault(listed: list[int], n_latents: int) -> str:
    missing = sorted(set(range(n_latents)) - set(listed))
    unknown = sorted(set(listed) - set(range(n_latents)))
    twice = sorted({latent for latent in listed if listed.count(latent) > 1})
    if unknown:
        return f"name latents 0 to {n_latents - 1} only (not {unknown})"
    if twice:
        return f"not overlap (latents {twice} are listed twice)"
    return f"cover every latent (missing {missing})" if missing else "hold no empty slot"


def _check_finite(samples: np.ndarray, name: str) -> None:
    if not np.isfinite(samples).all():
        raise ValueError(f"`{name}` must be finite, got NaN or infinite entries. Drop those samples.")
