"""Activations for the tables of sparse autoencoders: those of a folder, or planted ones without one."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from unmix.nn import Feedforward
from unmix.rows import read_tensor

from ._planted import atoms_of, rows_of, world_rng

SITE = "site.safetensors"
_KEYS = ("inputs", "scale", "gate", "up", "down")


class Site(NamedTuple):
    """What goes into a feed-forward block, in parts to train on and held out, and the block."""

    train: np.ndarray
    held: np.ndarray
    block: Feedforward
    name: str


def site(data: str | None, seed: int, *, n_planted: int = 6000, d: int = 24, share: float = 0.8) -> Site:
    """Read a site, or plant one: inputs of a known dictionary before a random gated block.

    The folder holds `site.safetensors`: `inputs` (n, d) as integers of 8 bits and the `scale` of each row,
    and the weights `gate`, `up` and `down` of the block. Windows of text come in random order, so that the
    last fifth, which is held out, has windows of its own.
    """
    return _planted(seed, n_planted, d, share) if data is None else _read(Path(data) / SITE, share)


def _read(path: Path, share: float) -> Site:
    inputs, scale, gate, up, down = (np.asarray(read_tensor(path, key)) for key in _KEYS)
    x = inputs.astype(np.float32) * scale.astype(np.float32)[:, None]
    norms = np.linalg.norm(x, axis=1)
    x = x[norms <= 10 * np.median(norms)]  # what is left out carries most of the variance elsewhere
    n = int(share * len(x))
    weights = [w.astype(np.float32) for w in (up, down)]
    block = Feedforward(*weights, w_gate=gate.astype(np.float32), activation="silu")
    return Site(x[:n], x[n:], block, "activations of a folder")


def _planted(seed: int, n: int, d: int, share: float) -> Site:
    rng = world_rng(seed, 2)
    x = rows_of(atoms_of(3 * d, d, rng), n, 4, rng)
    wide = 2 * d
    up, gate = (rng.normal(size=(wide, d)).astype(np.float32) / np.sqrt(d) for _ in range(2))
    down = rng.normal(size=(d, wide)).astype(np.float32) / np.sqrt(wide)
    cut = int(share * n)
    return Site(
        x[:cut], x[cut:], Feedforward(up, down, w_gate=gate, activation="silu"), "planted activations"
    )


@torch.no_grad()
def outputs(block: Any, x: np.ndarray, size: int = 8192) -> np.ndarray:
    """Return what the block makes of rows."""
    parts = [block(torch.from_numpy(x[a : a + size])).numpy() for a in range(0, len(x), size)]
    return np.concatenate(parts)


def data_name(folder: str | None) -> str:
    """Say which activations a run takes."""
    return "planted activations" if folder is None else f"activations of {Path(folder).name}"
