"""An explorer of a model of images: examples are pictures, and latents can be moved."""

from typing import Any

import numpy as np

from ...plots._image_words import row_name
from ...plots._looking import Strip
from ...plots._pixels import brightness, coloured, png, signed
from .._image_material import ImageMaterial, Seen, Wanted
from .._image_page import _subtitle, _verdict
from .._image_pictures import embedded, row_of
from ._cards import bars, judged, neighbours, plane
from ._columns import Column, categories, numbers
from ._page import Explorer
from ._tables import MAP

TILE = 48  # largest side of a small picture
STEPS = 11  # positions of a latent that is moved
_ACROSS = 40  # small pictures side by side


def of_images(model: Any, data: Seen, *, trust: Any, title: str) -> Explorer:
    """Gather what is known of a model of images: verdict, codes, factors, pictures, latents that move."""
    material = ImageMaterial(
        model, data, trust=trust, wanted=Wanted(n_steps=STEPS), scored=data.factors is not None
    )
    look, answer = material.look, _verdict(material)
    tiles = small(look.images(look.rows))
    shown = len(look.rows) < len(look.all)
    about = {
        "title": title,
        "kind": "images",
        "subtitle": _subtitle(material),
        "headline": answer.headline,
        "tone": answer.tone,
        "threshold": None if material.trust is None else float(material.trust.threshold),
        "latents": _cards(material),
        "runs": [],
        "notes": [f"{len(look.rows):,} of {len(look.all):,} images are shown, spread over all."]
        if shown
        else [],
        "sheet": sheet(tiles) | {"moved": row_name(material.row, data.ids)},
    }
    ids = [row_name(int(row), data.ids) for row in look.rows]
    return Explorer(about, _columns(material), ids=ids)


def small(images: np.ndarray) -> np.ndarray:
    """Return pictures of at most 48 x 48 pixels, three channels, by leaving out pixels.

    >>> small(np.zeros((2, 100, 64, 1), dtype=np.uint8)).shape
    (2, 34, 22, 3)
    """
    step = -(-max(images.shape[1:3]) // TILE)
    return coloured(brightness(images[:, ::step, ::step]))


def sheet(tiles: np.ndarray) -> dict[str, Any]:
    """Return all small pictures as one, in rows of 40."""
    n, height, width = tiles.shape[:3]
    rows = -(-n // _ACROSS)
    padded = np.concatenate([tiles, np.zeros((rows * _ACROSS - n, *tiles.shape[1:]), tiles.dtype)])
    grid = padded.reshape(rows, _ACROSS, height, width, -1).swapaxes(1, 2)
    flat = grid.reshape(rows * height, _ACROSS * width, -1)
    return {
        "src": embedded(png(as_bytes(flat)), "png"),
        "across": _ACROSS,
        "rows": rows,
        "width": width,
        "height": height,
    }


def as_bytes(light: np.ndarray) -> np.ndarray:
    """Return colours from 0 to 1 as bytes."""
    return np.rint(255 * np.clip(light, 0, 1)).astype(np.uint8)


def _columns(material: ImageMaterial) -> tuple[Column, ...]:
    codes, flat = material.look.codes, plane(np.asarray(material.look.codes, dtype=float))
    found = [numbers(f"z{j}", "latent", codes[:, j]) for j in range(codes.shape[1])]
    found += [numbers(name, "map", flat[:, k]) for k, name in enumerate(MAP)]
    if material.data.factors is not None:
        factors = material.data.factors[material.look.rows]
        names = material.data.names or [f"factor {k}" for k in range(factors.shape[1])]
        found += [categories(str(name), "metadata", factors[:, k].tolist()) for k, name in enumerate(names)]
    return tuple(found)


def _cards(material: ImageMaterial) -> list[dict[str, Any]]:
    codes = np.asarray(material.look.codes, dtype=float)
    near, strips = neighbours(codes), {strip.latent: strip for strip in material.moved}
    order = {strip.latent: place for place, strip in enumerate(material.moved)}
    return [
        {
            "name": f"z{j}",
            "column": j,
            "bars": bars(codes[:, j]),
            "place": order.get(j, len(order) + j),
            "near": near[j],
            "truth": "",
            **_moved(material, strips.get(j), j),
            **judged(material.trust, j),
        }
        for j in range(codes.shape[1])
    ]


def _moved(material: ImageMaterial, strip: Strip | None, j: int) -> dict[str, Any]:
    """Return what a latent does to the picture: frames to slide through, and where it moves pixels."""
    named = {"variables": [], "groups": [], "related": [], "few": ""}
    if strip is None:
        return {"label": "not moved", "share": None, "strip": None, **named}
    largest = float(np.abs(material.slopes[0]).max()) or 1.0
    slope = signed(material.slopes[0][[j]], largest)
    return {
        "label": "dead" if strip.dead else f"moves pixels by {255 * strip.strength:.0f} grey levels",
        "share": strip.strength,
        "strip": {
            "src": embedded(png(as_bytes(np.concatenate(list(coloured(strip.pictures)), axis=1))), "png"),
            "at": np.round(material.look.in_deviations(strip), 2).tolist(),
            "here": int(strip.here),
            "slope": row_of(slope),
        },
        **named,
    }
