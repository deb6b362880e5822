"""Augmentations that a discriminator sees images through, differentiable in the pixels."""

import math

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

N_DRAWS = 8  # normals for each image
_SHIFT, _TURN, _ZOOM = 0.125, 0.2, 0.2  # of the side; radians; log of the factor
_LIGHT, _CONTRAST = 0.2, 0.4  # of pixels in [0, 1]; log of the factor


def augmented(
    x: Float[Tensor, "n h w c"], p: Float[Tensor, ""], draw: Float[Tensor, "n a"]
) -> Float[Tensor, "n h w c"]:
    """Shift, turn and zoom images with probability p, and change their light and contrast with p again.

    What is applied at random, and not always, can be undone: a generator that fools a discriminator behind
    it makes images that are not augmented, as long as p is well below 1.

    Parameters
    ----------
    x : (n, height, width, channels) tensor
        Pixels in [0, 1].
    p : scalar tensor
    draw : (n, 8) tensor
        Standard normals: two that say whether, six that say how far.

    Returns
    -------
    (n, height, width, channels) tensor

    Examples
    --------
    >>> x, draw = torch.rand(2, 8, 8, 3), torch.randn(2, 8)
    >>> bool((augmented(x, torch.tensor(0.0), draw) - x).abs().max() < 1e-5)
    True

    References
    ----------
    Karras et al. (2020), Training generative adversarial networks with limited data, Section 2,
    arXiv:2006.06676. The transformations and their ranges are ours.
    """
    chance = 0.5 * (1 + torch.erf(draw[:, :2] / math.sqrt(2)))
    moved, lit = (chance < p).to(x.dtype).split(1, 1)
    far = draw[:, 2:].to(x.dtype) * torch.cat([moved.expand(-1, 4), lit.expand(-1, 2)], 1)
    placed = _placed(x, far[:, :4])
    light, contrast = _LIGHT * far[:, 4], torch.exp(_CONTRAST * far[:, 5])
    middle = placed.mean((1, 2, 3), keepdim=True)
    return (placed - middle) * contrast[:, None, None, None] + middle + light[:, None, None, None]


def _placed(x: Tensor, far: Tensor) -> Tensor:
    """Shift by the first two, turn by the third, zoom by the fourth; what was outside repeats the border."""
    zoom, turn = torch.exp(_ZOOM * far[:, 3]), _TURN * far[:, 2]
    cosine, sine = zoom * turn.cos(), zoom * turn.sin()
    shift = 2 * _SHIFT * far[:, :2]
    rows = [torch.stack([cosine, -sine, shift[:, 0]], 1), torch.stack([sine, cosine, shift[:, 1]], 1)]
    grid = F.affine_grid(torch.stack(rows, 1), list(x.permute(0, 3, 1, 2).shape), align_corners=False)
    seen = F.grid_sample(x.permute(0, 3, 1, 2), grid, padding_mode="border", align_corners=False)
    return seen.permute(0, 2, 3, 1)
