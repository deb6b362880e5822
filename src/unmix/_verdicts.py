"""The last verdict on each model, and its last description, for as long as the model lives."""

from collections.abc import Callable
from functools import cache, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

Given = ParamSpec("Given")
Said = TypeVar("Said")
_LAST: dict[str, WeakKeyDictionary[Any, Any]] = {
    kind: WeakKeyDictionary() for kind in ("verdict", "description")
}


def remember(model: Any, found: Any, kind: str = "verdict") -> None:
    """Keep what was said of a model beside it; of what can't be kept so, nothing."""
    try:
        _LAST[kind][model] = found
    except TypeError:  # a model that has no weak references, or no hash
        return


def recall(model: Any, kind: str = "verdict") -> Any:
    """Return the last verdict on a model, or its last description; None where there is none."""
    try:
        return _LAST[kind].get(model)
    except TypeError:
        return None


@cache
def remembering(
    judge: Callable[Concatenate[Any, Given], Said], kind: str = "verdict"
) -> Callable[Concatenate[Any, Given], Said]:
    """Let a function that judges or describes models keep what it says of each."""

    @wraps(judge)
    def judged(model: Any, *args: Given.args, **given: Given.kwargs) -> Said:
        found = judge(model, *args, **given)
        remember(model, found, kind)
        return found

    return judged
