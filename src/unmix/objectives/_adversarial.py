"""The losses of a game between a generator and a discriminator, each a function of tensors."""

import math
from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

from unmix._group import of_all

_SLOW = 0.01  # pace of the running mean of path lengths


def to_pass(fake: Float[Tensor, " n"]) -> Float[Tensor, ""]:
    """Return the generator's non-saturating loss, E softplus(-D(fake)).

    Examples
    --------
    >>> round(to_pass(torch.zeros(3)).item(), 4), to_pass(torch.full((3,), 50.0)).item() < 1e-6
    (0.6931, True)

    References
    ----------
    Goodfellow et al. (2014), Generative adversarial nets, Section 3, arXiv:1406.2661.
    """
    return F.softplus(-fake).mean()


def to_expose(fake: Float[Tensor, " n"]) -> Float[Tensor, ""]:
    """Return the discriminator's loss on images that were made, E softplus(D(fake)).

    Its loss on real ones is `to_pass`.
    """
    return F.softplus(fake).mean()


def r1(critic: Callable[[Any], Any], x: Float[Tensor, "n *x"]) -> Float[Tensor, ""]:
    """Return half the mean squared gradient of the discriminator at real images, pixels in [-1, 1].

    Parameters
    ----------
    critic : callable
        Maps images (n, ...) to (n,) logits.
    x : (n, ...) tensor
        Images, pixels in [0, 1]: a unit of these is two of those that the penalty counts in.

    Examples
    --------
    >>> r1(lambda x: 3 * x.sum(1), torch.zeros(4, 2))  # half of 2 (3/2)^2
    tensor(2.2500)

    References
    ----------
    Mescheder, Geiger and Nowozin (2018), Which training methods for GANs do actually converge?, Eq. (9),
    arXiv:1801.04406.
    """
    x = x.detach().requires_grad_(True)
    (slope,) = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
    return (slope / 2).square().flatten(1).sum(1).mean() / 2


def path_lengths(
    synthesis: Callable[[Any], Any], w: Float[Tensor, "n w"], y: Float[Tensor, "n h w2 c"]
) -> Float[Tensor, " n"]:
    """Return the length of J^T y for each style, y standard normal over the number of pixels' root.

    Examples
    --------
    >>> w, y = torch.ones(2, 1), torch.ones(2, 1, 1, 1)
    >>> path_lengths(lambda w: (6 * w)[:, None, None], w, y)  # pixels in [0, 1]: twice that in [-1, 1]
    tensor([12., 12.])

    References
    ----------
    Karras et al. (2020), Eq. (4), arXiv:1912.04958.
    """
    w = w if w.requires_grad else w.detach().requires_grad_(True)
    pixels = 2 * synthesis(w)
    weighed = (pixels * y).sum() / math.sqrt(y.shape[1] * y.shape[2])
    (slope,) = torch.autograd.grad(weighed, w, create_graph=True)
    return slope.square().sum(1).sqrt()


def path_deviation(lengths: Float[Tensor, " n"], mean: Float[Tensor, ""]) -> Float[Tensor, ""]:
    """Return the mean squared deviation of path lengths from their running mean, which is moved in place.

    Examples
    --------
    >>> mean = torch.zeros(())
    >>> round(path_deviation(torch.tensor([1.0, 3.0]), mean).item(), 4), round(mean.item(), 3)
    (4.9204, 0.02)
    """
    mean.lerp_(of_all(lengths.detach().mean()).to(mean.dtype), _SLOW)
    return (lengths - mean.clone()).square().mean()


def moved_code(
    z: Float[Tensor, "n z"], draw: Float[Tensor, "n d"], active: Bool[Tensor, " d"], step: float
) -> Float[Tensor, "n z"]:
    """Move one of the active coordinates of each code by a step, in either direction.

    Parameters
    ----------
    z : (n, z) tensor
    draw : (n, d) tensor
        Standard normals: the largest among active coordinates says which one moves, so that all are equally
        likely, and the sum of their signs in which direction; nothing is read by the host.
    active : (d,) bool tensor
        Which of the first d coordinates may move; with none active nothing moves.
    step : float

    Examples
    --------
    >>> draw = torch.tensor([[2.0, -3.0], [-1.0, 4.0]])
    >>> moved_code(torch.zeros(2, 3), draw, torch.tensor([True, False]), 0.5)
    tensor([[-0.5000,  0.0000,  0.0000],
            [ 0.5000,  0.0000,  0.0000]])
    """
    chosen = torch.where(active, draw, -torch.inf).argmax(1, keepdim=True)
    sign = torch.where(draw.sum(1, keepdim=True) < 0, -1.0, 1.0).to(z.dtype) * active.any()
    return z.scatter_add(1, chosen, step * sign)


def moving(r: Float[Tensor, ""], p: Float[Tensor, ""], target: float, stride: float) -> None:
    """Move the probability of augmentation, in place: up where the discriminator overfits, else down.

    Parameters
    ----------
    r : scalar tensor
        Running mean of sign(D(real)): 1 where it knows the real images by heart, about 0 where it does not.
    p : scalar tensor
    target : float
    stride : float
        How far p moves.

    Examples
    --------
    >>> p = torch.tensor(0.5)
    >>> moving(torch.tensor(0.9), p, 0.6, 0.1); p
    tensor(0.6000)

    References
    ----------
    Karras et al. (2020), Training generative adversarial networks with limited data, Section 3.1 (r_t),
    arXiv:2006.06676.
    """
    p.add_(stride * torch.sign(r - target)).clamp_(0, 1)
