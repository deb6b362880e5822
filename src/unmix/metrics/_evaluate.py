"""One table: every score with its interval, its null and its floor."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t

from ._catalogue import Measure, Metric, measures
from ._checks import is_constant, paired, standardised, table
from ._floor import rotation
from ._kinds import Declared, kinds
from ._score import Evaluation, Score

_LEAST, _TRIES, _FEW, _MANY = 8, 100, 40, 20
Parts = dict[str, float]


def evaluate(
    z_true: ArrayLike,
    z_hat: ArrayLike,
    *,
    metrics: str | Iterable[str | Metric] | Mapping[str, Metric] = ("mcc", "r2"),
    x: ArrayLike | None = None,
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
        Names of metrics in this room, "all" of them, or your own `(z_true, z_hat) -> float`, higher being
        better. A metric with several values gives several rows, such as "dci.completeness", from one
        evaluation; the name of such a row asks for that one alone.
    x : array-like of shape (n_samples, n_observed), optional
        Raw observations, scored as if they were codes.
    discrete : bool or sequence of bools, optional
        Which factors are discrete. By default those whose values repeat; the decision is made once, on all
        samples, and stated in the result.
    n_boot : int
        Half-samples for the interval. Slow metrics use at most 20 or 8 of them, 5 or 3 draws for null and
        floor instead of 20, and at most 10,000 or 5,000 samples; the result states the numbers.
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
    if n_boot < 2:
        raise ValueError(f"`n_boot` must be at least 2, got {n_boot}. A hundred give a steady interval.")
    chosen, mask = measures(metrics), kinds(truth, discrete)
    said = _said(mask, discrete is None)
    rng = np.random.default_rng(random_state)
    scores: dict[str, Score] = {}
    for name, measure in chosen:
        scores |= _scores(name, _bounded(measure, n_boot), truth, codes, raw, mask, said, rng)
    undefined = tuple(name for name, score in scores.items() if np.isnan(score.value))
    return Evaluation({n: s for n, s in scores.items() if n not in undefined}, said, undefined)


def _observations(x: ArrayLike, n_samples: int) -> np.ndarray:
    raw = table(x, "x")
    if len(raw) != n_samples:
        raise ValueError(
            f"`x` must have {n_samples} rows like `z_true`, got {len(raw)}. Rows are the same samples."
        )
    return raw


def _said(mask: np.ndarray, detected: bool) -> str:
    """State which factors count as discrete, and who said so."""
    found = ", ".join(map(str, np.flatnonzero(mask)))
    which = {0: "All factors continuous", len(mask): "All factors discrete"}
    sentence = which.get(int(mask.sum()), f"Discrete factors {found}, the others continuous")
    return f"{sentence} ({'detected' if detected else 'declared'})."


def _bounded(measure: Measure, n_boot: int) -> Measure:
    return replace(measure, n_boot=min(n_boot, measure.n_boot))


def _scores(
    name: str,
    measure: Measure,
    truth: np.ndarray,
    codes: np.ndarray,
    raw: np.ndarray | None,
    mask: np.ndarray,
    said: str,
    rng: np.random.Generator,
) -> dict[str, Score]:
    """Score one metric; several values come from the same evaluations."""
    varies = partial(_usable, mask=mask if measure.kinds else np.zeros_like(mask))
    most = len(truth) if measure.n_samples is None else min(measure.n_samples, len(truth))
    rows = np.arange(len(truth)) if most == len(truth) else _part(truth, most, varies, rng)
    truth, codes, raw = truth[rows], codes[rows], None if raw is None else raw[rows]
    call = partial(_call, measure, mask)
    start = time.perf_counter()
    value, probe = call(truth, codes)
    seconds = time.perf_counter() - start
    halves = (_part(truth, (most + 1) // 2, varies, rng) for _ in range(measure.n_boot))
    drawn = [call(truth[half], codes[half])[0] for half in halves]
    null = [call(truth, rng.permutation(codes))[0] for _ in range(measure.n_draws)]
    turned = (standardised(truth) @ rotation(truth.shape[1], rng) for _ in range(measure.n_draws))
    floor = [call(truth, rotated)[0] for rotated in turned]
    seen = None if raw is None else call(truth, raw)[0]
    return {
        name + part: Score(
            value=value[part],
            interval=_interval(value[part], np.array([found[part] for found in drawn])),
            null=_mean([found[part] for found in null]),
            floor=_mean([found[part] for found in floor]),
            raw=None if seen is None else _mean([seen[part]]),
            seconds=seconds,
            n_samples=most,
            probe=probe,
            n_boot=measure.n_boot,
            n_draws=measure.n_draws,
            factors=said if measure.kinds else None,
            null_high=_high([found[part] for found in null]),
            floor_high=_high([found[part] for found in floor]),
        )
        for part in value
    }


def _call(measure: Measure, mask: np.ndarray, truth: np.ndarray, codes: np.ndarray) -> tuple[Parts, str]:
    """Return the values of a metric by the end of their names, and the probe."""
    found = measure.function(truth, codes, discrete=mask) if measure.kinds else measure.function(truth, codes)
    if not is_dataclass(found):
        return {"": float(found)}, measure.probe
    named = {field.name: getattr(found, field.name) for field in fields(found)}
    wanted = measure.parts or [name for name, value in named.items() if isinstance(value, float)]
    return {f".{name}": float(named[name]) for name in wanted}, named.get("probe", measure.probe)


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


def _part(
    truth: np.ndarray, size: int, usable: Callable[[np.ndarray], bool], rng: np.random.Generator
) -> np.ndarray:
    """Draw some of the rows, again if a rare level is missed and a factor no longer varies."""
    for _ in range(_TRIES):
        rows = rng.permutation(len(truth))[:size]
        if usable(truth[rows]):
            return rows
    raise ValueError(
        f"`z_true` must vary within half of its rows, got factors constant in {_TRIES} random halves. "
        "Drop factors that hardly ever vary."
    )


def _usable(truth: np.ndarray, mask: np.ndarray) -> bool:
    """Say whether every factor varies, and those declared discrete repeat a value."""
    repeats = all(len(np.unique(column)) < len(column) for column in truth.T[mask])
    return repeats and not is_constant(truth).any()
