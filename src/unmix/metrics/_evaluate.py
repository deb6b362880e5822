"""One table: every score with its interval, its null and its floor."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._checks import is_constant, paired, table
from ._floor import permutation_null, rotation_floor
from ._mcc import mcc
from ._r2 import r2

Metric = Callable[[np.ndarray, np.ndarray], float]

_BY_NAME: dict[str, Metric] = {"mcc": mcc, "r2": r2}
_COLUMNS = ("metric", "value", "interval", "null", "floor", "raw x", "n", "seconds")
_LEAST, _TRIES, _DRAWS = 8, 100, 20


@dataclass(frozen=True)
class Score:
    """A metric's value and what is needed to read it.

    Attributes
    ----------
    value : float
    interval : (float, float)
        95% interval of the value over resampled data.
    null : float
        The value when the rows of the codes are shuffled: chance, at this sample size and width.
    floor : float
        The value of random rotations of the truth: everything known, nothing identified.
    raw : float or None
        The value of the raw observations in place of the codes, when they were given.
    seconds : float
        Time for one evaluation of the metric.
    n_samples : int
    """

    value: float
    interval: tuple[float, float]
    null: float
    floor: float
    raw: float | None
    seconds: float
    n_samples: int


@dataclass(frozen=True)
class Evaluation(Mapping[str, Score]):
    """Scores by the name of their metric; prints as a table."""

    scores: dict[str, Score]

    def __getitem__(self, name: str) -> Score:
        return self.scores[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return plain numbers, ready for JSON."""
        return {
            name: asdict(score) | {"interval": list(score.interval)} for name, score in self.scores.items()
        }

    def __str__(self) -> str:
        rows = [_COLUMNS, *self._rows()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)

    def __rich__(self) -> Any:
        from rich.table import Table

        drawn = Table(*_COLUMNS, caption="null: shuffled rows. floor: random rotation of the truth.")
        for row in self._rows():
            drawn.add_row(*row)
        return drawn

    def _rows(self) -> list[tuple[str, ...]]:
        return [_row(name, score) for name, score in self.scores.items()]


def evaluate(
    z_true: ArrayLike,
    z_hat: ArrayLike,
    *,
    metrics: Iterable[str | Metric] | Mapping[str, Metric] = ("mcc", "r2"),
    x: ArrayLike | None = None,
    n_boot: int = 100,
    random_state: Any = None,
) -> Evaluation:
    """Score codes against the truth, each metric with its interval, null, floor and the score of raw x.

    Intervals come from half-samples drawn without replacement, whose spread equals the sampling spread at
    full size (for averages: (1/m)(1 - m/n) = 1/n at m = n/2). Unlike resampling with replacement this never
    puts the same row on both sides of a probe's split.

    Parameters
    ----------
    z_true : array-like of shape (n_samples, n_factors)
        At least 8 samples, and no constant factor.
    z_hat : array-like of shape (n_samples, n_codes)
    metrics : iterable of names or callables, or mapping of names to callables
        Names of metrics in this room, or your own `(z_true, z_hat) -> float`, higher being better.
    x : array-like of shape (n_samples, n_observed), optional
        Raw observations, scored as if they were codes.
    n_boot : int
        Half-samples for the interval.
    random_state : int, numpy.random.Generator or None

    Returns
    -------
    Evaluation
        A mapping: `evaluate(...)["mcc"].value`, `.interval`, `.null`, `.floor`, `.raw`, `.seconds`,
        `.n_samples`.

    Examples
    --------
    >>> z = np.random.default_rng(0).normal(size=(500, 3))
    >>> scores = evaluate(z, -z[:, ::-1], random_state=0)
    >>> round(scores["mcc"].value, 2), round(scores["mcc"].null, 1), round(scores["mcc"].floor, 1)
    (1.0, 0.1, 0.8)

    References
    ----------
    Shao and Wu (1989), A general theory for jackknife variance estimation, for half-samples.
    """
    truth, codes = paired(z_true, z_hat, n_least=_LEAST)
    raw = None if x is None else _observations(x, len(truth))
    if n_boot < 2:
        raise ValueError(f"`n_boot` must be at least 2, got {n_boot}. A hundred give a steady interval.")
    rng = np.random.default_rng(random_state)
    return Evaluation(
        {name: _score(metric, truth, codes, raw, n_boot, rng) for name, metric in _named(metrics)}
    )


def _observations(x: ArrayLike, n_samples: int) -> np.ndarray:
    raw = table(x, "x")
    if len(raw) != n_samples:
        raise ValueError(
            f"`x` must have {n_samples} rows like `z_true`, got {len(raw)}. Rows are the same samples."
        )
    return raw


def _score(
    metric: Metric,
    truth: np.ndarray,
    codes: np.ndarray,
    raw: np.ndarray | None,
    n_boot: int,
    rng: np.random.Generator,
) -> Score:
    start = time.perf_counter()
    value = float(metric(truth, codes))
    seconds = time.perf_counter() - start
    return Score(
        value=value,
        interval=_interval(metric, truth, codes, value, n_boot, rng),
        null=permutation_null(truth, codes, metric, _DRAWS, rng),
        floor=rotation_floor(truth, metric=metric, n_draws=_DRAWS, random_state=rng),
        raw=None if raw is None else float(metric(truth, raw)),
        seconds=seconds,
        n_samples=len(truth),
    )


def _interval(
    metric: Metric, truth: np.ndarray, codes: np.ndarray, value: float, n_boot: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Centre the spread of half-samples on the value: at half the size many metrics are biased upwards."""
    halves = (_half(truth, rng) for _ in range(n_boot))
    drawn = np.array([metric(truth[rows], codes[rows]) for rows in halves])
    low, high = np.quantile(drawn - drawn.mean(), [0.025, 0.975])
    return float(value + min(low, 0.0)), float(min(value + max(high, 0.0), max(1.0, value)))


def _half(truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw half of the rows, again if a rare level is missed and a factor no longer varies."""
    for _ in range(_TRIES):
        rows = rng.permutation(len(truth))[: (len(truth) + 1) // 2]
        if not is_constant(truth[rows]).any():
            return rows
    raise ValueError(
        f"`z_true` must vary within half of its rows, got factors constant in {_TRIES} random halves. "
        "Drop factors that hardly ever vary."
    )


def _named(metrics: Iterable[str | Metric] | Mapping[str, Metric]) -> list[tuple[str, Metric]]:
    if isinstance(metrics, Mapping):
        return list(metrics.items())
    chosen = [metrics] if isinstance(metrics, str) else list(metrics)
    return [(m, _known(m)) if isinstance(m, str) else (_name(m), m) for m in chosen]


def _known(name: str) -> Metric:
    if name not in _BY_NAME:
        raise ValueError(f"`metrics` must name some of {sorted(_BY_NAME)}, got {name!r}. Or pass a function.")
    return _BY_NAME[name]


def _name(metric: Any) -> str:
    return getattr(getattr(metric, "func", metric), "__name__", type(metric).__name__)


def _row(name: str, score: Score) -> tuple[str, ...]:
    low, high = score.interval
    raw = "-" if score.raw is None else f"{score.raw:.3f}"
    numbers = (
        f"{score.value:.3f}",
        f"{low:.3f} to {high:.3f}",
        f"{score.null:.3f}",
        f"{score.floor:.3f}",
        raw,
    )
    return (name, *numbers, str(score.n_samples), f"{score.seconds:.3g}")
