"""One table: every score with its interval, its null and its floor."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t

from .._checks import paired, table
from .._kinds import Declared, kinds
from ._catalogue import Metric, measures
from ._resampling import Draws, draw
from ._score import Evaluation, Score

_LEAST, _FEW, _MANY = 8, 40, 20


def evaluate(
    z_true: ArrayLike,
    z_hat: ArrayLike,
    *,
    metrics: str | Iterable[str | Metric] | Mapping[str, Metric] = ("mcc", "r2"),
    x: ArrayLike | None = None,
    references: Mapping[str, ArrayLike] | None = None,
    discrete: Declared = None,
    n_boot: int = 100,
    random_state: Any = None,
) -> Evaluation:
    """Score codes against the truth, each metric with its interval, null, floor and the score of raw x.

    Intervals come from half-samples drawn without replacement, whose spread equals the sampling spread at
    full size (for averages: (1/m)(1 - m/n) = 1/n at m = n/2). Unlike resampling with replacement this never
    puts the same row on both sides of a probe's split. Fewer than 40 half-samples give an interval by
    Student's t, more by quantiles.

    Parameters
    ----------
    z_true : array-like of shape (n_samples, n_factors)
        At least 8 samples, and no constant factor.
    z_hat : array-like of shape (n_samples, n_codes)
    metrics : name, iterable of names or callables, or mapping of names to callables
        Names of metrics in this room, "all" of them but "dci.boosting", the gradient boosting of published
        tables, which takes minutes, or your own `(z_true, z_hat) -> float`, higher being better. A metric
        with several values gives several rows, such as "dci.completeness", from one evaluation; the name of
        such a row asks for that one alone.
    x : array-like of shape (n_samples, n_observed), optional
        Raw observations, scored as if they were codes.
    references : mapping of names to array-likes of shape (n_samples, n_codes_of_it), optional
        Other codes of the same samples to stand beside these, such as principal components of pixels where
        there are too many of them to be scored themselves.
    discrete : bool or sequence of bools, optional
        Which factors are discrete. By default those whose values repeat; the decision is made once, on all
        samples, and stated in the result.
    n_boot : int
        Half-samples for the interval. Slow metrics use at most 20, 8 or 5 of them, 5, 3 or 2 draws for null
        and floor instead of 20, and at most 10,000, 5,000 or 1,000 samples. Quick ones use as many
        as 4 million numbers hold, thousands of rows at widths of hundreds. The result states the numbers.
    random_state : int, numpy.random.Generator or None

    Returns
    -------
    Evaluation
        A mapping: `evaluate(...)["mcc"].value`, `.interval`, `.null`, `.floor`, `.raw`, `.probe`, `.seconds`,
        `.n_samples`; also a table with `columns`, `column`, `records`, `to_frame` and `write`.

    Examples
    --------
    >>> z = np.random.default_rng(0).normal(size=(500, 3))
    >>> scores = evaluate(z, -z[:, ::-1], random_state=0)
    >>> round(scores["mcc"].value, 2), round(scores["mcc"].null, 1), round(scores["mcc"].floor, 1)
    (1.0, 0.1, 0.8)
    >>> scores["mcc"].reading, scores["r2"].reading
    ('above floor', 'floor')

    References
    ----------
    Shao and Wu (1989), A general theory for jackknife variance estimation, for half-samples.
    """
    truth, codes = paired(z_true, z_hat, n_least=_LEAST)
    raw = None if x is None else _observations(x, len(truth))
    others = {name: _observations(z, len(truth), name) for name, z in (references or {}).items()}
    if n_boot < 2:
        raise ValueError(f"`n_boot` must be at least 2, got {n_boot}. A hundred give a steady interval.")
    chosen, mask = measures(metrics), kinds(truth, discrete)
    said = _said(mask, discrete is None)
    rng = np.random.default_rng(random_state)
    scores: dict[str, Score] = {}
    for name, measure in chosen:
        budgeted = replace(measure, n_boot=min(n_boot, measure.n_boot))
        drawn = draw(budgeted, truth, codes, raw, mask, rng, others)
        about = {"factors": said if measure.kinds else None, "n_draws": measure.n_draws}
        scores |= {name + part: _score(part, drawn, about) for part in drawn.value}
    undefined = tuple(name for name, score in scores.items() if np.isnan(score.value))
    return Evaluation({n: s for n, s in scores.items() if n not in undefined}, said, undefined)


def _observations(x: ArrayLike, n_samples: int, name: str = "x") -> np.ndarray:
    raw = table(x, name)
    if len(raw) != n_samples:
        raise ValueError(
            f"`{name}` must have {n_samples} rows like `z_true`, got {len(raw)}. Rows are the same samples."
        )
    return raw


def _said(mask: np.ndarray, detected: bool) -> str:
    """State which factors count as discrete, and who said so."""
    found = ", ".join(map(str, np.flatnonzero(mask)))
    which = {0: "All factors continuous", len(mask): "All factors discrete"}
    sentence = which.get(int(mask.sum()), f"Discrete factors {found}, the others continuous")
    return f"{sentence} ({'detected' if detected else 'declared'})."


def _score(part: str, drawn: Draws, about: dict[str, Any]) -> Score:
    """Gather what was drawn for one value of a metric."""
    halves, null, floor = (
        [found[part] for found in draws] for draws in (drawn.halves, drawn.null, drawn.floor)
    )
    value = drawn.value[part]
    return Score(
        value=value,
        interval=_interval(value, np.array(halves)),
        null=_mean(null),
        floor=_mean(floor),
        raw=None if drawn.raw is None else _mean([drawn.raw[part]]),
        seconds=drawn.seconds,
        n_samples=drawn.n_samples,
        probe=drawn.probe,
        n_boot=len(halves),
        null_high=_high(null),
        floor_high=_high(floor),
        beside={name: _mean([found[part]]) for name, found in drawn.beside.items()},
        **about,
    )


def _mean(values: list[float]) -> float | None:
    """Average what is defined; None where nothing is."""
    defined = [value for value in values if not np.isnan(value)]
    return float(np.mean(defined)) if defined else None


def _high(values: list[float]) -> float | None:
    """Return what 95% of draws stay below, never above 1 unless a draw is; None where nothing is defined."""
    defined = np.array([value for value in values if not np.isnan(value)])
    if len(defined) < 2:
        return _mean(values)
    if len(defined) >= _MANY:
        return float(np.quantile(defined, 0.95))
    reach = t.ppf(0.95, len(defined) - 1) * defined.std(ddof=1) * np.sqrt(1 + 1 / len(defined))
    return float(min(defined.mean() + reach, max(1.0, defined.max())))


def _interval(value: float, drawn: np.ndarray) -> tuple[float, float]:
    """Centre the spread of half-samples on the value: at half the size many metrics are biased upwards."""
    drawn = drawn[~np.isnan(drawn)]
    if len(drawn) < 2:
        return value, value
    if len(drawn) < _FEW:
        reach = float(t.ppf(0.975, len(drawn) - 1) * drawn.std(ddof=1))
        low, high = -reach, reach
    else:
        low, high = np.quantile(drawn - drawn.mean(), [0.025, 0.975])
    return float(value + min(low, 0.0)), float(min(value + max(high, 0.0), max(1.0, value)))
