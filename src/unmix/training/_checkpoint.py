"""One file that holds a whole run: tensors as safetensors, the rest as JSON in its header."""

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor

from .._group import bytes_from, current
from .._untrusted import as_object, parse_json
from ._sealed import read_sealed, write_sealed

FILE = "checkpoint.safetensors"
FORMAT = 2  # raised when older checkpoints can no longer be resumed


def write(folder: str | os.PathLike[str], state: dict[str, Any], config: dict[str, Any]) -> None:
    """Save a nested state and what the run was asked to do, as one file that is there whole or not at all."""
    tensors: dict[str, Tensor] = {}
    text = json.dumps({"state": _take_tensors(state, tensors), "config": config}, allow_nan=False)
    write_sealed(Path(folder) / FILE, "run", text, tensors)


def read(folder: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """Return the state and the config saved in a folder, None where nothing was saved."""
    path = Path(folder) / FILE
    if current().alone:
        return _parsed(path, path) if path.exists() else None
    content = bytes_from(0, path.read_bytes() if current().first and path.exists() else None)
    if content is None:
        return None
    with TemporaryDirectory() as own:  # the folder may be on a disk of the first process alone
        copy = Path(own) / FILE
        copy.write_bytes(content)
        return _parsed(copy, path)


def _parsed(copy: Path, path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    try:
        text, tensors = read_sealed(copy, "run")
        run = as_object(parse_json(text, FILE), FILE)
        return _put_tensors(run["state"], tensors), run["config"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"`checkpoint` must hold an intact file, got {str(path)!r} ({error}). Delete it to start afresh."
        ) from error


def mark(folder: str | os.PathLike[str]) -> tuple[int, ...]:
    """Return what tells the file in a folder from any other that was written later; nothing if it is gone."""
    try:
        found = (Path(folder) / FILE).stat()
    except OSError:
        return ()
    return found.st_ino, found.st_mtime_ns, found.st_size


def read_parameters(folder: str | os.PathLike[str]) -> dict[str, Tensor]:
    """Return the tensors of the last good step from a checkpoint folder, by name.

    Parameters
    ----------
    folder : path-like
        The `checkpoint` given to the run.

    Returns
    -------
    dict of str to Tensor
        Parameters and buffers on the CPU, as the optimiser left them (not averaged). Those of a player with
        a name come as "player/parameter".

    Examples
    --------
    >>> import tempfile
    >>> from unmix.training import minimise
    >>> w, folder = torch.ones(1, requires_grad=True), tempfile.mkdtemp()
    >>> _ = minimise(lambda _: {"square": (w**2).sum()}, {"w": w}, [0], n_steps=1, lr=0.1, checkpoint=folder)
    >>> read_parameters(folder)
    {'w': tensor([0.9000])}
    """
    found = read(folder)
    if found is None:
        raise ValueError(f"`folder` must hold a checkpoint, got {str(folder)!r}. Check the path.")
    return {
        f"{player}/{name}" if player else name: tensor
        for player, state in found[0].get("players", {"": found[0]}).items()  # older ones held one player
        for name, tensor in state["model"].items()
    }


def require_same(folder: str | os.PathLike[str], saved: dict[str, Any], asked: dict[str, Any]) -> None:
    """Raise unless a checkpoint was made by the run that now wants to go on from it."""
    differ = [key for key in asked if saved.get(key) != asked[key]]
    differ = ["format"] if "format" in differ else differ  # another version of the loop: the rest says little
    if differ:
        there = ", ".join(f"{key}={saved.get(key)!r}" for key in differ)
        here = ", ".join(f"{key}={asked[key]!r}" for key in differ)
        raise ValueError(
            f"`checkpoint` must come from the same run, got {str(folder)!r} made with {there}, while this "
            f"run has {here}. Choose another folder, or delete this one to start afresh."
        )


def clear_leftovers(folder: str | os.PathLike[str]) -> None:
    """Remove the half-written files of runs that were killed while they wrote."""
    stem, suffix = os.path.splitext(FILE)
    for path in Path(folder).glob(f".{stem}.*{suffix}"):
        path.unlink(missing_ok=True)


def _take_tensors(tree: Any, into: dict[str, Tensor], name: str = "") -> Any:
    """Move the tensors of a nested dict aside, leaving their names in place."""
    if isinstance(tree, Tensor):
        into[name] = tree.detach().cpu().clone(memory_format=torch.contiguous_format)
        return {"tensor": name}
    if isinstance(tree, dict):
        return {key: _take_tensors(value, into, f"{name}/{key}") for key, value in tree.items()}
    return tree


def _put_tensors(tree: Any, tensors: dict[str, Tensor]) -> Any:
    """Undo `_take_tensors`."""
    if not isinstance(tree, dict):
        return tree
    if tree.keys() == {"tensor"} and isinstance(tree["tensor"], str):
        return tensors[tree["tensor"]]
    return {key: _put_tensors(value, tensors) for key, value in tree.items()}
