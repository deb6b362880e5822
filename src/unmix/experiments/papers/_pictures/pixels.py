"""Principal components of pixels, of as many images as there are, which are drawn again for every pass."""

import numpy as np
import torch
from torch import Tensor

from unmix.training import device as device_of

from .twins import Pictures

_CHUNK, _PASSES, _SPARE = 4096, 6, 8


def pixel_components(pictures: Pictures, n_components: int, device: str) -> np.ndarray:
    """Return the principal components of the pixels of all images.

    The leading directions Q come from subspace iteration, Q <- orthonormal(X'(X Q)) with X the centred
    pixels: each pass draws the images in chunks, so that neither they nor a covariance are ever held.

    Parameters
    ----------
    pictures : Pictures
    n_components : int
    device : str

    Returns
    -------
    array of shape (n_images, n_components)

    References
    ----------
    Halko, Martinsson and Tropp (2011), Finding structure with randomness, SIAM Review 53(2), algorithm 4.4.
    """
    place = device_of(device)
    mean = sum(part.double().sum(0) for part in _chunks(pictures, place)) / len(pictures.rows)
    start = torch.Generator().manual_seed(0)
    q = torch.randn(len(mean), n_components + _SPARE, generator=start).to(place)
    for _ in range(_PASSES):
        total = torch.zeros_like(q, dtype=torch.double)
        for part in _chunks(pictures, place):
            centred = part - mean.to(part)
            total += (centred.mT @ (centred @ q)).double()
        q = torch.linalg.qr(total)[0].to(q)
    codes = [((part - mean.to(part)) @ q) for part in _chunks(pictures, place)]
    found = torch.cat(codes).double()
    axes = torch.linalg.eigh(found.mT @ found)[1].flip(1)[:, :n_components]
    return (found @ axes).cpu().numpy()


def _chunks(pictures: Pictures, place: torch.device):
    """Yield the pixels of all images, floats of shape (n, pixels)."""
    for first in range(0, len(pictures.rows), _CHUNK):
        at = np.arange(first, min(first + _CHUNK, len(pictures.rows)))
        images: Tensor = pictures.images(place, at)
        yield images.flatten(1).float() / 255
