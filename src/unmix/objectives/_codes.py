"""Laws of the codes that a generator draws from: plain noise, or parts of it that the domain changes."""

import math

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from unmix.penalties import domain_code, mask_sparsity

ACTIVE = 0.1  # importance above which a coordinate changes with the domain
_BUMPS = 4  # of a monotone function


class NoiseCode(nn.Module):
    """Codes that are the noise itself; domains are not looked at."""

    n_changing = 0

    def forward(self, noise: Float[Tensor, "n z"], u: Int[Tensor, " n"] | None = None) -> Tensor:
        """Return the codes."""
        return noise

    def terms(self) -> dict[str, Tensor]:
        """Return what the law adds to the generator's loss."""
        return {}

    @property
    def active(self) -> Bool[Tensor, " d"]:
        """Which coordinates change with the domain: none."""
        return torch.zeros(0, dtype=torch.bool)


class LabelCode(nn.Module):
    """Codes whose first part is a learned vector for each domain, as a conditional StyleGAN2 has.

    Each part is scaled to unit second moment.
    """

    def __init__(self, n_changing: int, n_domains: int) -> None:
        super().__init__()
        self.n_changing = n_changing
        self.vectors = nn.Parameter(torch.randn(n_domains, n_changing))

    def forward(self, noise: Float[Tensor, "n z"], u: Int[Tensor, " n"]) -> Float[Tensor, "n z"]:
        """Return the codes; the first part of the noise is not used."""
        vectors = torch.cat([self.vectors[u.long()].to(noise.dtype), noise[:, self.n_changing :]], 1)
        return domain_code(vectors, torch.zeros_like, torch.zeros_like(vectors[0, : self.n_changing]))

    def terms(self) -> dict[str, Tensor]:
        """Return what the law adds to the generator's loss: nothing."""
        return {}

    @property
    def active(self) -> Bool[Tensor, " d"]:
        """Which coordinates change with the domain: all of the first part."""
        return torch.ones(self.n_changing, dtype=torch.bool, device=self.vectors.device)


class FlowCode(nn.Module):
    """Codes whose first part a monotone function of each coordinate, one for each domain, moves.

    z = noise + m f_u(noise), with m the mask: importance where it is above 0.1, else 0. The other part is the
    noise itself; each part is scaled to unit second moment.

    Parameters
    ----------
    n_changing, n_domains : int
    masked : bool
        Whether importance is learned; otherwise every coordinate of the first part changes.

    References
    ----------
    Xie, Kong, Gong and Zhang (2023), Multi-domain image generation and translation with identifiability
    guarantees, Section 4; Li et al. (2025), arXiv:2503.00639 (CG-GAN).
    """

    importance: Tensor

    def __init__(self, n_changing: int, n_domains: int, *, masked: bool = True) -> None:
        super().__init__()
        self.n_changing, self.masked = n_changing, masked
        self.flow = MonotoneFlow(n_changing, n_domains)
        ones = torch.ones(n_changing)
        if masked:
            self.importance = nn.Parameter(ones)
        else:
            self.register_buffer("importance", ones)

    def forward(self, noise: Float[Tensor, "n z"], u: Int[Tensor, " n"]) -> Float[Tensor, "n z"]:
        """Return the codes."""
        return domain_code(noise, lambda part: self.flow(part, u), self.importance, threshold=ACTIVE)

    def terms(self) -> dict[str, Tensor]:
        """Return what the law adds to the generator's loss: the size of the mask."""
        return {"mask": mask_sparsity(self.importance)} if self.masked else {}

    @property
    def active(self) -> Bool[Tensor, " d"]:
        """Which coordinates change with the domain."""
        return self.importance.detach() > ACTIVE


class MonotoneFlow(nn.Module):
    """An increasing function of each coordinate, one for each domain.

    f(e) = b + a e + sum_k s_k tanh(c_k (e - t_k)) with a, c, s > 0.

    Examples
    --------
    >>> flow = MonotoneFlow(1, 2)
    >>> rising = flow(torch.linspace(-3, 3, 50)[:, None], torch.ones(50, dtype=torch.long)).diff(dim=0)
    >>> bool((rising > 0).all())
    True
    """

    def __init__(self, n_coordinates: int, n_domains: int) -> None:
        super().__init__()
        shape = n_domains, n_coordinates
        self.shift = nn.Parameter(torch.randn(shape))
        self.slope = nn.Parameter(torch.full(shape, -2.0))
        self.sizes = nn.Parameter(torch.full((*shape, _BUMPS), -3.0))
        self.pitch = nn.Parameter(torch.full((*shape, _BUMPS), math.log(math.e - 1)))
        self.places = nn.Parameter(torch.linspace(-1.5, 1.5, _BUMPS).expand(*shape, _BUMPS).clone())

    def forward(self, e: Float[Tensor, "n d"], u: Int[Tensor, " n"]) -> Float[Tensor, "n d"]:
        """Return the values, for samples of these domains."""
        u = u.long()
        slope, sizes, pitch = (F.softplus(each)[u] for each in (self.slope, self.sizes, self.pitch))
        bumps = sizes * torch.tanh(pitch * (e[:, :, None] - self.places[u]))
        return self.shift[u] + slope * e + bumps.sum(2)
