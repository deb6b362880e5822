"""Latents, rows and ranges in words, the order in which latents are shown, and what may be asked for."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np

from ._looking import Look, Strip, is_discrete

MAX_LATENTS = 24  # rows or columns of a picture
VERDICTS = {"yes": "trusted", "not checked": "not checked", "no": "not trusted"}


def hat(j: int) -> str:
    """Name an estimated latent."""
    return f"ẑ{j}"


def percent(share: float) -> str:
    """Write a share in percent, small ones with two digits.

    >>> percent(1.07), percent(0.2), percent(0.0123)
    ('107%', '20%', '1.2%')
    """
    return f"{100 * share:.0f}%" if share >= 0.1 else f"{100 * share:.2g}%"


def verdict_on(trust: Any, j: int) -> str | None:
    """Return the verdict on the unit that holds a latent, None where there is none."""
    if trust is None:
        return None
    found = (word for unit, word in zip(trust.units, trust.verdicts, strict=True) if j in unit)
    return next(found, None)


def rank(trust: Any, j: int) -> int:
    """Return the place of the verdict on a latent: the trusted first."""
    return [*VERDICTS, None].index(verdict_on(trust, j))


def ordered(strips: Sequence[Strip], trust: Any = None) -> list[Strip]:
    """Sort by trust, then by strength; the dead come last."""
    return sorted(strips, key=lambda each: (each.dead, rank(trust, each.latent), -each.strength))


def name(j: int, trust: Any) -> str:
    """Name a latent with its verdict, where there is one."""
    verdict = verdict_on(trust, j)
    return hat(j) if verdict is None else f"{hat(j)}, {VERDICTS[verdict]}"


def heading(strip: Strip, trust: Any) -> str:
    """Name the latent of a strip with its verdict, or as dead."""
    return f"{hat(strip.latent)}, dead" if strip.dead else name(strip.latent, trust)


def range_words(look: Look, strip: Strip) -> str:
    """Say how far a latent goes."""
    if len(np.unique(strip.values)) == 1:
        return "one value only"
    low, high = ends_of(look, strip)
    return f"{low} to {high}".replace(" sd", "", 1)


def ends_of(look: Look, strip: Strip) -> tuple[str, str]:
    """Name both ends of the way of a latent: in standard deviations from the mean, or by its few values."""
    if is_discrete(look.codes[:, strip.latent]):
        return f"value {strip.values[0]:g}", f"value {strip.values[-1]:g}"
    low, *_, high = look.in_deviations(strip)
    return f"{low:.1f} sd".replace("-", "−"), f"{high:.1f} sd".replace("-", "−")


def reach_words(look: Look, latents: Sequence[int]) -> str:
    """Say how latents go through their ranges."""
    far = "from its 2% to its 98% quantile in the data, in standard deviations (sd) from the mean"
    return _by_kind(look, latents, f"A latent goes {far}", "{} goes through the values that it takes")


def slope_meaning(look: Look, latents: Sequence[int]) -> str:
    """Say what a slope is a change over."""
    steps = "{} goes from the value below its own to the one above"
    return _by_kind(look, latents, "the latent rises by one standard deviation", steps)


def _by_kind(look: Look, latents: Sequence[int], smooth: str, few: str) -> str:
    """Join what holds for latents of many values and of few, where there are both."""
    kinds = {is_discrete(look.codes[:, j]) for j in latents}
    if kinds == {True}:
        return few.format("A latent" if smooth[0] == "A" else "the latent")
    return smooth if kinds == {False} else f"{smooth}; one of few values {few.removeprefix('{} ')}"


def column_names(strips: Sequence[Strip]) -> list[str]:
    """Name the columns of strips: their ends, and the middle where that is the image itself."""
    n, places = max(len(strip.values) for strip in strips), {strip.here for strip in strips}
    inner = ["as it is" if places == {k} else "" for k in range(1, n - 1)]
    return ["low", *inner, "high"] if n > 1 else ["as it is"]


def row_name(row: int, ids: Any = None) -> str:
    """Name an image by its id, or else its number."""
    return f"row {row}" if ids is None else str(ids[row])


def signed_words(change: np.ndarray) -> str:
    """Say what the colours of a signed picture mean."""
    if change.shape[-1] == 3:
        return (
            "medium grey where nothing changes, each colour stronger where it rises and weaker where it falls"
        )
    mean = "" if change.shape[-1] == 1 else f", mean of {change.shape[-1]} channels"
    return f"white where nothing changes, blue brighter, orange darker{mean}"


def checked_latents(look: Look, latents: Sequence[int] | None) -> list[int]:
    """Return the latents asked for, all by default."""
    if latents is None:
        return list(range(look.n_latents))
    return _within(latents, look.n_latents, "latents", "latent")


def checked_rows(look: Look, rows: Sequence[int] | None, n: int = 1) -> list[int]:
    """Return the rows asked for, by default `n` that are spread over the data."""
    if rows is None:
        if n < 1:
            raise ValueError(f"`n` must be at least 1, got {n}. Show some images.")
        return look.spread(n)
    return _within(rows, len(look.all), "rows", "row")


def checked_pair(look: Look, rows: Sequence[int]) -> tuple[int, int]:
    """Return two rows."""
    if len(rows) != 2:
        raise ValueError(f"`rows` must name two images, got {len(rows)}. For example (0, 1).")
    first, second = checked_rows(look, rows)
    return first, second


def checked_steps(n_steps: int) -> int:
    """Return the number of positions of a latent, odd so that one of them is in the middle."""
    if not isinstance(n_steps, Integral) or n_steps < 3 or n_steps % 2 == 0:
        raise ValueError(f"`n_steps` must be an odd number of at least 3, got {n_steps!r}. For example 9.")
    return int(n_steps)


def _within(wanted: Sequence[int], n: int, argument: str, what: str) -> list[int]:
    chosen = [int(k) for k in wanted]
    if not chosen or len(set(chosen)) < len(chosen) or not all(0 <= k < n for k in chosen):
        raise ValueError(
            f"`{argument}` must hold each {what} once, numbers from 0 to {n - 1}, got {chosen}. Count from 0."
        )
    return chosen
