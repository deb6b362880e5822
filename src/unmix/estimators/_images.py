"""Images as estimators take them: as they are, on the device, and never copied as a whole."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from unmix.nn import entries, jacobian
from unmix.objectives import as_floats
from unmix.training import device

from ._tables import forget

PRECISION = torch.float32
_CHUNK = 512  # images that pass through a network, or to the device, at a time
_DESCRIBED = 10_000  # images that tell the scale of the codes

Function = Callable[[Tensor], Tensor]


def is_images(X: Any) -> bool:
    """Whether these are images: an array with four axes."""
    return getattr(X, "ndim", 0) == 4


def read(model: Any, X: Any) -> Tensor:
    """Check images, remember their shape and type, and return them on the device as they are."""
    images = _checked(X)
    if len(images) < 2:
        raise ValueError(f"`X` must have at least two images, got {len(images)}. Collect more.")
    forget(model, "mean_", "scale_", "structure_", "loadings_", "feature_names_in_")
    model.image_shape_ = np.array(images.shape[1:])
    model.bytes_ = np.array(images.dtype == torch.uint8)
    model.n_features_in_ = entries(tuple(images.shape[1:]))
    place = device(model.device)
    if images.device == place:
        return images
    held = torch.empty(images.shape, dtype=images.dtype, device=place)
    for start in range(0, len(images), _CHUNK):
        held[start : start + _CHUNK] = images[start : start + _CHUNK].to(place)
    return held


def _checked(X: Any) -> Tensor:
    """Return images as a tensor that shares their memory."""
    images = X if isinstance(X, Tensor) else _shared(np.asanyarray(X))
    if images.ndim != 4 or 0 in images.shape:
        raise ValueError(
            f"`X` must be images of shape (n, height, width, channels), got {tuple(images.shape)}. Reshape."
        )
    if images.dtype == torch.uint8:
        return images
    if not images.is_floating_point():
        raise ValueError(f"`X` must hold bytes (uint8) or floats in [0, 1], got {images.dtype}. Convert it.")
    if not all(part.isfinite().all() for part in images.split(_CHUNK)):
        raise ValueError("`X` must be finite, got NaN or infinity. Mend the images.")
    return images


def _shared(values: np.ndarray) -> Tensor:
    if values.dtype.kind not in "fu" or values.dtype.itemsize > 8:
        raise ValueError(f"`X` must hold bytes (uint8) or floats in [0, 1], got {values.dtype}. Convert it.")
    return torch.from_numpy(values)


def _like_fitted(model: Any, X: Any) -> Tensor:
    images = _checked(X)
    if tuple(images.shape[1:]) != tuple(model.image_shape_):
        fitted, given = tuple(model.image_shape_.tolist()), tuple(images.shape[1:])
        raise ValueError(f"`X` must have images of shape {fitted}, as the model was fitted on, got {given}.")
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
        parts = [encode(part.to(place)).cpu() for part in images.split(_CHUNK)]
    return torch.cat(parts).numpy()


def decoded(model: Any, X: Any, decode: Function) -> np.ndarray:
    """Return the images that codes stand for, of the type that the model was fitted on."""
    codes = torch.as_tensor(np.asarray(X), dtype=PRECISION)
    if codes.ndim != 2 or codes.shape[1] != model.n_components_:
        raise ValueError(
            f"`X` must have shape (n_samples, n_components={model.n_components_}), got {tuple(codes.shape)}."
        )
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
        parts = [jacobian(model.decoder_, encode(part.to(place))).cpu() for part in images.split(8)]
    return torch.cat(parts).numpy() * (255.0 if model.bytes_ else 1.0)


def explained(model: Any, X: Any) -> float:
    """Return the share of the variance of the pixels, about their means, that the model reconstructs."""
    images = _like_fitted(model, X)
    mean = torch.stack([as_floats(part).double().sum(0) for part in images.split(_CHUNK)]).sum(0) / len(
        images
    )
    left = total = 0.0
    with _on_device(model) as place:
        for part in images.split(_CHUNK):
            pixels = as_floats(part.to(place))
            found = model.decoder_(model._objective_.encode(part.to(place)))
            left += float((pixels - found).square().sum())
            total += float((pixels - mean.to(pixels)).square().sum())
    return 1 - left / total


def describe(model: Any, images: Tensor, encode: Function) -> None:
    """Remember the scale of the codes; Jacobians are computed when asked for."""
    few = images[:: max(1, len(images) // _DESCRIBED)][:_DESCRIBED]
    model.latent_scale_ = encoded(model, few, encode).std(0)
