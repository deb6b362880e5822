"""How a rate or a weight moves with the step: plain functions from step to number."""

import math
from collections.abc import Callable
from functools import partial

Schedule = Callable[[int], float]


def constant(step: int) -> float:
    """Return 1 at every step.

    Examples
    --------
    >>> constant(7)
    1.0
    """
    return 1.0


def cosine(n_steps: int) -> Schedule:
    """Fall from 1 at step 0 to 0 at the last step, along half a cosine.

    Parameters
    ----------
    n_steps : int
        Length of the run.

    Returns
    -------
    schedule : callable
        Factor in [0, 1] for each step; 0 from step ``n_steps - 1`` on.

    Examples
    --------
    >>> [round(cosine(5)(step), 3) for step in range(5)]
    [1.0, 0.854, 0.5, 0.146, 0.0]

    References
    ----------
    Loshchilov and Hutter (2017), SGDR, Eq. (5), arXiv:1608.03983.
    """
    last = max(n_steps - 1, 1)
    return lambda step: _half_cosine(min(step / last, 1.0))


def one_cycle(n_steps: int, *, rise: float = 0.3, start: float = 1 / 25, end: float = 1e-5) -> Schedule:
    """Rise to 1 once, then fall almost to 0, both along half cosines.

    Parameters
    ----------
    n_steps : int
        Length of the run.
    rise : float, default=0.3
        Share of the steps before the peak, strictly between 0 and 1.
    start, end : float
        Factors at the first and at the last step.

    Returns
    -------
    schedule : callable
        Factor in [min(start, end), 1] for each step, equal to 1 at exactly one step.

    Examples
    --------
    >>> [round(one_cycle(5)(step), 3) for step in range(5)]
    [0.04, 1.0, 0.75, 0.25, 0.0]

    References
    ----------
    Smith and Topin (2018), Super-convergence, section 3, arXiv:1708.07120.
    """
    if not 0 < rise < 1:
        raise ValueError(f"`rise` must be strictly between 0 and 1, got {rise}. Use 0.3.")
    last = max(n_steps - 1, 1)
    peak = min(max(round(rise * last), 1), max(last - 1, 1))

    def factor(step: int) -> float:
        if step <= peak:
            return start + (1.0 - start) * (1.0 - _half_cosine(step / peak))
        return end + (1.0 - end) * _half_cosine(
            min((step - peak) / (last - peak), 1.0) if last > peak else 1.0
        )

    return factor


def warm_up(weight: float, steps: int) -> Schedule:
    """Grow a term's weight linearly from 0 at step 0 to `weight` at step `steps`, then keep it.

    Parameters
    ----------
    weight : float
        The final weight.
    steps : int
        Steps until it is reached; 0 means at once.

    Returns
    -------
    schedule : callable
        Weight at each step.

    Examples
    --------
    >>> [warm_up(2.0, 4)(step) for step in (0, 1, 4, 9)]
    [0.0, 0.5, 2.0, 2.0]
    """
    return partial(ramp, weight=weight, steps=steps)


def ramp(step: int, *, weight: float, steps: int) -> float:
    """Return the weight that `warm_up` has reached; a named function, so that a model with it can be saved.

    Examples
    --------
    >>> ramp(1, weight=2.0, steps=4)
    0.5
    """
    return weight * min(step / steps, 1.0) if steps > 0 else weight


def learning_rate_factor(schedule: str | Schedule, n_steps: int) -> Schedule:
    """Resolve the `schedule` argument of the training loops."""
    named = {"constant": constant, "cosine": cosine(n_steps), "one_cycle": one_cycle(n_steps)}
    if isinstance(schedule, str) and schedule in named:
        return named[schedule]
    if callable(schedule):
        return schedule
    raise ValueError(
        f"`schedule` must be one of {sorted(named)} or a callable, got {schedule!r}. Use 'cosine'."
    )


def as_schedule(weight: float | Schedule) -> Schedule:
    """Read a plain number as the schedule that never moves."""
    return weight if callable(weight) else lambda step: weight


def sampled(schedule: Schedule, n_steps: int) -> list[float]:
    """Return a schedule's values at a few steps: enough to tell two schedules apart in a checkpoint."""
    return [float(schedule(step)) for step in range(0, n_steps, max(1, n_steps // 16))]


def _half_cosine(share: float) -> float:
    """1 at share 0, 0 at share 1."""
    return 0.5 * (1.0 + math.cos(math.pi * share))
