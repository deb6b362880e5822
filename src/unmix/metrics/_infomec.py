"""InfoMEC: modularity, explicitness and compactness of codes, measured by information."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ._checks import is_constant, paired, standardised
from ._information import entropy, nearest_neighbours, plug_in
from ._kinds import Declared, all_labels, equal_count, kinds, labels, n_bins
from ._linear_probes import least_squares, level_probabilities


class _Preset(NamedTuple):
    n_neighbours: int
    spread: Callable[[np.ndarray], np.ndarray]
    share: float  # a code is active when its spread exceeds this share of the largest


def _range(codes: np.ndarray) -> np.ndarray:
    return np.ptp(codes, axis=0)


def _interquartile(codes: np.ndarray) -> np.ndarray:
    low, high = np.quantile(codes, [0.25, 0.75], axis=0)
    return high - low


_PRESETS = {
    "standalone": _Preset(10, _range, 1 / 20),
    "hsu2023-logged": _Preset(3, _range, 1 / 8),
    "tripod": _Preset(10, _interquartile, 1 / 10),
}


@dataclass(frozen=True, eq=False)
class InfoMEC:
    """The three scores and what they were computed from.

    Attributes
    ----------
    modularity, explicitness, compactness : float
        At best 1. Undefined scores are NaN, and `notes` says why.
    nmi : ndarray of shape (n_factors, n_codes)
        I(z_i; ẑ_j) / H(z_i), inactive codes included.
    active : tuple of bool, length n_codes
        Which codes vary enough to count.
    discrete, discrete_codes : tuple of bool
        Which factors, and which codes, were taken to be discrete.
    preset : str
    notes : tuple of str
        What a reader should know: why a score is undefined.
    """

    modularity: float
    explicitness: float
    compactness: float
    nmi: np.ndarray
    active: tuple[bool, ...]
    discrete: tuple[bool, ...]
    discrete_codes: tuple[bool, ...]
    preset: str
    notes: tuple[str, ...] = ()


def infomec(
    z_true: ArrayLike,
    z_hat: ArrayLike,
    *,
    preset: str = "standalone",
    prune: float | None = None,
    discrete: Declared = None,
    discrete_codes: Declared = None,
    random_state: Any = 0,
) -> InfoMEC:
    """Score modularity (one factor per code), compactness (one code per factor) and explicitness (factors
    read off linearly).

    From NMI_ij = I(z_i; ẑ_j) / H(z_i) over the F factors and the A active codes,
    InfoM = (mean_j max_i NMI_ij / Σ_i NMI_ij - 1/F) / (1 - 1/F),
    InfoC = (mean_i max_j NMI_ij / Σ_j NMI_ij - 1/A) / (1 - 1/A).
    InfoE averages 1 - CE_i / log(levels) of discrete factors, with CE_i the log loss, on the same samples, of
    logistic regression from all codes with levels of equal weight, and the R² of least squares of continuous
    factors.

    Parameters
    ----------
    z_true : array-like of shape (n_samples, n_factors)
        None of the factors may be constant. With a single factor InfoM is NaN.
    z_hat : array-like of shape (n_samples, n_codes)
        With a single active code InfoC is NaN; without any all scores are 0.
    preset : {"standalone", "hsu2023-logged", "tripod"}
        10 neighbours, and codes with more than 1/20 of the largest range are active; 3 neighbours and 1/8;
        10 neighbours and 1/10 of the largest interquartile range.
    prune : float, optional
        Another share than the preset's. Pruning makes the score depend on the units of codes; 0 keeps every
        code that varies.
    discrete, discrete_codes : bool, sequence of bools, or None
        Which factors, and which codes, are discrete; by default those with at most 200 levels, each seen
        twice or more on average. To measure information, continuous factors are cut at quantiles, as many
        as the cube root of n_samples but at most 20. Discrete codes that vary are always active.
    random_state : int, numpy.random.Generator or None
        Tells equal values of a continuous code apart; fixed by default.

    Returns
    -------
    InfoMEC

    Notes
    -----
    A code that tells nothing of any factor is left out of InfoM; a factor that no code tells anything of
    counts 0 in InfoC.

    Examples
    --------
    >>> s1, s2 = np.repeat([0, 1], 4), np.tile([0, 1, 2, 3], 2)
    >>> found = infomec(np.column_stack([s1, s2]), np.column_stack([s1, s2, s1 + 2 * (s2 >= 2), 0 * s1]))
    >>> round(found.modularity, 4), round(found.compactness, 4), round(found.explicitness, 2)
    (0.7778, 0.375, 1.0)

    References
    ----------
    Hsu, Dorrell, Whittington, Wu and Finn (2023), Disentanglement via latent quantization, arXiv:2305.18378.
    """
    truth, codes = paired(z_true, z_hat)
    chosen = _chosen(preset, prune)
    rng = np.random.default_rng(random_state)
    is_discrete, is_discrete_code = kinds(truth, discrete), kinds(codes, discrete_codes, "discrete_codes")
    sources = all_labels(truth, is_discrete, n_bins(len(truth)), equal_count)
    nmi = np.array([_normalised(s, codes, is_discrete_code, chosen.n_neighbours, rng) for s in sources])
    active = _active(codes, is_discrete_code, chosen)
    features = _features(codes, is_discrete_code)
    explicit = [_explicitness(column, d, features) for column, d in zip(truth.T, is_discrete, strict=True)]
    told = nmi[:, active]
    return InfoMEC(
        modularity=_above_even(told[:, told.sum(0) > 0].T) if active.any() else 0.0,
        explicitness=float(np.mean(explicit)) if active.any() else 0.0,
        compactness=_above_even(told) if active.any() else 0.0,
        nmi=np.minimum(nmi, 1.0),  # estimates of few rows exceed what there is to know
        active=tuple(active.tolist()),
        discrete=tuple(is_discrete.tolist()),
        discrete_codes=tuple(is_discrete_code.tolist()),
        preset=preset,
        notes=_notes(len(nmi), active, ~is_constant(codes)),
    )


def _chosen(preset: str, prune: float | None) -> _Preset:
    if preset not in _PRESETS:
        raise ValueError(f"`preset` must be one of {list(_PRESETS)}, got {preset!r}. Choose one of them.")
    if prune is None:
        return _PRESETS[preset]
    if not 0 <= prune < 1:
        raise ValueError(f"`prune` must be in [0, 1), got {prune}. 0 keeps every code that varies.")
    return _PRESETS[preset]._replace(share=prune)


def _normalised(
    source: np.ndarray, codes: np.ndarray, discrete: np.ndarray, k: int, rng: np.random.Generator
) -> np.ndarray:
    """Return the share of a factor's entropy that each code tells; shape (n_codes,)."""
    told = [
        plug_in(source, labels(z)) if d else nearest_neighbours(source, z, k, rng)
        for z, d in zip(codes.T, discrete, strict=True)
    ]
    return np.array(told) / (entropy(source) or 1.0)  # of a factor that falls into one bin nothing is told


def _active(codes: np.ndarray, discrete: np.ndarray, preset: _Preset) -> np.ndarray:
    varies, spread = ~is_constant(codes), preset.spread(codes)
    largest = spread[~discrete].max(initial=0.0)
    return varies & (discrete | (spread > preset.share * largest) | (preset.share == 0))


def _features(codes: np.ndarray, discrete: np.ndarray) -> np.ndarray:
    """Standardise continuous codes and write discrete ones as indicators of their levels."""
    one_hot = [np.eye(int(y.max()) + 1)[y] for y in map(labels, codes.T[discrete])]
    return np.hstack([standardised(codes[:, ~discrete]), *one_hot])


def _explicitness(source: np.ndarray, discrete: bool, features: np.ndarray) -> float:
    if not discrete:
        target = standardised(source[:, None])[:, 0]
        residual = target - least_squares(features, target, features)
        return float(np.clip(1 - residual.var(), 0.0, 1.0))
    y = labels(source)
    probability = level_probabilities(features, y, features)[np.arange(len(y)), y]
    loss = -np.log(np.maximum(probability, np.finfo(np.float64).eps)).mean()
    return float(1 - loss / np.log(y.max() + 1))  # with equal weights and no codes every level has 1/levels


def _above_even(rows: np.ndarray) -> float:
    """Average the largest share of each row: 0 where shares are even or all 0, 1 where one has all.

    Without rows the answer is 0; with one column there are no shares, and it is undefined.
    """
    width = rows.shape[1]
    if width == 1:
        return float("nan")
    if not len(rows):
        return 0.0
    total = rows.sum(1)
    share = np.where(total > 0, rows.max(1) / np.where(total > 0, total, 1.0), 1 / width)
    return float((share.mean() - 1 / width) / (1 - 1 / width))


def _notes(n_factors: int, active: np.ndarray, varies: np.ndarray) -> tuple[str, ...]:
    left_out = int((varies & ~active).sum())
    said = {
        "No code varies: all scores are 0.": not active.any(),
        "Modularity is undefined: there is a single factor.": active.any() and n_factors == 1,
        "Compactness is undefined: a single code is active.": active.sum() == 1,
        f"{left_out} codes vary too little beside the widest to count; `prune=0` keeps them.": left_out > 0,
    }
    return tuple(text for text, applies in said.items() if applies)
