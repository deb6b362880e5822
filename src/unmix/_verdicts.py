"""The last verdict on each model, for as long as the model lives, so that a notebook can show both."""

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

Given = ParamSpec("Given")
Verdict = TypeVar("Verdict")
_LAST: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


def remember(model: Any, verdict: Any) -> None:
    """Keep a verdict beside its model; of what can't be kept so, nothing."""
    try:
        _LAST[model] = verdict
    except TypeError:  # a model that has no weak references, or no hash
        return


def recall(model: Any) -> Any:
    """Return the last verdict on a model, None where there is none."""
    try:
        return _LAST.get(model)
    except TypeError:
        return None


@cache
def remembering(
    judge: Callable[Concatenate[Any, Given], Verdict],
) -> Callable[Concatenate[Any, Given], Verdict]:
    """Let a function that judges models keep what it says of each."""

    @wraps(judge)
    def judged(model: Any, *args: Given.args, **given: Given.kwargs) -> Verdict:
        found = judge(model, *args, **given)
        remember(model, found)
        return found

    return judged
