"""How much a decoder stretches and shrinks: local bi-Lipschitz constants from its derivatives."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.func import vmap

from ._forward_mode import jvp
from ._jacobian import jacobian

__all__ = ["BiLipschitz", "bilipschitz", "directional_bilipschitz", "segment_gap"]

CAP = 1e6  # a constant beyond it means "not invertible"; it would drown the mean of all others


@dataclass(frozen=True, eq=False)
class BiLipschitz:
    """Smallest and largest stretch of a function at each sample, and what follows.

    Attributes
    ----------
    smallest, largest : (n,) tensors
        Of ||J v|| over unit vectors v: the extreme singular values where `exact`, else over the directions
        tried, which always lie between them.
    exact : bool
    singular_values : (n, z) tensor or None
        All of them where exact, largest first; what `unmix.theory.certify_decoder` takes.
    """

    smallest: Float[Tensor, " n"]
    largest: Float[Tensor, " n"]
    exact: bool
    singular_values: Float[Tensor, "n z"] | None = None

    @property
    def constants(self) -> Float[Tensor, " n"]:
        """K(z) = max(largest, 1 / smallest) per sample, at least 1 for an exact one, capped at 1e6."""
        return torch.maximum(self.largest, 1 / self.smallest.clamp_min(1 / CAP)).clamp_max(CAP)

    @property
    def n_capped(self) -> int:
        """Samples whose constant is at the cap: the function is not invertible there."""
        return int((self.constants >= CAP).sum())

    @property
    def free(self) -> float:
        """The largest constant once the best factor is divided out, sqrt(max largest / min smallest)."""
        return min(CAP, float((self.largest.max() / self.smallest.min().clamp_min(1 / CAP**2)).sqrt()))

    @property
    def mean(self) -> float:
        """Mean constant over samples."""
        return float(self.constants.mean())

    @property
    def median(self) -> float:
        """Median constant over samples."""
        return float(self.constants.median())

    @property
    def p95(self) -> float:
        """Constant that 95% of the samples do not exceed."""
        return float(self.constants.quantile(0.95))

    @property
    def max(self) -> float:
        """Largest constant over samples, the one of the theorem."""
        return float(self.constants.max())

    def to_dict(self) -> dict[str, Any]:
        """Return the summaries as plain values, ready for JSON."""
        names = ("mean", "median", "p95", "max", "free", "n_capped", "exact")
        return {name: getattr(self, name) for name in names}


def bilipschitz(f: Callable[[Any], Any], z: Float[Tensor, "n z"], *, max_bytes: int = 2**28) -> BiLipschitz:
    """Exact local bi-Lipschitz constants K(z) = max(sigma_max, 1 / sigma_min) of the Jacobian at each sample.

    Parameters
    ----------
    f : callable
        Maps (n, z) to (n, x), each sample by itself, such as a decoder; more output axes are flattened.
    z : (n, z) tensor
        Samples of the latents; a thousand are plenty.
    max_bytes : int
        Budget for Jacobians held at once.

    Returns
    -------
    BiLipschitz
        Smallest singular values are 0 where there are fewer outputs than latents.

    Examples
    --------
    >>> found = bilipschitz(lambda z: z * torch.tensor([0.5, 1.5]), torch.zeros(4, 2))
    >>> found.max, round(found.free, 4), found.exact
    (2.0, 1.7321, True)

    References
    ----------
    Nelson et al. (2026), Statistical and structural identifiability in representation learning, Theorem 1
    and section 4.1, arXiv:2603.11970.
    """
    with torch.no_grad():
        n_in, n_out = z.shape[1], f(z[:1]).numel()
        step = max(1, max_bytes // max(1, n_in * n_out * z.element_size()))
        parts = [torch.linalg.svdvals(jacobian(f, part).double()) for part in z.split(step)]
    values = torch.cat(parts)
    values = torch.nn.functional.pad(values, (0, n_in - values.shape[1]))  # latents that no output sees
    return BiLipschitz(values[:, -1], values[:, 0], True, values)


def directional_bilipschitz(
    f: Callable[[Any], Any],
    z: Float[Tensor, "n z"],
    *,
    n_directions: int = 10,
    random_state: int = 0,
) -> BiLipschitz:
    """Local bi-Lipschitz constants from random unit vectors, max_v max(||J v||, 1 / ||J v||).

    Never above the exact constant, and far below it where latents are many: with singular values
    log-spaced from 1/2 to 2, so that K = 2, ten directions average 1.98 for 2 latents, 1.56 for 8 and 1.28
    for 64. Prefer `bilipschitz` where a Jacobian can be afforded.

    Parameters
    ----------
    f : callable
        Maps (n, z) to (n, x), each sample by itself; more output axes are flattened.
    z : (n, z) tensor
    n_directions : int
        Unit vectors per sample; each sample has its own.
    random_state : int

    Returns
    -------
    BiLipschitz

    Examples
    --------
    >>> found = directional_bilipschitz(lambda z: 2 * z, torch.zeros(4, 3))
    >>> round(found.max, 4), found.exact
    (2.0, False)

    References
    ----------
    Nelson et al. (2026), section 4.1 and appendix A.7.1, arXiv:2603.11970.
    """
    if n_directions < 1:
        raise ValueError(f"`n_directions` must be at least 1, got {n_directions}. Ten are usual.")
    generator = torch.Generator().manual_seed(random_state)
    drawn = torch.randn(n_directions, *z.shape, generator=generator, dtype=torch.float64).to(z)
    unit = drawn / drawn.norm(dim=-1, keepdim=True)
    with torch.no_grad():
        stretched = vmap(lambda v: jvp(f, (z,), (v,))[1].flatten(1).norm(dim=1))(unit)
    return BiLipschitz(stretched.amin(0), stretched.amax(0), False)


def segment_gap(
    encoder: Callable[[Any], Any],
    decoder: Callable[[Any], Any],
    z: Float[Tensor, "n z"],
    *,
    n_points: int = 500,
    random_state: int = 0,
) -> Float[Tensor, " p"]:
    """Distance between points on segments of latents and what the autoencoder makes of them.

    ||f(g(z_t)) - z_t|| over the largest distance among the latents used, z_t a random point between two
    samples. Near 0 where the support is convex as far as the autoencoder knows; large where segments lead
    through places that no data reach.

    Parameters
    ----------
    encoder, decoder : callable
        f and g, batched.
    z : (n, z) tensor
        Samples of the latents, two at least.
    n_points : int
        Random points, each on a segment of its own.
    random_state : int

    Returns
    -------
    (p,) tensor

    Examples
    --------
    >>> segment_gap(lambda x: x / 2, lambda z: 2 * z, torch.randn(10, 2)).max()
    tensor(0.)

    References
    ----------
    Nelson et al. (2026), Theorem 1 (convexity of the support), arXiv:2603.11970.
    """
    if len(z) < 2 or n_points < 1:
        raise ValueError(
            f"`z` must have at least 2 rows and `n_points` be at least 1, got {len(z)} and {n_points}."
        )
    generator = torch.Generator().manual_seed(random_state)
    i = torch.randint(len(z), (n_points,), generator=generator)
    j = (i + torch.randint(1, len(z), (n_points,), generator=generator)) % len(z)
    share = torch.rand(n_points, 1, generator=generator, dtype=torch.float64).to(z)
    with torch.no_grad():
        between = share * z[i.to(z.device)] + (1 - share) * z[j.to(z.device)]
        gap = (encoder(decoder(between)) - between).norm(dim=1)
        width = torch.cdist(z[i.to(z.device)], z[j.to(z.device)]).max()
    return gap / width.clamp_min(torch.finfo(z.dtype).tiny)
