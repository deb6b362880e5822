"""Arrays in safetensors files, read without torch and without pickle; broken files get a clear error."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from unmix._untrusted import parse_json, whole


def keys_of(file: Path) -> list[str]:
    """List the tensors of a file."""
    return use_safetensors(file, lambda stored: sorted(stored.keys()))


def tensor_shape(file: Path, name: str) -> tuple[int, ...]:
    """Return the shape of a tensor without reading it."""
    return tuple(use_safetensors(file, lambda stored: stored.get_slice(name).get_shape()))


def read_tensor(file: Path, name: str, rows: slice = slice(None)) -> np.ndarray:
    """Return rows of a tensor; bfloat16, which numpy lacks, as float32, which holds it exactly."""
    if use_safetensors(file, lambda stored: stored.get_slice(name).get_dtype()) == "BF16":
        return _bfloat16(file, name, rows)
    if rows == slice(None):
        return use_safetensors(file, lambda stored: stored.get_tensor(name))
    return use_safetensors(file, lambda stored: stored.get_slice(name)[rows])


def use_safetensors(file: Path, use: Callable[[Any], Any], framework: str = "numpy") -> Any:
    """Open a file, return what a function of it returns, and say plainly what is wrong with it."""
    from safetensors import safe_open

    kind = "safetensors file of types that numpy knows"
    with whole(file, kind), safe_open(file, framework=framework) as stored:
        return use(stored)


def _bfloat16(file: Path, name: str, rows: slice) -> np.ndarray:
    """Widen each number by 16 zero bits."""
    with file.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        entry = parse_json(stream.read(length), file.name)[name]
    start = 8 + length + entry["data_offsets"][0]
    stored = np.memmap(file, dtype="<u2", mode="r", offset=start, shape=tuple(entry["shape"]))
    return (stored[rows].astype(np.uint32) << 16).view(np.float32)
