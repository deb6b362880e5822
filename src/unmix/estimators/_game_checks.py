"""What estimators that play a game ask of their settings."""

from typing import Any

_WEIGHTS = ("r1", "path", "mask", "weight")


def check_game(model: Any) -> None:
    """Check the settings before any work is done."""
    settings = model.get_params(deep=False)
    for name in _WEIGHTS:
        value = settings.get(name, 0.0)
        if not _is_number(value) or value < 0:
            raise ValueError(
                f"`{name}` must be a number of at least 0, got {value!r}. Use 0 to leave it out."
            )
    if model.augment is not None and not (_is_number(model.augment) and -1 < model.augment < 1):
        raise ValueError(
            f"`augment` must be None or a number between -1 and 1, got {model.augment!r}. Use 0.6, say."
        )
    if not _is_number(model.inversion) or model.inversion <= 0:
        raise ValueError(f"`inversion` must be a number above 0, got {model.inversion!r}. Use 0.25, say.")
    steps = model.max_steps
    if steps is not None and (not isinstance(steps, int) or isinstance(steps, bool) or steps < 1):
        raise ValueError(f"`max_steps` must be None or an integer of at least 1, got {steps!r}.")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value
