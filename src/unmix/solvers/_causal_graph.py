"""The causal graph of latents, as far as data without interventions can tell."""

import warnings
from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.stats import norm
from sklearn.utils import check_array

_LEAST = 30  # samples in which two latents must vary together to be tested
_TEST = "unmix pairwise fisherz"


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
        Which latents vary in each sample, as `PDGMM.activity` returns. A test then counts as many samples as
        the least frequent of its pairs has. Pairs that vary together in fewer than 30 samples can't be
        tested: they are left unjoined, and a warning says how many there are.
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
    settings: dict[str, Any] = {"indep_test": "fisherz"}
    if active is not None:
        settings = _pairwise(values, _activity(active, values.shape))
    found = search(values, alpha, show_progress=False, max_k=max_parents, **settings)
    return _adjacency(found.G.graph)


def _search() -> Any:
    try:
        from causallearn.search.ConstraintBased.PC import pc
    except ImportError:
        raise ImportError("`causal_graph` needs causal-learn: pip install 'unmix[causal]'.") from None
    return pc


def _pairwise(z: np.ndarray, active: np.ndarray) -> dict[str, Any]:
    """Return the settings of a search with correlations over the samples in which both latents vary."""
    from causallearn.utils.cit import register_ci_test

    counts = active.astype(float).T @ active
    rare = int((counts[np.triu_indices(len(counts), 1)] < _LEAST).sum())
    if rare == len(counts) * (len(counts) - 1) // 2:
        raise ValueError(
            f"`active` must let latents vary together in at least {_LEAST} samples, got no such pair. Use "
            "more samples; latents that never meet have no correlation."
        )
    if rare:
        warnings.warn(
            f"{rare} pairs of latents vary together in fewer than {_LEAST} samples, which is too few to test "
            "them: they are left unjoined.",
            stacklevel=3,
        )
    register_ci_test(_TEST, _test_class())
    return {"indep_test": _TEST, "correlations": _correlations(z, active), "counts": counts}


def _test_class() -> Any:
    from causallearn.utils.cit import CIT_Base

    class PairwiseFisherZ(CIT_Base):
        """Fisher's z test from correlations and sample sizes of pairs."""

        def __init__(self, data: np.ndarray, correlations: np.ndarray, counts: np.ndarray, **kwargs: Any):
            super().__init__(data, **kwargs)
            self.method, self.correlations, self.counts = _TEST, correlations, counts

        def __call__(self, X: Any, Y: Any, condition_set: Any = None) -> float:
            tested = [X, Y, *(condition_set or ())]
            block = np.ix_(tested, tested)
            return pairwise_p_value(self.correlations[block], float(self.counts[block].min()))

    return PairwiseFisherZ


def pairwise_p_value(correlations: np.ndarray, n_samples: float) -> float:
    """Test the first two of some variables for independence given the rest, by Fisher's z.

    With too few samples nothing is known: a pair by itself then passes for independent, while a condition
    that can't be tested does not make it so.

    Examples
    --------
    >>> round(pairwise_p_value(np.array([[1, 0.1], [0.1, 1]]), 403.0), 3)
    0.045
    """
    n_given = len(correlations) - 2
    if n_samples < _LEAST:
        return 0.0 if n_given else 1.0
    precision = np.linalg.pinv(correlations, hermitian=True)
    partial = -precision[0, 1] / np.sqrt(abs(precision[0, 0] * precision[1, 1]))
    bounded = np.clip(partial, -1 + 1e-12, 1 - 1e-12)  # pairs from different samples may contradict
    return float(2 * norm.sf(np.sqrt(n_samples - n_given - 3) * abs(np.arctanh(bounded))))


def _correlations(z: np.ndarray, active: np.ndarray) -> np.ndarray:
    """Correlate each pair over the samples in which both vary; shape (n_latents, n_latents)."""
    a, values = active.astype(float), np.where(active, z, 0.0)
    n = np.maximum(a.T @ a, 1.0)
    mean = values.T @ a / n  # entry (i, j): the mean of z_i where z_j varies too
    covariance = values.T @ values / n - mean * mean.T
    variance = (values**2).T @ a / n - mean**2
    spread = np.sqrt(variance * variance.T)
    return np.where(spread > 0, covariance / np.where(spread > 0, spread, 1.0), 0.0)


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
