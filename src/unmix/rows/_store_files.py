"""The files of a store of activations: shards that an index lists, opened and compared with it."""

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from unmix._files import atomic_write
from unmix._untrusted import as_object, parse_json, read_npy, read_object, whole

from ._files import joined_rows
from ._rows import Rows
from ._safetensors import keys_of, read_tensor, tensor_shape, use_safetensors
from ._store import ActivationStore

_FORMAT, _INDEX = "unmix-activations-1", "index.json"
_BLOCK = 2**22  # entries of a block


def write_index(folder: Path, told: dict[str, Any]) -> None:
    """Write what is known of all shards: from then on the store is whole."""
    atomic_write(folder / _INDEX, json.dumps({"format": _FORMAT} | told, indent=1))


def is_store(place: Path) -> bool:
    """Whether a folder is a whole store."""
    return (place / _INDEX).is_file()


def open_store(place: Path) -> ActivationStore:
    """Open the shards that an index lists, and refuse what does not fit together.

    Parameters
    ----------
    place : pathlib.Path
        A folder with `index.json`.

    Returns
    -------
    ActivationStore
    """
    info = read_object(place / _INDEX)
    if info.get("format") != _FORMAT:
        raise ValueError(f"`path` must hold the format {_FORMAT}, {str(place)!r} has {info.get('format')!r}.")
    with whole(place / _INDEX, "index of a store of activations"):
        files = [_checked_shard(place, shard, info) for shard in info["shards"]]
        rows = joined_rows([shard_rows(file) for file in files], str(place))

    @lru_cache
    def column(name: str) -> np.ndarray | None:
        if name == "masked":
            return read_npy(place / "masked.npy")
        held = keys_of(files[0])
        return np.concatenate([read_tensor(file, name) for file in files]) if name in held else None

    return ActivationStore(rows, column, info, decode=_decoder(place / "tokenizer.json"))


def shard_rows(file: Path) -> Rows:
    """Open the activations of one shard."""
    n, d = tensor_shape(file, "activations")
    dtype = read_tensor(file, "activations", slice(0, 1)).dtype
    return Rows(lambda a, b: read_tensor(file, "activations", slice(a, b)), n, d, dtype, max(1, _BLOCK // d))


def _checked_shard(place: Path, shard: Mapping[str, Any], info: Mapping[str, Any]) -> Path:
    """Refuse a shard that is missing, cut short, or of another model or site."""
    file = place / shard["file"]
    if not file.is_file():
        raise ValueError(f"`path` must hold all its shards, {str(file)!r} is missing. Compute it again.")
    if file.stat().st_size != shard["bytes"]:
        raise ValueError(_of_another_size(file, shard["bytes"], info["plan"]))
    require_plan(file, info["plan"])
    return file


def _of_another_size(file: Path, n_bytes: int, plan: str) -> str:
    """Say whether a shard was cut short, or is one of another model."""
    try:
        require_plan(file, plan)
    except ValueError as error:
        if "shards of one model" in str(error):  # it is whole, since it could be opened
            return str(error)
    return (
        f"`path` must hold whole shards, {str(file)!r} has {file.stat().st_size:,} of {n_bytes:,} bytes. "
        "Remove it and index.json, and run the same command again."
    )


def require_plan(file: Path, plan: str) -> None:
    """Refuse a shard that was computed otherwise."""
    header = use_safetensors(file, lambda stored: stored.metadata()) or {}
    told = as_object(parse_json(header.get("unmix", "{}"), file.name), file.name)
    if told.get("plan") != plan:
        raise ValueError(
            f"`path` must hold shards of one model and site, {str(file)!r} is of "
            f"{told.get('of', 'another')}. Keep each store in a folder of its own."
        )


def _decoder(file: Path) -> Callable[[Any], list[str]] | None:
    """Return a function from tokens to texts, where tokenizer and its package are there."""
    if not file.is_file():
        return None
    try:
        from tokenizers import Tokenizer
    except ImportError:
        return None
    tokenizer = Tokenizer.from_file(str(file))
    return lambda ids: [tokenizer.decode([token], skip_special_tokens=False) for token in ids]
