"""The same metric on half of the rows, on shuffled codes, on rotations of the truth and on other codes."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial

import numpy as np

from .._checks import is_constant, standardised
from .._floor import rotation
from ._catalogue import ENTRIES, Measure

_TRIES = 100
_LEAST = 1000
Parts = dict[str, float]


@dataclass(frozen=True)
class Draws:
    """Values of a metric by the end of their names ("" or ".completeness"): plain, and under each draw."""

    value: Parts
    halves: list[Parts]
    null: list[Parts]
    floor: list[Parts]
    raw: Parts | None
    seconds: float
    probe: str
    n_samples: int
    beside: dict[str, Parts] = field(default_factory=dict)


def draw(
    measure: Measure,
    truth: np.ndarray,
    codes: np.ndarray,
    raw: np.ndarray | None,
    mask: np.ndarray,
    rng: np.random.Generator,
    others: Mapping[str, np.ndarray],
) -> Draws:
    """Evaluate a metric as often as its budget says; all its values come from the same evaluations."""
    usable = partial(_usable, mask=mask if measure.kinds else np.zeros_like(mask))
    n = min(most_samples(measure, truth.shape[1] + codes.shape[1]), len(truth))
    if n < len(truth):
        rows = _part(truth, n, usable, rng)
        truth, codes, raw = truth[rows], codes[rows], None if raw is None else raw[rows]
        others = {name: other[rows] for name, other in others.items()}
    call = partial(_call, measure, mask)
    start = time.perf_counter()
    value, probe = call(truth, codes)
    seconds = time.perf_counter() - start
    halves = (_part(truth, (n + 1) // 2, usable, rng) for _ in range(measure.n_boot))
    turned = (standardised(truth) @ rotation(truth.shape[1], rng) for _ in range(measure.n_draws))
    return Draws(
        value=value,
        halves=[_on_half(call, truth[half], codes[half]) for half in halves],
        null=[call(truth, rng.permutation(codes))[0] for _ in range(measure.n_draws)],
        floor=[call(truth, rotated)[0] for rotated in turned],
        raw=None if raw is None else call(truth, raw)[0],
        seconds=seconds,
        probe=probe,
        n_samples=n,
        beside={name: call(truth, other)[0] for name, other in others.items()},
    )


def most_samples(measure: Measure, width: int) -> int:
    """Return how many samples a metric is computed on at most, by its own bound or by the width of tables."""
    return max(_LEAST, ENTRIES // width) if measure.n_samples is None else measure.n_samples


def _on_half(
    call: Callable[[np.ndarray, np.ndarray], tuple[Parts, str]], truth: np.ndarray, codes: np.ndarray
) -> Parts:
    try:
        return call(truth, codes)[0]
    except ValueError as error:
        raise ValueError(
            f"`z_true` must have more rows: on {len(truth)} of them, half of those used, the metric failed. "
            f"({error})"
        ) from None


def _call(measure: Measure, mask: np.ndarray, truth: np.ndarray, codes: np.ndarray) -> tuple[Parts, str]:
    """Return the values of a metric by the end of their names, and the probe."""
    found = measure.function(truth, codes, discrete=mask) if measure.kinds else measure.function(truth, codes)
    if not is_dataclass(found):
        return {"": float(found)}, measure.probe
    named = {field.name: getattr(found, field.name) for field in fields(found)}
    wanted = measure.parts or [name for name, value in named.items() if isinstance(value, float)]
    return {f".{name}": float(named[name]) for name in wanted}, named.get("probe", measure.probe)


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
