"""ComBat: location and scale of each batch, shrunk towards what batches have in common."""

import numpy as np

from ._design import Design

_TOLERANCE, _ROUNDS = 1e-4, 200


def combat(x: np.ndarray, design: Design, *, random_state: int = 0) -> np.ndarray:
    """Adjust location and scale of every column in every batch by parametric empirical Bayes.

    All rows are used, controls or not, and no label: what a batch's labels do to its mean is taken out, too.

    Examples
    --------
    >>> from unmix.deconfound import design
    >>> rng = np.random.default_rng(0)
    >>> plate = np.repeat([0, 1], 100)
    >>> x = rng.normal(size=(200, 30)) + np.array([0.0, 3.0])[plate, None]
    >>> y = combat(x, design({"plate": plate}, ["plate"]))
    >>> bool(abs(y[plate == 0].mean() - y[plate == 1].mean()) < 0.01)
    True

    References
    ----------
    Johnson, Li, Rabinovic (2007), Adjusting batch effects in microarray expression data using empirical Bayes
    methods, Section 3.
    """
    values = np.asarray(x, dtype=np.float64)
    batches = [np.flatnonzero(design.batch == k) for k in range(len(design.names))]
    batches = [rows for rows in batches if len(rows)]
    means = np.array([values[rows].mean(0) for rows in batches])
    sizes = np.array([len(rows) for rows in batches])
    grand = sizes @ means / sizes.sum()
    pooled = _within(values, batches, means)
    z = (values - grand) / np.sqrt(pooled)
    for rows in batches:
        location, scale = _shrunk(z[rows])
        z[rows] = (z[rows] - location) / np.sqrt(scale)
    return z * np.sqrt(pooled) + grand


def _within(values: np.ndarray, batches: list[np.ndarray], means: np.ndarray) -> np.ndarray:
    """Return the variance of each column about the means of its batches, 1 where there is none."""
    squares = sum(
        np.square(values[rows] - mean).sum(0) for rows, mean in zip(batches, means, strict=True)
    ) / len(values)
    return np.where(squares > 0, squares, 1.0)


def _shrunk(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the posterior means of location and scale of the columns of one batch."""
    n, mean = len(z), z.mean(0)
    if n < 2:
        return mean, np.ones_like(mean)
    variance = z.var(0, ddof=1)
    prior, spread = mean.mean(), mean.var(ddof=1)
    m, s = variance.mean(), variance.var(ddof=1)
    if spread <= 0 or s <= 0:
        return mean, np.maximum(variance, 1e-12)
    shape, rate = (2 * s + m**2) / s, (m * s + m**3) / s  # moments of an inverse gamma
    location, scale = mean, variance
    for _ in range(_ROUNDS):
        new = (n * spread * mean + scale * prior) / (n * spread + scale)
        squares = np.square(z - new).sum(0)
        newer = (rate + squares / 2) / (n / 2 + shape - 1)
        moved = max(np.abs(new - location).max(), np.abs(newer / scale - 1).max())
        location, scale = new, newer
        if moved < _TOLERANCE:
            break
    return location, scale
