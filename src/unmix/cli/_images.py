"""Images on the command line: whether a path or a model is of images, and what is read of them."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ._known import labels


def of_images(model: Any) -> bool:
    """Whether a model, or the first step of a pipeline, was fitted on images."""
    return hasattr(first_of(model), "image_shape_")


def first_of(model: Any) -> Any:
    """Return the model that sees the images, of a pipeline its first step."""
    return model.steps[0][1] if hasattr(model, "steps") else model


def is_images(path: str) -> bool:
    """Whether a path leads to images rather than to a table."""
    from ..data.images import are_images

    return are_images(path)


def read(path: str, option: str = "--data") -> Any:
    """Read images, with their factors where these are known; errors name the option that brought the path."""
    from ..data.images import read_images

    try:
        return read_images(path)
    except ValueError as error:
        said = str(error)
        name = next((name for name in ("`path`", "`images`") if said.startswith(name)), "`path`")
        raise ValueError(said.replace(name, f"`{option}`", 1)) from error


def pixels_of(data: Any) -> np.ndarray:
    """Return images as one array."""
    return np.asarray(data.images[np.arange(len(data.images))])


def domains_of(text: str | None, model: Any, data: Any, *, needed: bool = True) -> Any:
    """Return the domain of each image, a factor of theirs or a file of labels; None where none is used."""
    first = first_of(model)
    if not getattr(first, "needs_domains", False):
        if text is not None:
            raise ValueError(f"`--domains` must be left out for {type(first).__name__}: it uses none.")
        return None
    if text is None and not needed:
        return None
    if text in data.names:
        return data.factors[:, data.names.index(text)]
    if text is None or not Path(text).is_file():
        raise ValueError(
            f"`--domains` must be a factor of the images, one of {list(data.names)}, or a file of labels, "
            f"got {text!r}."
        )
    found = labels(text, {}, "--domains")
    n = len(data.images)
    if len(found) != n:
        raise ValueError(
            f"`--domains` must have one label for each of {n:,} images, got {len(found):,}. Is it of others?"
        )
    return found


def networks(shape: tuple[int, ...]) -> dict[str, Any]:
    """Return convolutional networks for images of a shape, halved up to four times, not below four pixels."""
    from ..nn import conv_decoder, conv_encoder

    height, width = shape[:2]
    halvings = max(
        (k for k in range(1, 5) if not (height % 2**k or width % 2**k) and min(height, width) >= 4 * 2**k),
        default=0,
    )
    if not halvings:
        raise ValueError(
            f"`X` must be images of even sides from 8 pixels on, got {height} x {width}. Crop or pad them."
        )
    widths = (32, 64, 128, 256)[:halvings]
    return {
        "encoder": partial(conv_encoder, widths=widths),
        "decoder": partial(conv_decoder, widths=widths[::-1]),
    }
