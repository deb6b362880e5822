"""Near-identifiability up to a rigid motion from the Jacobians of a decoder."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .._certificate import Certificate
from ._isometry import isometric_constant
from ._report import PAPER, NearReport

CAP = 1e6  # beyond this a decoder is not invertible in practice, and a mean of constants would mean nothing
INSIDE = 0.9
_ASSUMES = (
    "the end-to-end map is identified (all minimisers reconstruct alike)",
    "the decoder is injective and continuously differentiable",
    "no point has a larger constant than those sampled, and no decoder of another minimiser has",
)


@dataclass(frozen=True, eq=False, kw_only=True)
class DecoderCertificate(NearReport):
    """What Theorem 1 says for a decoder; see `certify_decoder`.

    Attributes
    ----------
    constants : ndarray of shape (n,)
        Local constant K(z) = max(sigma_max, 1 / sigma_min) at each sample, capped at 1e6.
    k_mean, k_median, k_p95, k_max : float
        Of the constants; L = K - 1.
    n_capped : int
        Samples where the Jacobian is singular, or nearly so.
    factor : float
        By which the decoder was divided, 1 unless `scale="free"`.
    delta : float
        (1 + L)^2 - 1 = 2 L + L^2 with L = k_max - 1, times what the head adds: near-isometry of the stitch
        between two such decoders.
    slope_mean, slope_max : float
        sqrt(2 L + L^2) averaged over samples, and at the largest L: what errors are proportional to.
    uniform_bound : float
        c_D sqrt(delta), in diameters of the latent support; infinite where delta > 1, outside the theorem.
    vacuous : bool
        Whether the bound is no smaller than the diameter.
    """

    constants: np.ndarray
    k_mean: float
    k_median: float
    k_p95: float
    k_max: float
    n_capped: int
    factor: float
    delta: float
    slope_mean: float
    slope_max: float
    uniform_bound: float
    vacuous: bool


def certify_decoder(
    jacobians: ArrayLike,
    *,
    scale: str = "fixed",
    convexity: float | None = None,
    head: tuple[float, float] = (1.0, 1.0),
    constant: float | None = None,
) -> DecoderCertificate:
    """Bound how far two runs with such decoders can differ from a rotation, by the decoder's Jacobians.

    If all minimisers give the same end-to-end map and their decoders are locally (1 + L)-bi-Lipschitz on a
    convex latent support of diameter Delta, the representations agree up to a rigid motion within
    c_D sqrt(2 L + L^2) Delta. The constant c_D grows like 2^D, so the bound is mostly vacuous, and says so;
    what is useful then is the law: errors grow like sqrt(2 L + L^2).

    Parameters
    ----------
    jacobians : array-like of shape (n, n_observed, n_latents), or (n, n_latents)
        Jacobians of the decoder at samples of the latents, or their singular values, as
        `unmix.nn.bilipschitz` returns them.
    scale : {"fixed", "free"}
        "free" divides the decoder by the one factor that makes the largest constant smallest: a scaled
        isometry is as good as an isometry. Runs, each divided by its own, then agree up to a scale too.
    convexity : float, optional
        Share of segments that stay inside the latent support, as `unmix.metrics.convexity` measures it.
        Convexity is assumed where this is not given.
    head : tuple of two floats
        Smallest and largest singular value of the linear map up to which the outputs are identified (a
        softmax head), if not exactly.
    constant : float, optional
        Another value of c_D.

    Returns
    -------
    DecoderCertificate

    Examples
    --------
    >>> rotations = np.linalg.qr(np.random.default_rng(0).normal(size=(20, 5, 2)))[0]
    >>> found = certify_decoder(rotations)
    >>> bool(found), round(found.k_max, 6), round(found.uniform_bound, 5) < 1e-3
    (True, 1.0, True)
    >>> print(certify_decoder(1.1 * rotations).identifies)
    No absolute guarantee: ...

    References
    ----------
    Nelson et al. (2026), Statistical and structural identifiability in representation learning, Theorem 1
    and appendix A.4, arXiv:2603.11970.
    """
    low, high = _extremes(jacobians)
    low_head, high_head = _checked_head(head)
    if scale not in ("fixed", "free"):
        raise ValueError(f"`scale` must be 'fixed' or 'free', got {scale!r}. Choose one of them.")
    n_latents = np.shape(jacobians)[-1]
    factor = float(np.sqrt(high.max() * low.min())) if scale == "free" and low.min() > 0 else 1.0
    constants = local_constants(low / factor, high / factor)
    n_capped = int((constants >= CAP).sum())
    k_max = float(constants.max())
    delta = k_max**2 * max(high_head, 1 / low_head) - 1  # the stitch is (1 + L)^2-bi-Lipschitz
    c = isometric_constant(n_latents) if constant is None else float(constant)
    bound = c * np.sqrt(max(delta, 0.0)) if delta <= 1 else np.inf
    conditions = (_locally(n_capped, len(constants), k_max), *_convex(convexity))
    certified = _theorem(bound, delta, conditions, convexity is None)
    return DecoderCertificate(
        certificates=(certified, *conditions),
        identifies=_identifies(certified.holds, bound, k_max, scale == "free"),
        missing=() if certified.holds else _missing(c, conditions, k_max),
        constants=constants,
        k_mean=float(constants.mean()),
        k_median=float(np.median(constants)),
        k_p95=float(np.quantile(constants, 0.95)),
        k_max=k_max,
        n_capped=n_capped,
        factor=factor,
        delta=delta,
        slope_mean=float(np.sqrt(constants**2 - 1).mean()),
        slope_max=float(np.sqrt(k_max**2 - 1)),
        uniform_bound=float(bound),
        vacuous=bool(bound >= 1),
    )


def local_constants(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return K(z) = max(sigma_max, 1 / sigma_min), at least 1 by itself, at most the cap."""
    return np.minimum(np.maximum(high, 1 / np.maximum(low, 1 / CAP)), CAP)


def _extremes(jacobians: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest and the largest singular value per sample; 0 where outputs are too few."""
    samples = np.asarray(jacobians, dtype=np.float64)
    if samples.ndim not in (2, 3) or 0 in samples.shape or not np.isfinite(samples).all():
        raise ValueError(
            "`jacobians` must be finite of shape (n, n_observed, n_latents), or singular values of shape "
            f"(n, n_latents), got shape {samples.shape}. Put samples first and drop bad ones."
        )
    if samples.ndim == 2:
        return np.abs(samples).min(1), np.abs(samples).max(1)
    values = np.linalg.svd(samples, compute_uv=False)
    injective = samples.shape[1] >= samples.shape[2]
    return values[:, -1] if injective else np.zeros(len(values)), values[:, 0]


def _checked_head(head: tuple[float, float]) -> tuple[float, float]:
    low, high = map(float, head)
    if not 0 < low <= high < np.inf:
        raise ValueError(
            f"`head` must be the smallest and largest singular value, both positive, got {head}."
        )
    return low, high


def _locally(n_capped: int, n: int, k_max: float) -> Certificate:
    why = (
        f"the Jacobian is singular, or nearly so, at {n_capped} of {n} samples"
        if n_capped
        else f"K is at most {k_max:.4g} over {n} samples"
    )
    return Certificate(f"Local bi-Lipschitz decoder ({PAPER}, Theorem 1)", not n_capped, reasons=(why,))


def _convex(inside: float | None) -> tuple[Certificate, ...]:
    if inside is None:
        return ()
    if not 0 <= inside <= 1:
        raise ValueError(f"`convexity` must be a share between 0 and 1, got {inside}. See metrics.convexity.")
    why = f"{inside:.0%} of the segments stay inside the samples, of which {INSIDE:.0%} are asked"
    return (
        Certificate(f"Convex latent support, by proxy ({PAPER}, Theorem 1)", inside >= INSIDE, (), (why,)),
    )


def _theorem(bound: float, delta: float, conditions: tuple[Certificate, ...], convex: bool) -> Certificate:
    holds = bool(bound < 1) and all(conditions)
    if delta > 1:
        why = f"delta = {delta:.3g} is above 1, outside the theorem"
    else:
        why = f"the bound is {bound:.3g} diameters" + ("" if bound < 1 else ", which is vacuous")
    assumes = (*_ASSUMES, *(("the latent support is convex",) if convex else ()))
    return Certificate(
        f"Near-identifiability up to a rigid motion ({PAPER}, Theorem 1)", holds, assumes, (why,)
    )


def _identifies(holds: bool, bound: float, k_max: float, scaled: bool) -> str:
    if holds:
        return (
            f"The representation is identified up to a rotation, reflection and translation"
            f"{' and a scale' if scaled else ''}, within {bound:.2g} diameters of the latent support."
        )
    return (
        "No absolute guarantee: errors up to a rigid motion grow like sqrt(2 L + L^2) "
        f"= {np.sqrt(k_max**2 - 1):.3g}, with a constant that has to be measured on pairs of runs."
    )


def _missing(c: float, conditions: tuple[Certificate, ...], k_max: float) -> tuple[str, ...]:
    wanted = np.sqrt(1 + 1 / c**2)
    failing = tuple(f"{part.theorem} must hold" for part in conditions if not part)
    near = f"a decoder with K below {wanted:.10g} (it has {k_max:.4g}) for the bound to say something"
    return (*failing, near) if k_max >= wanted else failing
