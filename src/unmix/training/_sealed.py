"""Files of tensors with one text in their header, sealed by a checksum; never pickle."""

import hashlib
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save
from torch import Tensor

from unmix.rows import use_safetensors

from .._files import atomic_write


def write_sealed(path: Path, key: str, text: str, tensors: dict[str, Tensor]) -> Path:
    """Write tensors, and a text under a key of the header, whole or not at all."""
    return atomic_write(path, save(tensors, metadata={key: text, "sha256": _digest(tensors, text)}))


def read_sealed(path: Path, key: str) -> tuple[str, dict[str, Tensor]]:
    """Return the text and the tensors of a file, or raise ValueError with what is wrong with it.

    Examples
    --------
    >>> import tempfile
    >>> path = write_sealed(Path(tempfile.mkdtemp()) / "file", "note", "hello", {"one": torch.ones(1)})
    >>> read_sealed(path, "note")
    ('hello', {'one': tensor([1.])})
    """
    header, tensors = use_safetensors(path, _content, "pt")
    if key not in header or header.get("sha256") != _digest(tensors, header[key]):
        raise ValueError(
            "it is another file or was changed since it was written: its checksum does not agree"
        )
    return header[key], tensors


def _content(file: Any) -> tuple[dict[str, str], dict[str, Tensor]]:
    return file.metadata() or {}, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def _digest(tensors: dict[str, Tensor], text: str) -> str:
    found = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        found.update(f"{name} {tensors[name].dtype} {tuple(tensors[name].shape)}".encode())
        # the stride of a single entry may be 0
        flat = tensors[name].reshape(-1).clone(memory_format=torch.contiguous_format)
        found.update(flat.view(torch.uint8).numpy().data)
    return found.hexdigest()
