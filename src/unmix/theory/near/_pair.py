"""Near-identifiability from two runs themselves: what their distances prove, and what ICA adds."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..._geometry import rotation, widest_pair
from ..._ica import components
from ._ica_constants import Curvature, ica_constant, ica_curvature, whitening_constants
from ._isometry import distance_change, isometric_constant, near_isometry_bound
from ._pair_words import certificates_of, identifies, missing
from ._report import NearReport

_RANGE = 1e-100, 1e100  # squares of larger and smaller numbers are infinite, or zero


@dataclass(frozen=True, eq=False, kw_only=True)
class PairCertificate(NearReport):
    """What two runs prove about each other; see `certify_pair`. Lengths are in diameters of the first.

    Attributes
    ----------
    n_rows : int
        Rows whose distances were all compared.
    all_pairs : bool
        Whether these were all rows; else the numbers are estimates for the rest.
    diameter : float
        Of the first run, in its own units.
    factor : float
        By which the first run was multiplied, 1 unless `scale` was asked.
    delta : float
        Near-isometry constant: the largest change of a distance.
    ratios : tuple of three float
        5, 50 and 95% quantiles of distances after over before.
    instance_bound : float
        Some rigid motion is at least this close to the second run at every row, by delta alone.
    uniform_bound : float
        c_D sqrt(delta), which knows the width only; infinite where delta > 1.
    vacuous : bool
        Whether the smaller of the two is no smaller than the diameter.
    measured_worst, measured_mean : float
        Error of the least-squares rigid motion.
    epsilon : float
        Worst error of the best linear map, in units of the second run.
    k_whitening, k_whitening2, k_ica : float
        Constants of Theorem 2; infinite where there is no curvature, or no invertible linear map.
    ica_bound : float
        K epsilon + K' epsilon^2: how far ICA components of the two runs can be, in their own units of unit
        variance, up to order and sign.
    ica_vacuous : bool
        Whether that is no smaller than the diameter of the components.
    curvature : Curvature
        Of the ICA solution of the second run, with gamma.
    """

    n_rows: int
    all_pairs: bool
    diameter: float
    factor: float
    delta: float
    ratios: tuple[float, float, float]
    instance_bound: float
    uniform_bound: float
    vacuous: bool
    measured_worst: float
    measured_mean: float
    epsilon: float
    k_whitening: float
    k_whitening2: float
    k_ica: float
    ica_bound: float
    ica_vacuous: bool
    curvature: Curvature


def certify_pair(
    z1: ArrayLike,
    z2: ArrayLike,
    *,
    scale: bool = False,
    max_rows: int = 2000,
    constant: float | None = None,
    random_state: int = 0,
) -> PairCertificate:
    """Prove from distances how far two runs are from a rigid motion of each other, and what ICA adds.

    If no distance between rows changes by more than delta diameters from one run to the other, some rigid
    motion carries the first run onto the second within `instance_bound`, whatever else is true. If a linear
    map carries it within epsilon, whitening and ICA of each run agree up to order and sign within
    K epsilon + K' epsilon^2.

    Parameters
    ----------
    z1, z2 : array-like of shape (n_samples, n_codes1), (n_samples, n_codes2)
        Row i of both must come from the same input. The narrower one is filled with zeros.
    scale : bool
        Multiply the first run by one factor first, the best one in the least-squares sense.
    max_rows : int
        More rows than this are sampled down, since all pairs are compared.
    constant : float, optional
        Another value of c_D.
    random_state : int
        Draws the rows and the starts of ICA.

    Returns
    -------
    PairCertificate

    Examples
    --------
    >>> z = np.random.default_rng(0).uniform(size=(200, 2))
    >>> found = certify_pair(z, z @ [[0, 1], [-1, 0]] + 3)
    >>> bool(found), round(found.delta, 6), round(found.instance_bound, 6)
    (True, 0.0, 0.0)

    References
    ----------
    Nelson et al. (2026), Statistical and structural identifiability in representation learning, Theorems 1
    and 2, Lemmas A.5 to A.8, arXiv:2603.11970.
    """
    first, second, all_pairs = _rows(z1, z2, max_rows, random_state)
    a, b = first - first.mean(0), second - second.mean(0)
    factor = rotation(a, b)[1] if scale else 1.0
    a = a * factor
    rigid = _rigid_part(a, b, constant)
    linear = _linear_part(a, b, random_state)
    certificates = certificates_of(rigid, linear, all_pairs, len(a))
    return PairCertificate(
        certificates=certificates,
        identifies=identifies(certificates, rigid, linear, scale),
        missing=missing(certificates),
        n_rows=len(a),
        all_pairs=all_pairs,
        factor=factor,
        **rigid,
        **linear,
    )


def _rigid_part(a: np.ndarray, b: np.ndarray, constant: float | None) -> dict:
    d = max(a.shape[1], b.shape[1])
    wide1, wide2 = (np.pad(z, ((0, 0), (0, d - z.shape[1]))) for z in (a, b))
    width = widest_pair(a, True, 0.0).value
    delta, ratios = distance_change(wide1, wide2, width)
    instance = near_isometry_bound(a, delta, n_target=d)
    c = isometric_constant(d) if constant is None else float(constant)
    uniform = c * np.sqrt(delta) if delta <= 1 else np.inf
    left = np.linalg.norm(wide1 @ rotation(wide1, wide2)[0] - wide2, axis=1) / width
    return {
        "diameter": width,
        "delta": delta,
        "ratios": ratios,
        "instance_bound": instance,
        "uniform_bound": float(uniform),
        "vacuous": bool(min(instance, uniform) >= 1),
        "measured_worst": float(left.max()),
        "measured_mean": float(left.mean()),
    }


def _linear_part(a: np.ndarray, b: np.ndarray, random_state: int) -> dict:
    """Apply Theorem 2 with X = b and Y the image of a under the best linear map, both of mean zero.

    The map has to be invertible: only then are the components of the image those of a.
    """
    image = a @ np.linalg.lstsq(a, b, rcond=None)[0]
    epsilon = float(np.linalg.norm(image - b, axis=1).max())
    smallest = min(float(np.linalg.eigvalsh(z.T @ z / len(z))[0]) for z in (b, image))
    y = b @ components(b, random_state).unmix
    curvature = ica_curvature(y)
    largest = float(np.linalg.norm(y, axis=1).max())
    largest_variance = float(np.linalg.eigvalsh(b.T @ b / len(b))[-1])
    full = a.shape[1] == b.shape[1] and smallest > 1e-12 * largest_variance  # so the map is invertible
    k1, k2 = (
        whitening_constants(float(np.linalg.norm(b, axis=1).max()), smallest) if full else (np.inf, np.inf)
    )
    k_ica = ica_constant(largest, curvature.gamma, y.shape[1]) if curvature.gamma > 0 else np.inf
    bound = k_ica * (k1 * epsilon + k2 * epsilon**2) if np.isfinite(k1 * k_ica) else np.inf
    return {
        "epsilon": epsilon,
        "k_whitening": float(k1),
        "k_whitening2": float(k2),
        "k_ica": float(k_ica),
        "ica_bound": float(bound),
        "ica_vacuous": bool(bound >= widest_pair(y, True, 0.0).value),
        "curvature": curvature,
    }


def _rows(
    z1: ArrayLike, z2: ArrayLike, max_rows: int, random_state: int
) -> tuple[np.ndarray, np.ndarray, bool]:
    tables = []
    for values, name in ((z1, "z1"), (z2, "z2")):
        entries = np.asarray(values, dtype=np.float64)
        if entries.ndim != 2 or entries.shape[1] == 0 or len(entries) < 3 or not np.isfinite(entries).all():
            raise ValueError(
                f"`{name}` must be a finite table (n_samples, n_codes) of at least 3 rows, "
                f"got {entries.shape}."
            )
        if not np.ptp(entries, axis=0).any():
            raise ValueError(f"`{name}` must vary, got the same row {len(entries)} times. Check the run.")
        if not _RANGE[0] < (largest := np.abs(entries).max()) < _RANGE[1]:
            raise ValueError(
                f"`{name}` must have entries of up to {_RANGE[0]:g} to {_RANGE[1]:g}, got {largest:g}. "
                "Squares of others are no numbers: change the units."
            )
        tables.append(entries)
    if len(tables[0]) != len(tables[1]):
        raise ValueError(
            f"`z2` must have as many rows as `z1`, got {len(tables[1])} and {len(tables[0])}. "
            "Row i of both must come from the same input."
        )
    if max_rows < 3:
        raise ValueError(f"`max_rows` must be at least 3, got {max_rows}. Thousands are usual.")
    kept = np.sort(np.random.default_rng(random_state).permutation(len(tables[0]))[:max_rows])
    return tables[0][kept], tables[1][kept], len(kept) == len(tables[0])
