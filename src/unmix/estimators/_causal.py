"""The causal graph of latents, as far as data without interventions can tell."""

from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components
from sklearn.utils import check_array

_LEAST = 30  # samples in which two latents must vary together


def causal_graph(
    z: Any, *, alpha: float = 0.01, active: Any = None, max_parents: int | None = None
) -> np.ndarray:
    """Run the PC algorithm with Fisher's z test on latents and return the class of their causal graph.

    Partial correlations are the right tests for linear Gaussian causal models. Latents of a degenerate
    mixture, however, are cut off from their causes where they are inactive, so that correlations over all
    samples belong to no causal model of the kind. With `active`, each correlation is taken over the samples
    in which both latents vary, which are those of the model if activity does not depend on the values.

    Parameters
    ----------
    z : array-like of shape (n_samples, n_latents)
        No latent may be constant.
    alpha : float
        Level of the tests; smaller values give fewer edges.
    active : bool array-like of shape (n_samples, n_latents), optional
        Which latents vary in each sample, as `PDGMM.activity` returns. Tests then count as many samples as
        the least frequent pair has.
    max_parents : int, optional
        The most latents to condition on, by default no limit.

    Returns
    -------
    ndarray of int, shape (n_latents, n_latents)
        Entry (i, j) is 1 for an edge i → j; an undirected edge has both entries: the convention of
        `unmix.metrics.cpdag` and `unmix.metrics.shd`. Where tests contradict each other, edges that would
        point both ways or close a directed cycle are left undirected.

    Examples
    --------
    A collider is recognised, since its causes are independent:

    >>> rng = np.random.default_rng(0)
    >>> causes = rng.normal(size=(1000, 2))
    >>> effect = causes.sum(1, keepdims=True) + rng.normal(size=(1000, 1))
    >>> causal_graph(np.hstack([causes, effect]))
    array([[0, 0, 1],
           [0, 0, 1],
           [0, 0, 0]])

    References
    ----------
    Spirtes, Glymour and Scheines (2000), Causation, prediction, and search, Section 5.4.2; on recovered
    latents: Xu, Lachapelle and Magliacane (2026), Appendix D.9, arXiv:2604.13218.
    """
    values = check_array(z, dtype=np.float64, ensure_min_samples=4, input_name="z")
    _check(values, alpha, max_parents)
    search = _search()
    if values.shape[1] == 1:
        return np.zeros((1, 1), dtype=int)
    if active is not None:
        values = _as_if_always_active(values, _activity(active, values.shape))
    found = search(values, alpha, "fisherz", show_progress=False, max_k=max_parents)
    return _adjacency(found.G.graph)


def _search() -> Any:
    try:
        from causallearn.search.ConstraintBased.PC import pc
    except ImportError:
        raise ImportError("`causal_graph` needs causal-learn: pip install 'unmix[causal]'.") from None
    return pc


def _as_if_always_active(z: np.ndarray, active: np.ndarray) -> np.ndarray:
    """Return samples with the correlations of latents that vary together, as many as the rarest pair has.

    Fisher's test sees correlations and their number of samples only, so such samples stand for all.
    """
    pairs = active.astype(float).T @ active
    n_samples, n = int(pairs.min()), z.shape[1]
    if n_samples < max(_LEAST, n + 4):
        i, j = np.unravel_index(pairs.argmin(), pairs.shape)
        raise ValueError(
            f"`active` must let every two latents vary together in at least {max(_LEAST, n + 4)} samples, "
            f"got {n_samples} for {i} and {j}. Use more samples; latents that never meet have no correlation."
        )
    spread, directions = np.linalg.eigh(_correlations(z, active))
    root = directions * np.sqrt(np.maximum(spread, 1e-6))  # pairs from different samples may contradict
    drawn = np.random.default_rng(0).normal(size=(n_samples, n))
    return np.linalg.qr(drawn - drawn.mean(0))[0] @ root.T


def _correlations(z: np.ndarray, active: np.ndarray) -> np.ndarray:
    """Correlate each pair over the samples in which both vary; shape (n_latents, n_latents)."""
    a, values = active.astype(float), np.where(active, z, 0.0)
    n = a.T @ a
    mean = values.T @ a / n  # entry (i, j): the mean of z_i where z_j varies too
    covariance = values.T @ values / n - mean * mean.T
    variance = (values**2).T @ a / n - mean**2
    return covariance / np.sqrt(variance * variance.T)


def _adjacency(marks: np.ndarray) -> np.ndarray:
    """Read causal-learn's marks (-1 at the tail, 1 at the head of an edge) as zeros and ones."""
    joined = marks != 0
    directed = (marks == -1) & (marks.T == 1)
    _, component = connected_components(directed, directed=True, connection="strong")
    directed &= component[:, None] != component  # what lies on a directed cycle points nowhere
    return (joined & ~directed.T).astype(int)


def _check(z: np.ndarray, alpha: Any, max_parents: Any) -> None:
    if not isinstance(alpha, Real) or not 0 < float(alpha) < 1:
        raise ValueError(f"`alpha` must be a number between 0 and 1, got {alpha!r}. Use 0.01.")
    if max_parents is not None and (not isinstance(max_parents, int | np.integer) or max_parents < 0):
        raise ValueError(f"`max_parents` must be None or an integer of at least 0, got {max_parents!r}.")
    constant = np.flatnonzero(np.ptp(z, axis=0) <= 1e-12 * np.abs(z).max(0))
    if len(constant):
        raise ValueError(f"`z` must not have constant columns, got {constant.tolist()}. Drop them.")
    if len(z) < z.shape[1] + 4 or np.linalg.matrix_rank(np.corrcoef(z, rowvar=False)) < z.shape[1]:
        raise ValueError(
            f"`z` must have more samples than latents and no latent that repeats others, got {z.shape}. "
            "Drop repeated columns."
        )


def _activity(active: Any, shape: tuple[int, ...]) -> np.ndarray:
    entries = np.asarray(active)
    if entries.shape != shape or not np.isin(entries, (0, 1)).all():
        raise ValueError(
            f"`active` must be zeros and ones of shape {shape}, got {entries.dtype} {entries.shape}."
        )
    return entries.astype(bool)
