"""What generators ask of their arguments."""

import inspect
from collections.abc import Callable, Collection, Mapping
from numbers import Real
from typing import Any, TypeVar, cast

import numpy as np

Keywords = TypeVar("Keywords", bound=Mapping[str, Any])


def one_of(**given: tuple[str, Collection[str]]) -> None:
    """Check choices by name, each given with what there is to choose from."""
    for name, (choice, choices) in given.items():
        if choice not in choices:
            raise ValueError(
                f"`{name}` must be one of {tuple(choices)}, got {choice!r}. Choose one of these."
            )


def is_count(value: Any, least: int = 1) -> bool:
    """Return whether a value is an integer of at least the given size."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= least


def at_least(**given: tuple[Any, int]) -> None:
    """Check counts by name, each given with the least that is allowed."""
    for name, (value, least) in given.items():
        if not is_count(value, least):
            raise ValueError(f"`{name}` must be an integer of at least {least}, got {value!r}.")


def amounts(most: float = np.inf, **given: Any) -> None:
    """Check by name that numbers are at least 0, and finite or within a bound."""
    for name, amount in given.items():
        if not isinstance(amount, Real) or not 0 <= float(amount) <= most or np.isinf(float(amount)):
            words = "at least 0" if most == np.inf else f"from 0 to {most}"
            raise ValueError(f"`{name}` must be a finite number of {words}, got {amount!r}.")


def filled(function: Callable[..., Any], defaults: Keywords, given: Keywords) -> Keywords:
    """Return the keywords given to a function, with defaults for the others; refuse unknown ones."""
    unknown = sorted(given.keys() - defaults.keys())
    if unknown:
        own = [p.name for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_KEYWORD]
        raise TypeError(
            f"Keywords of `{function.__name__}` must be among {', '.join([*own, *defaults])}, "
            f"got {', '.join(unknown)}. Correct the name."
        )
    return cast(Keywords, {**defaults, **given})
