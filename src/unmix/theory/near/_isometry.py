"""Maps that nearly keep distances: how near, and how far at most from a rigid motion.

A map s with | ||s(a) - s(b)|| - ||a - b|| | <= delta * Delta on a set of diameter Delta lies near a rigid
motion. The constants here are self-contained: a Gram-Schmidt argument that keeps track of how much inner
products may have moved, coordinate by coordinate.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import qr
from scipy.optimize import minimize_scalar

from ..._geometry import widest_pair
from .._certificate import finite_table


def isometric_constant(n_latents: int) -> float:
    """Return c_D such that a (delta Delta)-near-isometry is within c_D sqrt(delta) Delta of a rigid motion.

    It holds for every set in R^D and every delta <= 1, and grows like 2^D: the bound says something only
    where delta < 1 / c_D^2. `near_isometry_bound` looks at the points themselves and does far better.

    Parameters
    ----------
    n_latents : int
        The dimension D, at least 1.

    Returns
    -------
    float

    Examples
    --------
    >>> [round(isometric_constant(d), 2) for d in (1, 2, 5)]
    [5.75, 19.03, 248.84]

    References
    ----------
    Alestalo, Trotsenko and Väisälä (2001), Isometric approximation, Theorem 2.2, for the statement; used in
    Nelson et al. (2026), Theorem 1, arXiv:2603.11970. The constant is our own.
    """
    if n_latents < 1:
        raise ValueError(f"`n_latents` must be at least 1, got {n_latents}. Pass the width of the codes.")
    best = minimize_scalar(
        _log_worst, args=(n_latents,), bounds=(-8.0, 8.0), method="bounded", options={"xatol": 1e-10}
    )
    return float(np.sqrt(4.5) * np.exp(best.fun / 2))  # 3 delta + 1.5 delta^2 <= 4.5 delta


def _log_worst(log_tau: float, d: int) -> float:
    """Log of the largest squared error over all heights, when coordinates with h^2 > tau R are matched."""
    tau = 1.0 + np.exp(log_tau)
    beta = np.sqrt(1 - 1 / tau)
    q = (1 + 1 / (1 + beta)) / beta
    growth = 1 + 2 * q + q**2 / tau  # R_{k+1} <= growth * R_k
    summed = (q**2 / tau) * (growth ** np.arange(d + 1) - 1) / (growth - 1)
    stopped = summed[:d] + (np.sqrt(tau) + np.sqrt(tau + 1)) ** 2 * growth ** np.arange(d)
    return float(np.log(max(stopped.max(), summed[d])))


def near_isometry_bound(z: ArrayLike, delta: float, *, n_target: int | None = None) -> float:
    """Bound how far any (delta Delta)-near-isometry of these points can be from a rigid motion, in diameters.

    Linear in delta for points that spread in all directions; the square root appears only for thin sets.
    The bound is a proof, not an estimate: whatever the map does to these points, if it changes no distance
    by more than delta times the diameter, some rigid motion stays within the bound of it at every point.

    Parameters
    ----------
    z : array-like of shape (n_samples, n_latents)
    delta : float
        Largest change of a distance, over the diameter.
    n_target : int, optional
        Width of the space mapped to, if larger than that of z.

    Returns
    -------
    float
        Over the diameter of z.

    Examples
    --------
    >>> square = [[0, 0], [1, 0], [0, 1], [1, 1]]
    >>> [float(f"{near_isometry_bound(square, delta):.6g}") for delta in (1e-6, 1e-4, 1e-3)]
    [3.62813e-05, 0.00363933, 0.0374541]

    References
    ----------
    Alestalo, Trotsenko and Väisälä (2001), Isometric approximation, for the idea; the recursion is our own.
    """
    points = finite_table(z, "z")
    if not delta >= 0:
        raise ValueError(f"`delta` must be at least 0, got {delta}. It is a share of the diameter.")
    width = widest_pair(points, True, 0.0)
    if width.value == 0:
        return 0.0
    heights = pivot_heights(points, width.endpoints[0]) / width.value
    extra = max(0, (n_target or 0) - len(heights))
    return _recursion(np.concatenate([heights, np.zeros(extra)]), delta)


def pivot_heights(points: np.ndarray, origin: int) -> np.ndarray:
    """Return h_k, the largest distance from the span of the k - 1 points chosen before, seen from `origin`.

    This is QR with pivoting: each step takes the point farthest from the span so far.
    """
    d = points.shape[1]
    r = np.abs(np.diag(qr((points - points[origin]).T, mode="r", pivoting=True)[0]))
    return np.concatenate([r, np.zeros(d - len(r))])


def _recursion(h: np.ndarray, delta: float) -> float:
    """Return the least bound over the number m of coordinates that are matched, the rest left to chance."""
    moved = 3 * delta + 1.5 * delta**2  # R_1: by how much an inner product may have moved
    squared, bounds = 0.0, []
    for height in h:
        bounds.append(squared + (height + np.sqrt(height**2 + moved)) ** 2)  # stop here: t_m^2
        if height**2 <= moved:
            return float(np.sqrt(min(bounds)))
        b = np.sqrt(height**2 - moved)
        d = (moved / b) * (1 + height / (height + b))  # bounds |s(x)_k - x_k| in the matched bases
        squared, moved = squared + d**2, moved + 2 * height * d + d**2
    return float(np.sqrt(min(*bounds, squared)))  # all matched: nothing is left


def distance_change(z1: np.ndarray, z2: np.ndarray, width: float) -> tuple[float, tuple[float, float, float]]:
    """Return delta = max_ij | ||z2_i - z2_j|| - ||z1_i - z1_j|| | / width, and 5, 50, 95% of the ratios."""
    i, j = np.triu_indices(len(z1), 1)
    before, after = (_distances(z)[i, j] for z in (z1, z2))
    ratios = after[before > 0] / before[before > 0]
    low, median, high = np.quantile(ratios, (0.05, 0.5, 0.95)).tolist()
    return float(np.abs(after - before).max() / width), (low, median, high)


def _distances(z: np.ndarray) -> np.ndarray:
    from scipy.spatial.distance import cdist

    return cdist(z, z)
