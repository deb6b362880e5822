"""Images as estimators take them: as they are, on the device, and never copied as a whole."""

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from unmix.nn import entries, jacobian
from unmix.objectives import as_floats
from unmix.tables import features_of
from unmix.training import Drawn, device

from ._tables import forget

PRECISION = torch.float32
_CHUNK = 512  # images that pass through a network, or to the device, at a time
_DRAWN = 8192  # images that are rendered at a time
_DESCRIBED = 10_000  # images that tell the scale of the codes
_SHARE = 0.5  # of the memory that is free, for images

Function = Callable[[Tensor], Tensor]


def is_images(X: Any) -> bool:
    """Whether these are images: an array with four axes, or several with three."""
    if isinstance(X, list | tuple) or (isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1):
        return len(X) > 0 and all(getattr(each, "ndim", 0) == 3 for each in X)
    return getattr(X, "ndim", 0) == 4


def refuse_grey(X: Any, takes: tuple[str, ...]) -> None:
    """Refuse grey images without an axis of channels, which are no table either."""
    if "images" in takes and getattr(X, "ndim", 2) == 3:
        raise ValueError(
            f"`X` must have an axis of channels where it holds images, got shape {tuple(X.shape)}. Give grey "
            "images one: `X[..., None]`."
        )


def read(model: Any, X: Any) -> Tensor | Drawn:
    """Check images, remember their shape and type, and return them on the device as they are.

    Those that are rendered when they are asked for are held there where they fit, else rendered in batches.
    """
    images = _checked(X)
    if len(images) < 2:
        raise ValueError(f"`X` must have at least two images, got {len(images)}. Collect more.")
    forget(model, "mean_", "scale_", "structure_", "loadings_", "feature_names_in_")
    model.image_shape_ = np.array(images.shape[1:])
    model.bytes_ = np.array(_is_bytes(images))
    model.n_features_in_ = entries(tuple(images.shape[1:]))
    place = device(model.device)
    if isinstance(images, Tensor) and images.device == place and images.dtype in (torch.uint8, PRECISION):
        return images
    if is_rendered(images) and not _fits(images, place):
        return Drawn(len(images), lambda rows: _sound(images.rendered(rows.numpy(), place)))
    held = torch.empty(tuple(images.shape), dtype=torch.uint8 if model.bytes_ else PRECISION, device=place)
    done = 0
    for part in _parts(images, _CHUNK if isinstance(images, Tensor) else _DRAWN, place):
        held[done : done + len(part)] = part
        done += len(part)
    return held


def is_rendered(X: Any) -> bool:
    """Whether images are made when they are asked for, by `rendered(rows, device)`."""
    return hasattr(X, "rendered")


def _is_bytes(images: Any) -> bool:
    return images.dtype == (torch.uint8 if isinstance(images, Tensor) else np.uint8)


def _fits(images: Any, place: torch.device) -> bool:
    """Whether all images fit in the memory that is free on a device."""
    if place.type == "cuda":
        free = torch.cuda.mem_get_info(place)[0]
    else:
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    size = 1 if _is_bytes(images) else PRECISION.itemsize
    return len(images) * entries(tuple(images.shape[1:])) * size <= _SHARE * free


def _parts(images: Any, size: int, place: torch.device) -> Iterator[Tensor]:
    """Return images a few at a time, on a device, floats in single precision."""
    for start in range(0, len(images), size):
        rows = slice(start, min(start + size, len(images)))
        part = images[rows].to(place) if isinstance(images, Tensor) else images.rendered(rows, place)
        part = part if isinstance(images, Tensor) else _sound(part)
        yield part if part.dtype == torch.uint8 else part.to(PRECISION)


def _checked(X: Any) -> Any:
    """Return images as a tensor that shares their memory, or as they are where they are rendered."""
    if is_rendered(X):
        return X
    images = X if isinstance(X, Tensor) else _shared(_stacked(features_of(X)))
    if images.ndim != 4 or 0 in images.shape:
        raise ValueError(
            f"`X` must be images of shape (n, height, width, channels), got {tuple(images.shape)}. Reshape."
        )
    if images.dtype != torch.uint8:
        for part in images.split(_CHUNK):
            _sound(part)
    return images


def _stacked(X: Any) -> np.ndarray:
    """Return several images as one array, if they are of one size."""
    if isinstance(X, list | tuple) or X.dtype == object:
        shapes = sorted({tuple(each.shape) for each in X})
        if len(shapes) > 1:
            raise ValueError(
                f"`X` must have images of one size, got {shapes[0]} and {shapes[1]}. Scale or crop them."
            )
        return np.stack([np.asarray(each) for each in X])
    return np.asanyarray(X)


def _sound(images: Tensor) -> Tensor:
    """Return images, unless their pixels can't be."""
    if images.dtype == torch.uint8:
        return images
    if not images.is_floating_point():
        raise ValueError(f"`X` must hold bytes (uint8) or floats in [0, 1], got {images.dtype}. Convert it.")
    low, high = images.min().item(), images.max().item()
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError("`X` must be finite, got NaN or infinity. Mend the images.")
    if low < 0 or high > 1:
        raise ValueError(
            f"`X` must hold floats in [0, 1], got {low:.4g} to {high:.4g}. Rescale them, or pass bytes."
        )
    return images


def _shared(values: np.ndarray) -> Tensor:
    if values.dtype.kind not in "fu" or values.dtype.itemsize > 8:
        raise ValueError(f"`X` must hold bytes (uint8) or floats in [0, 1], got {values.dtype}. Convert it.")
    return torch.from_numpy(values)


def _like_fitted(model: Any, X: Any) -> Any:
    images = _checked(X)
    fitted, given = tuple(model.image_shape_.tolist()), tuple(images.shape[1:])
    if given != fitted:
        channels = fitted[:2] == given[:2]
        raise ValueError(
            f"`X` must have images of shape {fitted}, as the model was fitted on, got {given}. "
            + (f"It takes {fitted[2]} channels, not {given[2]}." if channels else "Scale or crop them.")
        )
    return images


@contextmanager
def _on_device(model: Any) -> Iterator[torch.device]:
    """Lend the networks to the device for a while."""
    place, networks = device(model.device), nn.ModuleList([model.encoder_, model.decoder_])
    networks.to(place)
    try:
        with torch.no_grad():
            yield place
    finally:
        networks.to("cpu")


def encoded(model: Any, X: Any, encode: Function) -> np.ndarray:
    """Return the codes of each image, in single precision."""
    images = _like_fitted(model, X)
    with _on_device(model) as place:
        parts = [encode(part).cpu() for part in _parts(images, _CHUNK, place)]
    return torch.cat(parts).numpy()


def decoded(model: Any, X: Any, decode: Function) -> np.ndarray:
    """Return the images that codes stand for, of the type that the model was fitted on."""
    codes = torch.as_tensor(np.asarray(X), dtype=PRECISION)
    if codes.ndim != 2 or codes.shape[1] != model.n_components_:
        raise ValueError(
            f"`X` must have shape (n_samples, n_components={model.n_components_}), got {tuple(codes.shape)}."
        )
    if not torch.isfinite(codes).all():
        many = int((~torch.isfinite(codes)).sum())
        raise ValueError(f"`X` must be finite, got {many:,} entries that are not. Leave such codes out.")
    with _on_device(model) as place:
        return torch.cat([_as_stored(model, decode(part.to(place))) for part in codes.split(_CHUNK)]).numpy()


def _as_stored(model: Any, pixels: Tensor) -> Tensor:
    if not model.bytes_:
        return pixels.cpu()
    return (pixels * 255).round().clamp(0, 255).to(torch.uint8).cpu()


def slopes(model: Any, X: Any, encode: Function) -> np.ndarray:
    """Return the decoder's Jacobian at the codes of each image, shape (n_samples, pixels, n_components)."""
    images = _like_fitted(model, X)
    with _on_device(model) as place:
        parts = [jacobian(model.decoder_, encode(part)).cpu() for part in _parts(images, 8, place)]
    return torch.cat(parts).numpy() * (255.0 if model.bytes_ else 1.0)


def explained(model: Any, X: Any) -> float:
    """Return the share of the variance of the pixels, about their means, that the model reconstructs."""
    images = _like_fitted(model, X)
    left = total = 0.0
    with _on_device(model) as place:
        sums = [as_floats(part).double().sum(0) for part in _parts(images, _CHUNK, place)]
        mean = torch.stack(sums).sum(0) / len(images)
        for part in _parts(images, _CHUNK, place):
            pixels = as_floats(part)
            found = model.decoder_(model._objective_.encode(part))
            left += float((pixels - found).square().sum())
            total += float((pixels - mean.to(pixels)).square().sum())
    return 1 - left / total


def describe(model: Any, images: Tensor | Drawn, encode: Function) -> None:
    """Remember the scale of the codes; Jacobians are computed when asked for."""
    few = images[:: max(1, len(images) // _DESCRIBED)] if isinstance(images, Tensor) else None
    few = images.head(_DESCRIBED)[0] if few is None else few[:_DESCRIBED]  # type: ignore[union-attr]
    model.latent_scale_ = encoded(model, few, encode).std(0)
