"""Settings of an estimator as plain data: for files, and to tell whether a checkpoint belongs to this run."""

import importlib
import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from unmix._files import atomic_write
from unmix._group import current, numbers_from
from unmix._untrusted import read_object

_ROOMS = ("unmix.nn", "unmix.penalties", "unmix.training")
# do not change what is computed; the seed is kept apart
_ELSEWHERE = ("checkpoint", "samples", "verbose", "random_state")


def encode(value: Any) -> Any:
    """Turn a setting into plain data; functions become their names.

    Examples
    --------
    >>> from unmix.nn import mlp
    >>> encode(partial(mlp, hidden=(8, 8)))
    {'partial': {'function': 'unmix.nn._networks:mlp'}, 'args': [], 'keywords': {'hidden': [8, 8]}}
    """
    if isinstance(value, partial):
        keywords = {key: encode(item) for key, item in value.keywords.items()}
        return {
            "partial": encode(value.func),
            "args": [encode(item) for item in value.args],
            "keywords": keywords,
        }
    if callable(value):
        return {"function": _name(value)}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple | list):
        return [encode(item) for item in value]
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return repr(value)


def storable(name: str, value: Any) -> Any:
    """Encode a setting for a file, and refuse what could not be found again."""
    if name == "random_state" and not isinstance(value, int | np.integer | None):
        return None  # a stream of random numbers has no place in a file
    encoded = encode(value)
    if "<" in json.dumps(encoded):
        raise TypeError(
            f"`{name}` must be plain data or a named function to be saved, got {value!r}. "
            "Define the function at the top of a module, and vary it by functools.partial."
        )
    return encoded


def decode(value: Any, trusted: tuple[Any, ...]) -> Any:
    """Turn plain data back into a setting; functions are looked up, never executed here."""
    if isinstance(value, list):
        return tuple(decode(item, trusted) for item in value)
    if isinstance(value, dict) and "partial" in value:
        keywords = {key: decode(item, trusted) for key, item in value["keywords"].items()}
        return partial(decode(value["partial"], trusted), *decode(value["args"], trusted), **keywords)
    if isinstance(value, dict):
        return _function(value["function"], trusted)
    return value


def seed_of_run(folder: Path | None, estimator: Any, seed: int) -> int:
    """Return the seed of the run that a checkpoint folder belongs to; a new folder belongs to this one.

    A folder of a run with other settings is refused.
    """
    (seed,) = map(int, numbers_from(0, [seed]))
    if folder is None:
        return seed
    (seed,) = map(int, numbers_from(0, [_seed_kept(folder, estimator, seed)]))
    return seed


def _seed_kept(folder: Path, estimator: Any, seed: int) -> int:
    path = folder / "settings.json"
    settings = {k: encode(v) for k, v in estimator.get_params(deep=False).items() if k not in _ELSEWHERE}
    settings["class"] = type(estimator).__name__
    given = isinstance(estimator.random_state, int | np.integer)
    if path.exists():
        saved = _read_settings(path)
        differing = sorted(k for k in settings if saved["settings"].get(k) != settings[k])
        differing += ["random_state"] * (given and saved["seed"] != seed)
        if differing:
            raise ValueError(
                f"`checkpoint` must be the folder of the same run, {str(folder)!r} belongs to one with "
                f"another {', '.join(differing)}. Choose another folder, or delete it to start over."
            )
        return int(saved["seed"])
    if current().first:
        folder.mkdir(parents=True, exist_ok=True)
        atomic_write(path, json.dumps({"settings": settings, "seed": seed}))
    return seed


def _read_settings(path: Path) -> dict[str, Any]:
    """Read what a checkpoint belongs to, and refuse what another program or a damage left there."""
    try:
        saved = read_object(path)
        if isinstance(saved.get("settings"), dict) and isinstance(saved.get("seed"), int):
            return saved
    except ValueError:  # no object, no JSON, no regular file
        pass
    raise ValueError(
        f"`checkpoint` must hold the settings of a run, {str(path)!r} is damaged or of another program. "
        "Choose another folder, or delete it to start over."
    )


def _name(function: Any) -> str:
    kind = function if hasattr(function, "__qualname__") else type(function)
    return f"{kind.__module__}:{kind.__qualname__}"


def _function(name: str, trusted: tuple[Any, ...]) -> Any:
    """Look a function up by name among the trusted ones and our own factories, penalties and schedules."""
    own = [getattr(room, public) for room in map(importlib.import_module, _ROOMS) for public in room.__all__]
    for candidate in (*trusted, *own):
        if callable(candidate) and _name(candidate) == name:
            return candidate
    raise ValueError(
        f"`trusted` must hold the function {name!r}, which this model was built with. "
        "Import it and call unmix.load(path, trusted=[...])."
    )
