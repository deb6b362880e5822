"""Tables as estimators take them: checked, standardised, and with a dependency structure at the end."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data
from torch import Tensor

from unmix.nn import jacobian
from unmix.objectives import in_chunks
from unmix.structure import Structure
from unmix.tables import features_of, listed
from unmix.training import device

PRECISION = torch.float64  # so that results do not depend on how samples are grouped
REMEMBERED = ("recipe_", "trust_verdicts_", "trust_probability_", "trust_effort_")  # of commands, about a fit
_STRUCTURE_SAMPLES = 2000
_TYPES = [np.float64, np.float32]

Function = Callable[[Tensor], Tensor]


def plain(X: Any) -> Any:
    """Return tensors as arrays, AnnData and frames with text as frames of numbers, all else as it is."""
    return X.detach().cpu().numpy() if isinstance(X, Tensor) else features_of(X)


def read(model: Any, X: Any) -> Tensor:
    """Check a table, remember mean and scale of its columns, and return it standardised on the device."""
    values = validate_data(model, plain(X), dtype=_TYPES, ensure_min_samples=2)
    values = np.ascontiguousarray(values)  # so that the layout in memory does not change a bit
    forget(model, "image_shape_", "bytes_", *REMEMBERED)
    check_table(values, model._least_rank)
    model.mean_, model.scale_ = values.mean(0, dtype=np.float64), values.std(0, dtype=np.float64)
    return torch.as_tensor((values - model.mean_) / model.scale_, dtype=torch.float32).to(
        device(model.device)
    )


def forget(model: Any, *names: str) -> None:
    """Remove what an earlier fit to another kind of data left behind."""
    for name in names:
        vars(model).pop(name, None)


def check_table(values: np.ndarray, n_components: int) -> None:
    """Check that a table can carry `n_components` latents."""
    n_samples, n_features = values.shape
    if n_components > n_features:
        raise ValueError(
            f"`n_components` must be at most n_features={n_features}, got {n_components}. Ask for fewer."
        )
    if n_samples <= n_components:
        raise ValueError(
            f"`X` must have more samples than n_components={n_components}, got n_samples={n_samples}. "
            "Collect more samples, or ask for fewer latents."
        )
    with np.errstate(over="ignore"):  # said below
        spread = values.std(0, dtype=np.float64)
    check_varies(spread, np.abs(values).max(0))
    scaled = (values - values.mean(0)) / spread
    check_rank(scaled.T @ scaled / n_samples, n_components)


def check_varies(spread: np.ndarray, largest: np.ndarray) -> None:
    """Refuse constant columns, and those whose squares leave the range of numbers."""
    wild = np.flatnonzero(~np.isfinite(spread))
    if len(wild):
        raise ValueError(
            f"`X` must have columns whose squares are finite, got entries up to {largest[wild].max():.1g} in "
            f"{listed(wild.tolist())}. Mend such entries, or choose other units."
        )
    constant = np.flatnonzero(spread <= 1e-12 * largest)
    if len(constant):
        shown = listed(constant.tolist())
        raise ValueError(
            f"`X` must not have constant columns, got {shown}. Drop them, as `unmix.tables.prepared` does."
        )


def rank_of(values: np.ndarray) -> int:
    """Count the directions in which standardised columns vary; all of them where that can't be told."""
    spread = values.std(0, dtype=np.float64)
    if not np.isfinite(spread).all() or not spread.all() or len(values) <= values.shape[1]:
        return values.shape[1]  # which is refused with the reason
    scaled = (values - values.mean(0)) / spread
    return _rank(scaled.T @ scaled / len(values))


def _rank(correlations: np.ndarray) -> int:
    return int(np.linalg.matrix_rank(correlations, tol=1e-9, hermitian=True))


def check_rank(correlations: np.ndarray, n_components: int) -> None:
    """Refuse more latents than directions in which the data vary."""
    rank = _rank(correlations)
    if rank < n_components:
        raise ValueError(
            f"`n_components` must be at most the rank of X, which is {rank}, got {n_components}. "
            "Ask for fewer latents, or drop columns that repeat others."
        )


def validated(model: Any, X: Any) -> np.ndarray:
    """Check a table against the one that the model was fitted on."""
    return validate_data(model, plain(X), dtype=_TYPES, reset=False)


def standardised(model: Any, values: np.ndarray) -> Tensor:
    """Return rows in units of the spread that the model was fitted on, whatever their layout in memory."""
    return torch.as_tensor(np.ascontiguousarray((values - model.mean_) / model.scale_), dtype=PRECISION)


def encoded(model: Any, X: Any, encode: Function) -> np.ndarray:
    """Return the codes of each row, in the precision of X."""
    values = validated(model, X)
    return in_chunks(encode, standardised(model, values)).numpy().astype(values.dtype, copy=False)


def decoded(model: Any, X: Any, decode: Function) -> np.ndarray:
    """Return the rows that codes stand for, in the units and precision they have."""
    codes = checked_codes(X, model.n_components_)
    rows = in_chunks(decode, torch.as_tensor(codes, dtype=PRECISION)).numpy()
    return (rows * model.scale_ + model.mean_).astype(codes.dtype, copy=False)


def checked_codes(X: Any, n_components: int) -> np.ndarray:
    """Check codes that are to be decoded."""
    codes = check_array(plain(X), dtype=_TYPES, input_name="X")
    if codes.shape[1] != n_components:
        raise ValueError(f"`X` must have shape (n_samples, n_components={n_components}), got {codes.shape}.")
    return codes


def slopes(model: Any, X: Any, encode: Function) -> np.ndarray:
    """Return the decoder's Jacobian at the codes of each row, in the units of X."""
    x = standardised(model, validated(model, X))
    J = in_chunks(lambda part: jacobian(model.decoder_, encode(part)), x, 1024)
    return J.numpy() * model.scale_[:, None]


def explained(model: Any, X: Any) -> float:
    """Return the share of the variance of X that the model reconstructs."""
    left, total = residuals(model, X)
    return float(1 - left.mean() / total.mean())


def residuals(model: Any, X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return squares of what the model leaves of each entry, and of the entry itself, standardised."""
    values = validated(model, X)
    left = (values - model.inverse_transform(model.transform(values))) / model.scale_
    return np.square(left), np.square((values - model.mean_) / model.scale_)


def describe(model: Any, x: Tensor, encode: Function) -> None:
    """Remember the scale of the codes, which of them moves which column, and by how much."""
    codes = in_chunks(encode, x.cpu().double())
    model.latent_scale_ = codes.std(0, correction=0).numpy()
    J = in_chunks(lambda z: jacobian(model.decoder_, z), codes[:_STRUCTURE_SAMPLES], 512).numpy()
    model.structure_ = Structure.from_jacobian(J, latent_scale=model.latent_scale_)
    model.loadings_ = np.where(J.mean(0) < 0, -1.0, 1.0) * np.abs(J).mean(0) * model.latent_scale_


def linear_loadings(components: np.ndarray, mixing: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Return a mixing in standard deviations of columns and codes, from the covariance of the columns."""
    covariance = np.reshape(covariance, (len(mixing), -1))
    spread = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    codes = np.sqrt(np.maximum(((components @ covariance) * components).sum(1), 0.0))
    return mixing * codes / np.where(spread > 0, spread, 1.0)[:, None]
