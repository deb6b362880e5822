"""Codes of all images by a model that is trained once, and kept for whoever asks again."""

import hashlib
import json
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple

import numpy as np
import torch

from unmix.training import device as device_of

from ...engine import Place
from .twins import Pictures, pictures

Make = Callable[..., Any]

_CHUNK, _COMPARED = 4096, 1000
_SLOW = ("MPI3D",)  # sets that a GPU draws more slowly than it reads them


class Learned(NamedTuple):
    """What a training leaves: codes of all images, how well they are reconstructed, and what it cost.

    Attributes
    ----------
    codes : array of shape (n_images, n_latents)
    psnr : float
        -10 log10 of the mean squared error, mean over images.
    returned : array of shape (n_scored, n_latents)
        Codes of the reconstructions of some of the images that are scored.
    seconds : float
    """

    codes: np.ndarray
    psnr: float
    returned: np.ndarray
    seconds: float


def learned(make: Make, settings: dict[str, Any], seed: int, budget: str, place: Place) -> Learned:
    """Train a model on a twin, or take the codes that such a training has left.

    Parameters
    ----------
    make : callable
        Makes the estimator, from settings, the number of factors, the budget and where it runs.
    settings : dict
        As `make` takes them, and `size` where images have another than that of the budget.
    seed : int
        Of the training.
    budget : {"smoke", "laptop", "gpu"}
    place : Place

    Returns
    -------
    Learned
    """
    identity = {"settings": settings, "seed": seed, "budget": budget, "code": place.code}
    key = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:20]
    with place.kept(key) as folder:
        found = _read(folder)
        if found is None:
            with place.training():
                found = _trained(make, settings, seed, budget, place, folder)
            _keep(folder, found)
    return found


def drawn(seen: Pictures, place: Place) -> torch.Tensor:
    """Return all images on the device; nothing is kept for later runs, which would hold memory idly."""
    spot = device_of(place.device)
    name = f"{seen.name}-{seen.data.images.shape[1]}-{len(seen.rows)}"
    quick = spot.type == "cuda" and seen.name not in _SLOW
    images = seen.images(spot) if quick else _read_or_drawn(seen, place, name, spot)
    if spot.type == "cuda":
        torch.cuda.empty_cache()  # drawing takes more memory than the images
    return images


def _read_or_drawn(seen: Pictures, place: Place, name: str, spot: torch.device) -> torch.Tensor:
    """Read images that another run has drawn, or draw them and keep them where there is a place for them."""
    with place.kept(name) as folder:
        if folder is None:
            return seen.images(spot)
        path = folder / "images.npy"
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            images = seen.images(spot)
            with open(folder / "images.part", "wb") as file:
                np.save(file, images.cpu().numpy())
            (folder / "images.part").replace(path)
            return images
    return torch.from_numpy(np.load(path, mmap_mode="c")).to(spot)


def _trained(
    make: Make, settings: dict[str, Any], seed: int, budget: str, place: Place, folder: Path | None
) -> Learned:
    """Train, encode all images, and leave the device as it was."""
    start, spot = time.perf_counter(), device_of(place.device)
    seen = pictures(settings["twin"], budget, settings.get("size", 0))
    images = drawn(seen, place)
    run = {"device": place.device, "checkpoint": None if folder is None else folder / "checkpoint"}
    model = make(settings, len(seen.data.sizes), budget, random_state=seed, **run)
    model.fit(images)
    codes = np.concatenate([model.transform(part) for part in images.split(_CHUNK)])
    compared = seen.scored[:_COMPARED]
    psnr, returned = _returned(model, images[torch.as_tensor(compared, device=spot)], codes[compared])
    del images
    if spot.type == "cuda":
        torch.cuda.empty_cache()
    return Learned(codes, psnr, returned, time.perf_counter() - start)


def _returned(model: Any, images: torch.Tensor, codes: np.ndarray) -> tuple[float, np.ndarray]:
    """Return how well images are reconstructed, and the codes of their reconstructions."""
    made = np.asarray(model.inverse_transform(codes))
    error = np.square((made.astype(float) - images.cpu().numpy()) / 255).mean((1, 2, 3))
    return float(-10 * np.log10(np.maximum(error, 1e-12)).mean()), model.transform(made)


def _read(folder: Path | None) -> Learned | None:
    path = None if folder is None else folder / "codes.npz"
    if path is None or not path.exists():
        return None
    try:
        with np.load(path, allow_pickle=False) as kept:
            return Learned(kept["codes"], float(kept["psnr"]), kept["returned"], float(kept["seconds"]))
    except (OSError, KeyError, ValueError, zipfile.BadZipFile):
        return None  # half written when a process was killed


def _keep(folder: Path | None, found: Learned) -> None:
    """Write the codes, and remove the checkpoint that they came from."""
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "codes.part", "wb") as file:
        np.savez(file, **found._asdict())
    (folder / "codes.part").replace(folder / "codes.npz")
    rmtree(folder / "checkpoint", ignore_errors=True)
