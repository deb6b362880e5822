"""From Jacobian samples to zeros and ones: relative magnitudes, and the gap that separates them."""

from typing import Any

import numpy as np

# A threshold outside this window would call half of a row's largest entry "zero", or numerical dust an edge.
WINDOW = (0.02, 0.5)
# When every magnitude exceeds this, keeping them all is an answer too: it competes as a gap that starts here.
NOTHING_DROPPED = 0.1


def relative_magnitudes(jacobian: Any, latent_scale: Any) -> np.ndarray:
    """R_ij = E|J_ij| scale_j, divided by the largest entry of its row; shape (n_observed, n_latents)."""
    samples = _checked(jacobian)
    magnitudes = np.abs(samples).mean(0) * _scale(latent_scale, samples.shape[-1])
    largest = magnitudes.max(1, keepdims=True)
    return np.divide(magnitudes, largest, out=np.zeros_like(magnitudes), where=largest > 0)


def gap_threshold(magnitudes: np.ndarray) -> float:
    """Return the middle (on the log scale) of the widest gap between sorted magnitudes that meets the window.

    Magnitudes below the window count as its lower end, so that the gap within numerical dust never wins.
    """
    low, high = WINDOW
    raised = np.maximum(magnitudes.ravel(), low)
    ordered = np.sort(np.append(raised, min(NOTHING_DROPPED, raised.min())))
    below, above = ordered[:-1], ordered[1:]
    widest = int(np.argmax(np.where(below < high, above / below, 0.0)))
    return float(np.clip(np.sqrt(below[widest] * above[widest]), low, high))


def cut(magnitudes: np.ndarray, threshold: float) -> tuple[np.ndarray, float]:
    """Keep what exceeds the threshold; also the margin, smallest kept over largest dropped."""
    kept = magnitudes > threshold
    dropped = magnitudes[~kept].max(initial=0.0)
    margin = magnitudes[kept].min(initial=np.inf) / dropped if dropped > 0 else np.inf
    return kept, float(margin)


def _checked(jacobian: Any) -> np.ndarray:
    samples = np.asarray(jacobian, dtype=np.float64)
    samples = samples[None] if samples.ndim == 2 else samples
    if samples.ndim != 3 or 0 in samples.shape:
        raise ValueError(
            f"`J` must have shape (n, x, z) or (x, z) without empty axes, got {np.shape(jacobian)}. "
            "Pass one Jacobian, or a stack of them with samples first."
        )
    if not np.isfinite(samples).all():
        bad = int((~np.isfinite(samples)).sum())
        raise ValueError(
            f"`J` must be finite, got {bad} NaN or infinite entries. Drop the samples that hold them."
        )
    return samples


def _scale(latent_scale: Any, n_latents: int) -> np.ndarray:
    if latent_scale is None:
        return np.ones(n_latents)
    scale = np.asarray(latent_scale, dtype=np.float64)
    if scale.shape != (n_latents,) or not np.isfinite(scale).all() or (scale < 0).any():
        raise ValueError(
            f"`latent_scale` must hold {n_latents} finite, non-negative numbers, got {latent_scale!r}. "
            "Pass the standard deviation of each latent."
        )
    return scale
