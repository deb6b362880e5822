"""Pixels as they are: principal components of all images, and images at a low resolution."""

import numpy as np
import torch
from torch import Tensor

_CHUNK, _PASSES, _SPARE = 4096, 6, 8


def pixel_components(images: Tensor, n_components: int) -> np.ndarray:
    """Return the principal components of the pixels of images.

    The leading directions Q come from subspace iteration, Q <- orthonormal(X'(X Q)) with X the centred
    pixels. Images are held as bytes and passed in chunks: neither floats nor a covariance are ever held.

    Parameters
    ----------
    images : Tensor of shape (n_images, height, width, n_channels)
        Bytes, on the device to compute on.
    n_components : int

    Returns
    -------
    array of shape (n_images, n_components)

    References
    ----------
    Halko, Martinsson and Tropp (2011), Finding structure with randomness, SIAM Review 53(2), algorithm 4.4.
    """
    parts = images.flatten(1).split(_CHUNK)
    mean = torch.stack([part.double().mean(0) * len(part) for part in parts]).sum(0) / len(images)
    q = torch.randn(len(mean), n_components + _SPARE, generator=torch.Generator().manual_seed(0))
    q = q.to(images.device)
    for _ in range(_PASSES):
        moved = torch.stack([_moved(_centred(part, mean), q) for part in parts]).sum(0)
        q = torch.linalg.qr(moved)[0].float()
    codes = torch.cat([_centred(part, mean) @ q for part in parts]).double()
    axes = torch.linalg.eigh(codes.mT @ codes)[1].flip(1)[:, :n_components]
    return (codes @ axes).cpu().numpy()


def coarse(images: Tensor, size: int = 16) -> Tensor:
    """Return images as rows of means over squares of pixels, of which there are `size` x `size`.

    Examples
    --------
    >>> coarse(torch.arange(16, dtype=torch.uint8).reshape(1, 4, 4, 1), 2) * 255
    tensor([[ 2.5000,  4.5000, 10.5000, 12.5000]], dtype=torch.float64)
    """
    n, height, width, channels = images.shape
    squares = images.double().reshape(n, size, height // size, size, width // size, channels)
    return squares.mean((2, 4)).flatten(1) / 255


def _centred(images: Tensor, mean: Tensor) -> Tensor:
    return (images.double() - mean).float() / 255


def _moved(x: Tensor, q: Tensor) -> Tensor:
    return (x.mT @ (x @ q)).double()
