"""Arrays in safetensors files, read without torch and without pickle; broken files get a clear error."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def keys_of(file: Path) -> list[str]:
    """List the tensors of a file."""
    return _use(file, lambda stored: sorted(stored.keys()))


def read_tensor(file: Path, name: str) -> np.ndarray:
    """Return one tensor as an array; bfloat16, which numpy lacks, as float32, which holds it exactly."""
    if _use(file, lambda stored: stored.get_slice(name).get_dtype()) == "BF16":
        return _bfloat16(file, name)
    return _use(file, lambda stored: stored.get_tensor(name))


def _use(file: Path, use: Callable[[Any], Any]) -> Any:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="numpy") as stored:
            return use(stored)
    except (SafetensorError, OSError, MemoryError) as error:
        raise ValueError(f"`{file}` must be a whole safetensors file. ({error})") from None
    except (TypeError, AttributeError) as error:  # how the library meets a type that numpy lacks
        raise ValueError(
            f"`{file}` must hold types that numpy knows. ({error}) Save it as float32."
        ) from None


def _bfloat16(file: Path, name: str) -> np.ndarray:
    """Widen each number by 16 zero bits."""
    from safetensors import deserialize

    entry = dict(deserialize(file.read_bytes()))[name]
    bits = np.frombuffer(entry["data"], dtype="<u2").astype(np.uint32) << 16
    return bits.view(np.float32).reshape(entry["shape"])
