"""Mixture parameters from a fitted model or from codes, and how to draw them anew."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unmix._findings import Mixture, findings_of

from ._variability import checked_masks

Parameters = tuple[np.ndarray, np.ndarray, np.ndarray]
Redraw = Callable[[np.random.Generator], Parameters]
_FITTED = ("weights", "means", "covariances")


def estimate(
    source: Any, labels: ArrayLike | None, masks: ArrayLike | None, n_samples: int | None
) -> tuple[Parameters, Redraw | None, tuple[str, ...]]:
    """Return parameters, how to draw them anew, and what was believed on the way."""
    mixture = findings_of(source).mixture
    if mixture is not None and any(getattr(mixture, name) is not None for name in _FITTED):
        parameters, redraw, known = _from_model(mixture, labels, masks, n_samples)
    else:
        parameters, redraw, known = _from_codes(source, labels, masks)
    if known is None:
        return parameters, redraw, ()
    _check_known(known, parameters[1].shape)
    again = None if redraw is None else lambda rng: _masked(redraw(rng), known)
    return _masked(parameters, known), again, (_dropped(parameters, known),)


def _from_model(
    mixture: Mixture, labels: ArrayLike | None, masks: ArrayLike | None, n_samples: int | None
) -> tuple[Parameters, Redraw | None, np.ndarray | None]:
    if labels is not None:
        raise ValueError("`labels` must be given with codes only, got labels and a model. Drop one of them.")
    parameters = _of_model(mixture)
    known = masks if masks is not None else mixture.masks
    redraw = None if n_samples is None else lambda rng: _simulated(parameters, n_samples, rng)
    return parameters, redraw, None if known is None else checked_masks(known)


def _from_codes(
    source: Any, labels: ArrayLike | None, masks: ArrayLike | None
) -> tuple[Parameters, Redraw, np.ndarray | None]:
    z = np.asarray(source, dtype=np.float64)
    if z.ndim != 2 or not np.isfinite(z).all():
        raise ValueError(
            f"`source` must be a fitted mixture or finite codes of shape (n_samples, n), got {z.shape}."
        )
    index, known = _components_of(z, labels, None if masks is None else checked_masks(masks))
    _check_counts(np.bincount(index), z.shape[1])
    return _moments(z, index), lambda rng: _moments(z[_within(index, rng)], index), known


def _of_model(mixture: Mixture) -> Parameters:
    found = {f"{name}_": getattr(mixture, name) for name in _FITTED}
    missing = [name for name, value in found.items() if value is None]
    if missing:
        raise ValueError(
            f"`source` must be a fitted mixture, got a model without {', '.join(missing)}. Fit it."
        )
    w, mu, sigma = (np.asarray(value, dtype=np.float64) for value in found.values())
    if sigma.ndim == 3 and sigma.shape[1] == sigma.shape[2]:
        sigma = (sigma + sigma.swapaxes(1, 2)) / 2  # single precision rounds the two halves apart
    return w / w.sum() if abs(w.sum() - 1) < 1e-4 else w, mu, sigma


def _components_of(
    z: np.ndarray, labels: ArrayLike | None, masks: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the component of each code, and index sets that are known."""
    if labels is not None:
        return _index(labels, len(z)), masks
    if masks is None:
        raise ValueError(
            "`labels` must be given with codes, got neither labels nor masks. Say which component each "
            "sample is from, or which latents vary in it."
        )
    if masks.shape != z.shape:
        raise ValueError(
            f"`masks` must have shape {z.shape} without labels, got {masks.shape}. Row s says what varies in "
            "sample s."
        )
    patterns, index = np.unique(masks, axis=0, return_inverse=True)
    return index.ravel(), patterns


def _index(labels: ArrayLike, n_samples: int) -> np.ndarray:
    given = np.asarray(labels)
    if given.shape != (n_samples,):
        raise ValueError(f"`labels` must have shape ({n_samples},), got {given.shape}. One for each sample.")
    if given.dtype.kind == "f" and np.isnan(given).any():
        raise ValueError(f"`labels` must not be missing, got NaN for {int(np.isnan(given).sum())} samples.")
    return np.unique(given, return_inverse=True)[1]


def _moments(z: np.ndarray, index: np.ndarray) -> Parameters:
    """Estimate each component by the moments of its samples."""
    groups = [z[index == j] for j in range(index.max() + 1)]
    covariances = np.array([np.atleast_2d(np.cov(group.T, bias=True)) for group in groups])
    return np.bincount(index) / len(z), np.array([group.mean(0) for group in groups]), covariances


def _within(index: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw samples anew within each component, in their places."""
    drawn = np.empty(len(index), dtype=np.intp)
    for j in range(index.max() + 1):
        members = np.flatnonzero(index == j)
        drawn[members] = rng.choice(members, len(members))
    return drawn


def _simulated(parameters: Parameters, n_samples: int, rng: np.random.Generator) -> Parameters:
    """Draw as many samples as a model was fitted to from each of its components, and estimate them."""
    w, mu, sigma = parameters
    values, vectors = np.linalg.eigh(sigma)
    roots = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    counts = np.maximum(np.round(w * n_samples).astype(int), 2)
    index = np.repeat(np.arange(len(w)), counts)
    noise = rng.standard_normal((len(index), mu.shape[1]))
    return _moments(mu[index] + np.einsum("sik,sk->si", roots[index], noise), index)


def _masked(parameters: Parameters, known: np.ndarray) -> Parameters:
    """Hold each latent, where it is known to rest, at one value, and drop its variance there."""
    w, mu, sigma = parameters
    resting = np.where(known, 0.0, w[:, None])
    held = (resting * mu).sum(0) / np.where(resting.sum(0) > 0, resting.sum(0), 1.0)
    return w, np.where(known, mu, held), sigma * (known[:, :, None] & known[:, None, :])


def _dropped(parameters: Parameters, known: np.ndarray) -> str:
    w, mu, sigma = parameters
    within = np.diagonal(sigma, axis1=1, axis2=2)
    total = w @ (within + (mu - w @ mu) ** 2)
    share = np.where(known, 0.0, within / np.where(total > 0, total, 1.0)).max()
    return f"Index sets were believed; outside them a latent has at most {share:.2g} of its variance."


def _check_known(known: np.ndarray, shape: tuple[int, ...]) -> None:
    if known.shape != shape:
        raise ValueError(
            f"`masks` must have shape {shape}, got {known.shape}. Row j says what varies in component j."
        )


def _check_counts(counts: np.ndarray, n: int) -> None:
    if counts.min() < n + 2:
        raise ValueError(
            f"`labels` must give each component at least n + 2 = {n + 2} samples, got {counts.min()} for "
            f"component {counts.argmin()}. With fewer its rank cannot be told: merge or drop it."
        )
