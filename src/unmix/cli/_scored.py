"""What `unmix evaluate` compares: tables, or factors of images and components of their pixels."""

from pathlib import Path
from typing import Any

import numpy as np

from ..tables import read as read_table
from ._drawn import latents_of
from ._images import is_images
from ._images import read as read_images
from ._known import read_latents

MOST = 2**24  # numbers of all tables that are kept of long files
_IMAGES = 10_000  # images that are scored
_TRUTH, _CODES = ("z", "z_true"), ("z_hat", "z")  # arrays of an NPZ file


def scored(z_true: str, z_hat: str, x: str | None, random_state: int) -> tuple[dict[str, Any], str]:
    """Read what `metrics.evaluate` is given, and say how many rows were drawn where not all are used."""
    factors = _factors(z_true)
    images = read_images(x, "--x").images if x is not None and is_images(x) else None
    if factors is not None or images is not None:
        given = z_true if factors is None else factors, z_hat, x if images is None else images
        return _of_images(*given, random_state)
    asked = [(z_true, _TRUTH), (z_hat, _CODES), *([] if x is None else [(x, None)])]
    (truth, codes, *raw), said = latents_of(asked, MOST, random_state)
    return {"z_true": truth, "z_hat": codes, "x": raw[0] if raw else None}, said


def _factors(path: str) -> np.ndarray | None:
    """Return the factors of images, or None where the path leads to a table."""
    if not is_images(path):
        return None
    data = read_images(path, "Z_TRUE")
    if not data.names and Path(path).is_dir():
        raise ValueError(
            f"`Z_TRUE` must be images of known factors, got {path!r} of none. Give a table of factors."
        )
    return np.asarray(data.factors) if data.names else None


def _of_images(z_true: Any, z_hat: str, x: Any, random_state: int) -> tuple[dict[str, Any], str]:
    """Return the same rows of factors, codes and x; of images, x stands for components of pixels."""
    from ..report._image_material import RAW, pixel_components

    truth = read_latents(z_true, _TRUTH).values if isinstance(z_true, str) else z_true
    codes = read_latents(z_hat, _CODES).values
    raw = read_table(x).values if isinstance(x, str) else x
    lengths = [len(each) for each in (truth, codes, raw) if each is not None]
    if len(set(lengths)) > 1:
        raise ValueError(f"`Z_TRUE`, `Z_HAT` and `--x` must have the same rows, got {lengths} of them.")
    # at random: equal steps through a factorial miss values of its factors
    rows = np.sort(np.random.default_rng(random_state).permutation(lengths[0])[:_IMAGES])
    truth, codes = truth[rows], codes[rows]
    said = "" if len(rows) == lengths[0] else f"Computed on {len(rows):,} of {lengths[0]:,} rows."
    given: dict[str, Any] = {"z_true": truth[:, truth.min(0) < truth.max(0)], "z_hat": codes}
    if raw is None or isinstance(x, str):
        return given | {"x": None if raw is None else raw[rows]}, said
    return given | {"references": {RAW: pixel_components(np.asarray(raw[rows]), codes.shape[1])}}, said
