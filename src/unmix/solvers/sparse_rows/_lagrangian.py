"""The published way to a sparse basis: deep linear networks under a bound on the mean absolute code."""

from itertools import pairwise, starmap

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unmix.training import Minibatches, minimise_constrained

from ._search import SparseRows, share_off
from ._starts import modes

WIDTHS = (10, 50, 50, 50, 50, 10)  # hidden units of both networks, as multiples of the code's size
_BATCH = 6144


def lagrangian_rows(
    y: Float[Tensor, "n z"],
    generator: torch.Generator,
    *,
    max_iter: int,
    epsilon: float = 0.01,
    lr: float = 1e-4,
    progress: bool = False,
) -> SparseRows:
    r"""Solve the constrained problem of the paper by extra-gradient steps, for comparison.

    .. math:: \min_{g, f} E \|y - f(g(y))\|^2 \quad \text{such that} \quad E \|g(y)\|_1 / z \le \varepsilon

    with g and f deep linear networks and a normalised, rescaled code. The scale can shrink, so the bound is
    not a level of sparsity: it works as a weight of the L1 norm that grows until it is met, and from 0.8 on,
    the mean of a normal code, it never grows. Gradients are those of the paper at a fraction of the cost:
    deep linear networks are computed as the one affine map that they are.

    Parameters
    ----------
    y : (n, z) tensor
        White codes.
    generator : torch.Generator
        On the CPU.
    max_iter : int
        Steps of two gradients each. The paper takes 2500, 20000, 125000, 300000 and 800000 for 5, 10, 20, 40
        and 50 latents.
    epsilon : float
        The bound.
    lr : float
    progress : bool
        Whether to show how far it is.

    Returns
    -------
    SparseRows

    References
    ----------
    Xu, Lachapelle and Magliacane (2026), Eq. (6) and Appendix D, arXiv:2604.13218.
    """
    encoder, decoder = _networks(y.shape[1], int(torch.randint(2**31 - 1, (1,), generator=generator)))
    norm = nn.BatchNorm1d(y.shape[1])
    model = nn.ModuleDict({"encoder": encoder, "norm": norm, "decoder": decoder}).to(y.device)

    def terms(batch: tuple[Tensor, ...]) -> dict[str, Tensor]:
        code = norm(image(encoder, batch[0]))
        return {"loss": (batch[0] - image(decoder, code)).square().mean(), "l1": code.abs().mean()}

    batches = Minibatches(y.float(), batch_size=_BATCH, generator=generator)
    minimise_constrained(
        terms, "l1", model, batches, epsilon=epsilon, n_steps=max_iter, lr=lr, progress=progress
    )
    return _as_rows(encoder, y)


def image(linear: nn.Module, y: Float[Tensor, "n z"]) -> Float[Tensor, "n z"]:
    """Apply linear layers as one affine map, found from the images of zero and the unit vectors."""
    images = linear(torch.cat([torch.zeros_like(y[:1]), torch.eye(y.shape[1]).to(y)]))
    return y @ (images[1:] - images[0]) + images[0]


def _networks(z: int, seed: int) -> tuple[nn.Sequential, nn.Sequential]:
    """Build both networks from a seed, leaving torch's global random state as it was."""
    sizes = [z, *(width * z for width in WIDTHS), z]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        encoder, decoder = (nn.Sequential(*starmap(nn.Linear, pairwise(sizes))) for _ in range(2))
    return encoder, decoder


@torch.no_grad()
def _as_rows(linear: nn.Sequential, y: Tensor) -> SparseRows:
    """Return the one linear map that the layers are, with offsets at the modes."""
    inputs = torch.cat([torch.zeros_like(y[:1]), torch.eye(y.shape[1]).to(y)])
    images = linear.double()(inputs.double()).to(y)
    rows = (images[1:] - images[0]).T
    rows = rows / rows.norm(dim=1, keepdim=True)
    offsets = -modes(rows @ y.T)
    shares = share_off(y, rows, offsets)
    order = shares.argsort()
    return SparseRows(rows[order], offsets[order], shares[order], torch.ones_like(order, dtype=torch.bool), 1)
