"""Which latents vary in which samples, and how many latents were found."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment

from ._mcc import match_components


def support_f1(active_true: ArrayLike, active_hat: ArrayLike) -> float:
    """Score activity patterns: the harmonic mean of precision and recall over all entries that are active.

    Latents carry no names, so estimated ones are relabelled so that as many active entries as possible
    agree. Beware of the floor: calling every latent active everywhere scores 2 s / (1 + s) where a share s
    of the true entries is active, 0.67 for a half.

    Parameters
    ----------
    active_true : array-like of shape (n_samples, n_latents)
        Zeros and ones; of a mixture, ``data.masks[data.labels]``.
    active_hat : array-like of shape (n_samples, n_codes)
        As `PDGMM.activity` and `SparseBasis.activity` return. The active entries of codes in excess count as
        wrong.

    Returns
    -------
    float
        2 TP / (|S| + |Ŝ|); 1 if nothing is active in both.

    Examples
    --------
    >>> truth = np.array([[1, 0], [1, 0], [0, 1], [1, 1]])
    >>> support_f1(truth, truth[:, ::-1])
    1.0
    >>> support_f1(truth, [[1, 0], [1, 0], [0, 1], [1, 0]])  # one of five is missed
    0.888...

    References
    ----------
    Xu, Lachapelle and Magliacane (2026), Theorem 3.9, whose code has the zeros of the latents,
    arXiv:2604.13218.
    """
    truth, found = _patterns(active_true, "active_true"), _patterns(active_hat, "active_hat")
    if len(truth) != len(found):
        raise ValueError(
            f"`active_hat` must have as many rows as `active_true`, got {len(found)} and {len(truth)}. "
            "Rows are samples in the same order."
        )
    common = truth.T.astype(float) @ found
    rows, columns = linear_sum_assignment(-common)
    size = int(truth.sum() + found.sum())
    return float(2 * common[rows, columns].sum() / size) if size else 1.0


def rows_found(
    z_true: ArrayLike, z_hat: ArrayLike, *, threshold: float = 0.95, method: str = "pearson"
) -> float:
    """Count the factors that some code of their own equals, up to sign and scale.

    A mean such as the `mcc` hides whether all factors are recovered a little or most of them fully.

    Parameters
    ----------
    z_true : array-like of shape (n_samples, n_factors)
        None of the factors may be constant.
    z_hat : array-like of shape (n_samples, n_codes)
    threshold : float
        Absolute correlation from which a factor counts as found. Two of many factors mixed half and half
        reach 0.71, noise of a third of a factor's spread leaves 0.95.
    method : {"pearson", "spearman", "nonlinear"}
        As for `match_components`.

    Returns
    -------
    float
        A whole number, at most n_factors.

    Examples
    --------
    >>> z = np.random.default_rng(0).normal(size=(500, 3))
    >>> rows_found(z, np.column_stack([z[:, 2], z[:, 0] + z[:, 1], z[:, 0] - z[:, 1]]))
    1.0

    References
    ----------
    Xu, Lachapelle and Magliacane (2026), Section 5, arXiv:2604.13218, whose scores a row that was not found
    lowers.
    """
    if not 0 < threshold <= 1:
        raise ValueError(f"`threshold` must be above 0 and at most 1, got {threshold}. Use 0.95, say.")
    return float((match_components(z_true, z_hat, method=method).matched >= threshold).sum())


def _patterns(values: ArrayLike, name: str) -> np.ndarray:
    entries = np.asarray(values)
    if entries.ndim != 2 or not entries.size:
        raise ValueError(f"`{name}` must have shape (n_samples, n_latents), got {entries.shape}.")
    if entries.dtype.kind not in "buif" or not np.isin(entries, (0, 1)).all():
        raise ValueError(f"`{name}` must hold zeros and ones only. Pass the output of `activity`.")
    return entries.astype(bool)
