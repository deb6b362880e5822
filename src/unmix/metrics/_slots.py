"""Slot identifiability: every inferred slot knows its own factor and nothing about the others."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.kernel_ridge import KernelRidge

from ._checks import paired, standardised

_TEST_SHARE = 0.2


def slot_identifiability(
    z_true: ArrayLike,
    z_hat: ArrayLike,
    *,
    n_slots: int | tuple[int, int] | None = None,
    n_samples: int = 2000,
    random_state: Any = 0,
) -> float:
    """Score slots by what each knows of its own factor less what the best other slot knows of it.

    R²(i, j) is the share of true slot i that kernel ridge regression (Gaussian kernel, gamma 1/dim, ridge 1)
    reads off inferred slot j, fitted on 80% and scored on 20% of the samples, averaged over the slot's
    dimensions and clipped at 0. With the best one-to-one matching m, SIS = mean_i (R²(i, m(i)) - max over
    j ≠ m(i) of R²(i, j)), above -1 and at most 1.

    Parameters
    ----------
    z_true : array-like of shape (n_samples, n_slots, slot_dim) or (n_samples, n_columns)
        No dimension may be constant.
    z_hat : array-like of shape (n_samples, n_inferred_slots, inferred_dim) or (n_samples, n_columns)
        More or fewer slots than the truth has are fine; a true slot left without one has R² 0 of its own.
    n_slots : int or (int, int), optional
        How many slots of equal size two-dimensional arrays hold (the truth's and the codes' where they
        differ), side by side. By default every column is a slot.
    n_samples : int
        At most this many samples are used, since the cost grows with their cube.
    random_state : int, numpy.random.Generator or None
        Draws the samples and the split; fixed by default.

    Returns
    -------
    float

    Notes
    -----
    Dependent slots predict each other, so even perfect slots score below 1 then:
    `slot_identifiability(z_true, z_true)` is the ceiling to compare with.

    Examples
    --------
    >>> z = np.random.default_rng(0).normal(size=(1000, 3, 2))
    >>> mixed = z @ [[1.0, 1.0], [1.0, -1.0]]
    >>> round(slot_identifiability(z, mixed[:, [2, 0, 1]]), 1)
    1.0
    >>> round(slot_identifiability(z, np.roll(z.reshape(1000, 6), 1, axis=1).reshape(1000, 3, 2)), 1)
    0.0

    References
    ----------
    Brady et al. (2023), Provably learning object-centric representations, section 5 (slot identifiability
    score), arXiv:2305.14229.
    """
    if n_samples < 10:
        raise ValueError(f"`n_samples` must be at least 10, got {n_samples}. Thousands are usual.")
    truth, true_parts = _columns(z_true, _own(n_slots, 0), "z_true")
    codes, parts = _columns(z_hat, _own(n_slots, 1), "z_hat")
    truth, codes = paired(truth, codes, n_least=10)
    rows = np.random.default_rng(random_state).permutation(len(truth))[:n_samples]
    held_out, fit = np.split(rows, [int(np.ceil(_TEST_SHARE * len(rows)))])
    truth, codes = standardised(truth), standardised(codes)
    known = [_known(truth, codes[:, part], fit, held_out) for part in parts]
    return _margin(np.array([[share[part].mean() for share in known] for part in true_parts]))


def _own(n_slots: int | tuple[int, int] | None, side: int) -> int | None:
    return n_slots[side] if isinstance(n_slots, tuple) else n_slots


def _columns(values: ArrayLike, n_slots: int | None, name: str) -> tuple[np.ndarray, list[slice]]:
    """Lay slots side by side: a table, and the columns of each slot."""
    entries = np.asarray(values)
    if entries.ndim == 3:
        n_slots, entries = entries.shape[1], entries.reshape(len(entries), -1)
    if entries.ndim != 2 or 0 in entries.shape:
        raise ValueError(
            f"`{name}` must have shape (n_samples, n_slots, slot_dim) or (n_samples, n_columns), "
            f"got {np.shape(values)}. Name `n_slots` when slots lie side by side."
        )
    n_slots = entries.shape[1] if n_slots is None else n_slots
    if n_slots < 1 or entries.shape[1] % n_slots:
        raise ValueError(
            f"`n_slots` must divide the {entries.shape[1]} columns of `{name}`, got {n_slots}. "
            "Slots have equal sizes."
        )
    size = entries.shape[1] // n_slots
    return entries, [slice(k * size, (k + 1) * size) for k in range(n_slots)]


def _known(truth: np.ndarray, slot: np.ndarray, fit: np.ndarray, held_out: np.ndarray) -> np.ndarray:
    """Return what one slot predicts of every true dimension; one kernel serves them all; shape (d,)."""
    probe = KernelRidge(alpha=1.0, kernel="rbf", gamma=1 / slot.shape[1]).fit(slot[fit], truth[fit])
    target = truth[held_out]
    left = ((target - probe.predict(slot[held_out])) ** 2).sum(0)
    total = ((target - target.mean(0)) ** 2).sum(0)
    return np.where(total > 0, 1 - left / np.where(total > 0, total, 1.0), 0.0)


def _margin(r2: np.ndarray) -> float:
    """Return the mean of own less best other, over true slots; `r2` has shape (n_slots, n_inferred)."""
    shares = np.clip(r2, 0.0, None)
    matched = dict(zip(*linear_sum_assignment(shares, maximize=True), strict=True))
    own = [share[matched[i]] if i in matched else 0.0 for i, share in enumerate(shares)]
    others = [np.delete(share, matched.get(i, [])).max(initial=0.0) for i, share in enumerate(shares)]
    return float(np.mean(np.subtract(own, others)))
