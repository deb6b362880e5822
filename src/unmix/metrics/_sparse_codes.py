"""Scores of sparse codes, by one definition each."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ._checks import check_units, unmasked

DEAD = 1e-3  # of the average rate: a feature that fires less often is dead
DENSE = 0.1  # of the rows: a feature that fires on more is dense


def explained_variance(x: ArrayLike, x_hat: ArrayLike, *, masked: ArrayLike | None = None) -> float:
    """Return 1 - sum |x - x_hat|^2 / sum |x - mean|^2: one number for all columns, over rows not masked.

    Parameters
    ----------
    x, x_hat : array-like of shape (n_samples, n_features)
        Activations, and what is reconstructed of them.
    masked : bool array of shape (n_samples,), optional
        Rows to leave out, of the errors and of the mean. A few outliers can carry nearly all variance.

    Returns
    -------
    float
        1 at best, 0 for the mean.

    Examples
    --------
    >>> explained_variance([[0.0, 1.0], [2.0, 1.0]], [[0.5, 1.0], [1.5, 1.0]])
    0.75
    """
    x, x_hat = _pair(x, x_hat, masked)
    total = np.square(x - x.mean(0)).sum()
    if not total > 0:
        raise ValueError("`x` must vary, got the same row everywhere.")
    return float(1 - np.square(x - x_hat).sum() / total)


def reconstruction_cosine(x: ArrayLike, x_hat: ArrayLike, *, masked: ArrayLike | None = None) -> float:
    """Return the mean over rows of the cosine between x and x_hat, as they are; rows of zeros count 0.

    Parameters
    ----------
    x, x_hat, masked
        As for `explained_variance`.

    Returns
    -------
    float

    Examples
    --------
    >>> reconstruction_cosine([[1.0, 0.0], [0.0, 1.0]], [[3.0, 0.0], [1.0, 0.0]])
    0.5
    """
    x, x_hat = _pair(x, x_hat, masked)
    lengths = np.linalg.norm(x, axis=1) * np.linalg.norm(x_hat, axis=1)
    return float(np.divide((x * x_hat).sum(1), lengths, out=np.zeros(len(x)), where=lengths > 0).mean())


def density(codes: Any) -> np.ndarray:
    """Return the share of rows on which each feature fires, which is being above zero.

    Parameters
    ----------
    codes : array-like or sparse matrix of shape (n_samples, n_components)

    Returns
    -------
    array of shape (n_components,)

    Examples
    --------
    >>> density([[1.0, 0.0], [0.5, 0.0]]).tolist()
    [1.0, 0.0]
    """
    table = _codes(codes)
    return np.bincount(table.indices[table.data > 0], minlength=table.shape[1]) / table.shape[0]


def l0(codes: Any) -> float:
    """Return the mean number of features that fire on a row.

    Parameters
    ----------
    codes : array-like or sparse matrix of shape (n_samples, n_components)

    Returns
    -------
    float

    Examples
    --------
    >>> l0([[1.0, 0.0, 2.0], [0.0, 0.0, 1.0]])
    1.5
    """
    return float(density(codes).sum())


def dead_share(codes: Any) -> float:
    """Return the share of features that fire at less than a thousandth of the average rate.

    The average feature fires on L0 / n_components of the rows. On fewer than 1,000 n_components / L0 rows the
    rule says that a feature never fires, so that it means the same for any number of features and rows.

    Parameters
    ----------
    codes : array-like or sparse matrix of shape (n_samples, n_components)

    Returns
    -------
    float

    Examples
    --------
    >>> dead_share([[1.0, 0.0, 0.0, 2.0], [0.0, 1.0, 0.0, 1.0]])
    0.25
    """
    rates = density(codes)
    return float((rates <= DEAD * rates.mean()).mean())


def loss_recovered(clean: float, reconstructed: float, ablated: float) -> float:
    """Return (ablated - reconstructed) / (ablated - clean), of a model's losses.

    Parameters
    ----------
    clean : float
        As the model is.
    reconstructed : float
        With reconstructions in place of activations.
    ablated : float
        With zeros, or the mean, in their place: say which. `unmix.data.spliced_losses` gives all.

    Returns
    -------
    float
        1 where nothing is lost, 0 where reconstructions are worth no more than the ablation.

    Examples
    --------
    >>> loss_recovered(3.0, 3.5, 8.0)
    0.9
    """
    if not np.isfinite(reconstructed):
        raise ValueError(f"`reconstructed` must be finite, got {reconstructed:g}. Look at the model.")
    if not ablated > clean:
        raise ValueError(
            f"`ablated` must be above clean={clean:g}, got {ablated:g}. The site does not matter."
        )
    return float((ablated - reconstructed) / (ablated - clean))


def feature_jacobian_sparsity(jacobians: ArrayLike, *, threshold: float = 0.01) -> float:
    """Return the share of entries that are at most `threshold` of the largest of the same sample.

    Parameters
    ----------
    jacobians : array-like of shape (n_samples, k_out, k_in)
        Derivatives among active features, as `JacobianSparseAutoencoder.feature_jacobian` gives them.
    threshold : float

    Returns
    -------
    float

    Examples
    --------
    >>> feature_jacobian_sparsity([[[1.0, 0.0], [0.005, 0.5]]])
    0.5
    """
    sizes = np.abs(np.asarray(unmasked(jacobians, "jacobians"), dtype=np.float64))
    if sizes.ndim != 3 or not sizes.size:
        raise ValueError(f"`jacobians` must have shape (n_samples, k_out, k_in), got {sizes.shape}.")
    if not np.isfinite(sizes).all():
        raise ValueError("`jacobians` must be finite, got NaN or infinity. Look at the model.")
    return float((sizes <= threshold * sizes.max((1, 2), keepdims=True)).mean())


@dataclass(frozen=True)
class CodeScores:
    """Scores of sparse codes; each is defined by the function of its name.

    `dense_share` is that of features that fire on more than a tenth of the rows.
    """

    explained_variance: float
    cosine: float
    l0: float
    dead_share: float
    dense_share: float

    def to_dict(self) -> dict[str, float]:
        """Return the numbers by name."""
        return asdict(self)


def score_codes(x: ArrayLike, codes: Any, x_hat: ArrayLike, *, masked: ArrayLike | None = None) -> CodeScores:
    """Return all scores of codes and reconstructions; rows that are masked count for none.

    Parameters
    ----------
    x, x_hat : array-like of shape (n_samples, n_features)
    codes : array-like or sparse matrix of shape (n_samples, n_components)
    masked : bool array of shape (n_samples,), optional

    Returns
    -------
    CodeScores

    Examples
    --------
    >>> score_codes([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]).l0
    1.0
    """
    table = _codes(codes)
    kept = table if masked is None else table[np.flatnonzero(~np.asarray(masked, dtype=bool))]
    return CodeScores(
        explained_variance(x, x_hat, masked=masked),
        reconstruction_cosine(x, x_hat, masked=masked),
        l0(kept),
        dead_share(kept),
        float((density(kept) > DENSE).mean()),
    )


def _codes(codes: Any) -> sparse.csr_array:
    table = sparse.csr_array(codes if sparse.issparse(codes) else np.atleast_2d(unmasked(codes, "codes")))
    if table.ndim != 2 or 0 in table.shape:
        raise ValueError(f"`codes` must have rows and columns, got shape {table.shape}.")
    if not np.isfinite(table.data).all():
        raise ValueError("`codes` must be finite, got NaN or infinity.")
    return table


def _pair(x: ArrayLike, x_hat: ArrayLike, masked: ArrayLike | None) -> tuple[np.ndarray, np.ndarray]:
    given = np.asarray(unmasked(x, "x"), dtype=np.float64)
    made = np.asarray(unmasked(x_hat, "x_hat"), dtype=np.float64)
    if given.shape != made.shape or given.ndim != 2:
        raise ValueError(f"`x_hat` must have the shape {given.shape} of x, got {made.shape}.")
    if masked is not None:
        kept = ~np.asarray(masked, dtype=bool)
        given, made = given[kept], made[kept]
    if not len(given):
        raise ValueError("`masked` must leave some rows, got none.")
    if not (np.isfinite(given).all() and np.isfinite(made).all()):
        raise ValueError("`x` must be finite, got NaN or infinity. Mask such rows.")
    for values, name in ((given, "x"), (made, "x_hat")):
        check_units(np.abs(values).max(initial=0), name)
    return given, made
