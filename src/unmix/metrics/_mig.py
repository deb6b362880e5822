"""Mutual information gap: how far one code alone tells each factor."""

import numpy as np
from numpy.typing import ArrayLike

from ._checks import paired
from ._information import entropy, plug_in
from ._kinds import Declared, all_labels, kinds, n_bins


def mig(
    z_true: ArrayLike,
    z_hat: ArrayLike,
    *,
    discrete: Declared = None,
    discrete_codes: Declared = None,
    bins: int | None = None,
) -> float:
    """Average over factors the gap between the two codes that tell most, 1/F Σ_i (I_i(1) - I_i(2)) / H(z_i).

    Between 0 and 1: 1 when one code tells each factor and no other tells anything of it, 0 when two codes
    tell as much as each other, as copies of one code do. Information is counted from a contingency table;
    what chance adds to it (see `evaluate`) lowers the gap when samples are few.

    Parameters
    ----------
    z_true : array-like of shape (n_samples, n_factors)
        None of the factors may be constant.
    z_hat : array-like of shape (n_samples, n_codes)
        A constant code tells nothing. With a single code the second one counts 0.
    discrete : bool, sequence of n_factors bools, or None
        Which factors are discrete; by default those with at most 200 levels, each seen twice or more on
        average. Continuous factors are cut into bins of equal width.
    discrete_codes : bool, sequence of n_codes bools, or None
        The same for codes.
    bins : int, optional
        By default the cube root of n_samples, between 2 and 20: at the 10,000 samples of the published
        tables, their 20.

    Returns
    -------
    float

    Examples
    --------
    >>> z = np.random.default_rng(0).integers(0, 4, size=(2000, 3))
    >>> round(mig(z, -2 * z[:, [2, 0, 1]]), 2)
    1.0
    >>> round(mig(z, np.hstack([z, z])), 2)
    0.0

    References
    ----------
    Chen, Li, Grosse and Duvenaud (2018), Isolating sources of disentanglement in variational autoencoders,
    section 4.1, arXiv:1802.04942; Locatello et al. (2019), Challenging common assumptions in the unsupervised
    learning of disentangled representations, appendix, arXiv:1811.12359, for the histogram.
    """
    truth, codes = paired(z_true, z_hat)
    n = n_bins(len(truth), bins)
    sources = all_labels(truth, kinds(truth, discrete), n)
    latents = all_labels(codes, kinds(codes, discrete_codes, "discrete_codes"), n)
    return float(np.mean([_gap(s, latents) / entropy(s) for s in sources]))  # MIG of section 4.1


def information_matrix(sources: list[np.ndarray], latents: list[np.ndarray]) -> np.ndarray:
    """Return the plug-in information of all pairs of columns of labels; shape (n_factors, n_codes)."""
    return np.array([[plug_in(s, z) for z in latents] for s in sources])


def _gap(source: np.ndarray, latents: list[np.ndarray]) -> float:
    second, first = np.sort([0.0, *information_matrix([source], latents)[0]])[-2:]
    return first - second
