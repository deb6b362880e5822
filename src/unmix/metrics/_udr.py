"""Unsupervised disentanglement ranking: runs that agree code by code, without any ground truth."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from sklearn.linear_model import Lasso

from ._checks import is_constant, standardised, table
from ._dependence import dependence

_LASSO = 0.1  # the weight of Duan et al.'s published code, on standardised codes


def udr(
    runs: Sequence[ArrayLike],
    *,
    run: int | None = None,
    relation: str = "spearman",
    min_std: float = 0.0,
) -> float:
    """Score how far independent runs of a method agree on single codes, up to order and sign.

    For runs i and j let R(a, b) be the strength of the relation of code a of run i with code b of run j, and
    r_a its maximum over b. Then UDR_ij = (Σ_b r_b² / Σ_a R(a, b) + Σ_a r_a² / Σ_b R(a, b)) / (d_a + d_b),
    over informative codes; a run's score is its median over the other runs.

    Agreement is no proof: runs can agree on something wrong. Read it as a way to choose among settings.

    Parameters
    ----------
    runs : sequence of array-likes of shape (n_samples, n_codes)
        Codes of the same samples by two or more runs; numbers of codes may differ.
    run : int, optional
        Score this run. By default the mean of the scores of all runs.
    relation : {"spearman", "lasso"}
        Absolute rank correlation, or absolute weights of lasso regressions of one run's codes on the other's.
    min_std : float
        Codes with a smaller spread are uninformative and left out; constant ones always are. A run without
        informative codes agrees with nothing: 0. (The paper uses the divergence of the posterior from the
        prior, which plain arrays do not hold.)

    Returns
    -------
    float
        Between 0 and 1.

    Examples
    --------
    >>> z = np.random.default_rng(0).uniform(size=(2000, 3))
    >>> round(udr([z, -z[:, [2, 0, 1]], z[:, [1, 0, 2]] ** 3]), 1)
    0.9
    >>> turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    >>> round(udr([z, z @ turn]), 1)
    0.6

    References
    ----------
    Duan et al. (2020), Unsupervised model selection for variational disentangled representation learning,
    Equations 2 and 3, arXiv:1905.12614.
    """
    if relation not in ("spearman", "lasso"):
        raise ValueError(f"`relation` must be 'spearman' or 'lasso', got {relation!r}. Choose one of them.")
    tables = _tables(runs)
    if run is not None and run not in range(len(tables)):
        raise ValueError(f"`run` must be one of 0 to {len(tables) - 1}, got {run}. Runs count from 0.")
    informative = [codes[:, (codes.std(0) >= min_std) & ~is_constant(codes)] for codes in tables]
    scored = range(len(tables)) if run is None else [run]
    return float(np.mean([_median_agreement(informative, i, relation) for i in scored]))


def _tables(runs: Sequence[ArrayLike]) -> list[np.ndarray]:
    tables = [table(codes, f"runs[{i}]") for i, codes in enumerate(runs)]
    if len(tables) < 2:
        raise ValueError(f"`runs` must hold at least 2 runs, got {len(tables)}. Fit with another seed.")
    if len({len(codes) for codes in tables}) > 1 or len(tables[0]) < 2:
        raise ValueError(
            f"`runs` must have the same rows, at least 2, got {[len(codes) for codes in tables]}. "
            "Transform the same samples with each run."
        )
    return tables


def _median_agreement(runs: list[np.ndarray], i: int, relation: str) -> float:
    return float(np.median([_agreement(runs[i], other, relation) for j, other in enumerate(runs) if j != i]))


def _agreement(a: np.ndarray, b: np.ndarray, relation: str) -> float:
    """Return UDR_ij (Equation 3) of informative codes."""
    if not a.shape[1] or not b.shape[1]:
        return 0.0
    strength = np.abs(_relation(a, b, relation))
    both = [_one_sided(strength).sum(), _one_sided(strength.T).sum()]
    return float(sum(both) / sum(strength.shape))


def _relation(a: np.ndarray, b: np.ndarray, relation: str) -> np.ndarray:
    if relation == "spearman":
        return dependence(a, b, "spearman")
    a, b = standardised(a), standardised(b)
    return np.stack([Lasso(alpha=_LASSO).fit(a, target).coef_ for target in b.T], axis=1)


def _one_sided(strength: np.ndarray) -> np.ndarray:
    """Return r_b² / Σ_a R(a, b) of each column, its largest entry times its share; 0 without relation."""
    total, largest = strength.sum(0), strength.max(0)
    return np.where(total > 0, largest**2 / np.where(total > 0, total, 1.0), 0.0)
