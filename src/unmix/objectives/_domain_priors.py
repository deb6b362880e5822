"""Laws of a code given its domain: coordinates, mostly independent, each a monotone map of a normal one."""

import math
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

PRIORS = ("gaussian", "correlated", "sigmoidal", "spline")
_LOG_SCALE = (-5.0, 2.0)  # a domain in which a latent stands still must not make it infinitely likely
_UNITS = 8
_BOUND = 6.0  # beyond it a spline is the identity, in standard deviations
_EPS = 1e-6


class DomainGaussian(nn.Module):
    """Independent normals z_i | u ~ N(m_i(u), s_i(u)^2), of mean 0 and variance 1 over all domains together.

    Over domains means and scales are normalised, which fixes the scale of each code: otherwise inflated codes
    would lower penalties on the decoder's Jacobian for nothing. Latents that are `shared` have one law in all
    domains.

    Parameters
    ----------
    shares : sequence of float
        Share of each domain.
    n : int
        Latents.
    n_shared : int
        Number of latents, the last ones, that do not change with the domain.

    Examples
    --------
    >>> prior = DomainGaussian([0.5, 0.5], 1)
    >>> round(prior(torch.zeros(1, 1), torch.tensor([1])).item(), 4)
    -0.9189

    References
    ----------
    Li et al. (2025), Synergy Between Sufficient Changes and Sparse Mixing Procedure, Equation 8, with an
    affine map, arXiv:2503.00639; Kong et al. (2022), Partial disentanglement for domain adaptation (blocks
    that do not change).
    """

    started: tuple[str, ...] = ("mean", "log_scale")  # parameters that `start` sets

    def __init__(self, shares: Any, n: int, n_shared: int = 0) -> None:
        super().__init__()
        self.shares = tuple(float(share) for share in shares)
        self.n_changing = n - n_shared
        self.mean = nn.Parameter(torch.zeros(len(self.shares), self.n_changing))
        self.log_scale = nn.Parameter(torch.zeros(len(self.shares), self.n_changing))

    def moments(self) -> tuple[Float[Tensor, "u z"], Float[Tensor, "u z"]]:
        """Return means and log scales of the latents that change, of pooled mean 0 and variance 1."""
        weight = self.mean.new_tensor(self.shares)[:, None]
        log_scale = self.log_scale.clamp(*_LOG_SCALE)
        centred = self.mean - (weight * self.mean).sum(0)
        variance = (weight * (centred.square() + (2 * log_scale).exp())).sum(0)
        return centred * variance.rsqrt(), log_scale - 0.5 * variance.log()

    def standard(
        self, z: Float[Tensor, "n z"], u: Int[Tensor, " n"]
    ) -> tuple[Float[Tensor, "n z"], Float[Tensor, "n z"]]:
        """Return (z - m(u)) / s(u) and the log derivative."""
        mean, log_scale = (F.pad(value, (0, z.shape[1] - self.n_changing)) for value in self.moments())
        return (z - mean[u]) * torch.exp(-log_scale[u]), -log_scale[u]

    def forward(self, z: Float[Tensor, "n z"], u: Int[Tensor, " n"]) -> Float[Tensor, " n"]:
        """Return log p(z|u) of each sample, Equation 8."""
        e, log_slope = self.standard(z, u)
        return (-0.5 * e.square() - 0.5 * math.log(2 * math.pi) + log_slope).sum(1)

    def _of(self, values: Float[Tensor, "u z k"], u: Int[Tensor, " n"]) -> Float[Tensor, "n z k"]:
        """Return parameters of each sample's domain; those of shared latents are the first domain's."""
        shared = values[:1, self.n_changing :].expand(len(u), -1, -1)
        return torch.cat([values[u, : self.n_changing], shared], dim=1)

    @torch.no_grad()
    def start(self, z: Float[Tensor, "n z"], u: Int[Tensor, " n"]) -> None:
        """Start at the moments of a code."""
        codes = z[:, : self.n_changing]
        for domain in range(len(self.shares)):
            own = codes[u == domain]
            self.mean[domain], self.log_scale[domain] = own.mean(0), (own.std(0) + 1e-6).log()


class DomainCorrelated(DomainGaussian):
    """Normal latents that depend on each other in one way in all domains: covariances S(u) R S(u).

    Means and scales S change with the domain, the correlations R do not. Then changes still tell latents
    apart: turned ones would have correlations that differ between domains.

    Examples
    --------
    >>> prior = DomainCorrelated([0.5, 0.5], 2)
    >>> z = torch.randn(4000, 1, generator=torch.Generator().manual_seed(0)) * torch.tensor([[1.0, -1.0]])
    >>> z = z + torch.randn(4000, 2, generator=torch.Generator().manual_seed(1))
    >>> prior.start(z, torch.arange(4000) % 2)
    >>> prior.correlations().round(decimals=1)
    tensor([-0.5000])

    References
    ----------
    The dependence is ours; Li et al. (2025), Equation 8, have independent latents, arXiv:2503.00639.
    """

    started = ("mean", "log_scale", "coupling")

    def __init__(self, shares: Any, n: int, n_shared: int = 0) -> None:
        super().__init__(shares, n, n_shared)
        self.coupling = nn.Parameter(torch.zeros(n, n))  # below the diagonal

    def root(self) -> Float[Tensor, "z z"]:
        """Return a lower triangular matrix with rows of length 1, whose square is R."""
        root = torch.eye(self.coupling.shape[-1]).to(self.coupling) + self.coupling.tril(-1)
        return root / root.norm(dim=1, keepdim=True)

    @torch.no_grad()
    def correlations(self) -> Float[Tensor, " pairs"]:
        """Return the correlation within domains of each pair of latents."""
        root = self.root()
        return (root @ root.mT)[*torch.triu_indices(len(root), len(root), 1)]

    def forward(self, z: Float[Tensor, "n z"], u: Int[Tensor, " n"]) -> Float[Tensor, " n"]:
        """Return log p(z|u) of each sample."""
        e, log_slope = self.standard(z, u)
        root = self.root()
        white = torch.linalg.solve_triangular(root, e.mT, upper=False).mT
        volume = root.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        return (-0.5 * white.square() - 0.5 * math.log(2 * math.pi) + log_slope).sum(1) - volume

    @torch.no_grad()
    def start(self, z: Float[Tensor, "n z"], u: Int[Tensor, " n"]) -> None:
        """Start at the moments of a code, and at the correlations within domains."""
        super().start(z, u)
        e = self.standard(z, u)[0].double()
        shared = torch.corrcoef(e.T).reshape(e.shape[1], e.shape[1])
        factor = torch.linalg.cholesky(shared + 1e-6 * torch.eye(len(shared)).to(shared))
        self.coupling.copy_((factor / factor.diagonal()[:, None]).tril(-1))


class DomainSigmoidal(DomainGaussian):
    """A deep sigmoidal flow after the affine map: e = logit(sum_h w_h sigmoid(a_h t + b_h)), slopes positive.

    The parameters belong to each domain and latent, which is a linear hyper-network of the one-hot domain.
    Started as the identity on most of the line.

    Examples
    --------
    >>> prior = DomainSigmoidal([0.5, 0.5], 2)
    >>> t = torch.linspace(-2, 2, 5)[:, None].expand(5, 2)
    >>> e, log_slope = prior.standard(t, torch.zeros(5, dtype=torch.long))
    >>> bool((e.diff(dim=0) > 0).all())
    True

    References
    ----------
    Huang, Krueger, Lacoste and Courville (2018), Neural autoregressive flows, Equation 8, arXiv:1804.00779;
    Li et al. (2025), Equation 8, arXiv:2503.00639.
    """

    def __init__(self, shares: Any, n: int, n_shared: int = 0) -> None:
        super().__init__(shares, n, n_shared)
        shape = (len(self.shares), n, _UNITS)
        self.raw_slope = nn.Parameter(torch.full(shape, math.log(math.expm1(1.0))))
        self.offset = nn.Parameter(torch.linspace(-1.0, 1.0, _UNITS).expand(shape).clone())
        self.raw_weight = nn.Parameter(torch.zeros(shape))

    def standard(
        self, z: Float[Tensor, "n z"], u: Int[Tensor, " n"]
    ) -> tuple[Float[Tensor, "n z"], Float[Tensor, "n z"]]:
        """Return the flow and its log derivative, in logarithms throughout."""
        t, log_slope = super().standard(z, u)
        slope = self._of(F.softplus(self.raw_slope), u)
        inside = slope * t[..., None] + self._of(self.offset, u)
        log_weight = self._of(self.raw_weight.log_softmax(-1), u)
        above = torch.logsumexp(log_weight + F.logsigmoid(inside), -1)  # log Y
        below = torch.logsumexp(log_weight + F.logsigmoid(-inside), -1)  # log (1 - Y)
        steep = torch.logsumexp(log_weight + slope.log() + F.logsigmoid(inside) + F.logsigmoid(-inside), -1)
        # a logistic variable of variance 1 is close to a normal one
        ease = math.sqrt(3) / math.pi
        return ease * (above - below), log_slope + steep - above - below + math.log(ease)


class DomainSpline(DomainGaussian):
    """A monotone rational-quadratic spline after the affine map, the identity outside [-6, 6].

    References
    ----------
    Durkan, Bekasov, Murray and Papamakarios (2019), Neural spline flows, arXiv:1906.04032; Li et al. (2025),
    Equation 8, arXiv:2503.00639.
    """

    def __init__(self, shares: Any, n: int, n_shared: int = 0) -> None:
        super().__init__(shares, n, n_shared)
        try:
            from zuko.transforms import MonotonicRQSTransform
        except ImportError as error:
            raise ImportError('prior="spline" needs the extra `flows`: pip install "unmix[flows]"') from error
        self._spline = MonotonicRQSTransform
        shape = (len(self.shares), n, _UNITS)
        self.widths, self.heights = nn.Parameter(torch.zeros(shape)), nn.Parameter(torch.zeros(shape))
        self.slopes = nn.Parameter(torch.zeros(len(self.shares), n, _UNITS - 1))

    def standard(
        self, z: Float[Tensor, "n z"], u: Int[Tensor, " n"]
    ) -> tuple[Float[Tensor, "n z"], Float[Tensor, "n z"]]:
        """Return the spline and its log derivative."""
        t, log_slope = super().standard(z, u)
        knots = (self._of(values, u) for values in (self.widths, self.heights, self.slopes))
        spline = self._spline(*knots, bound=_BOUND)
        e, log_steep = spline.call_and_ladj(t)
        return e, log_slope + log_steep


KINDS: dict[str, type[DomainGaussian]] = {
    "gaussian": DomainGaussian,
    "correlated": DomainCorrelated,
    "sigmoidal": DomainSigmoidal,
    "spline": DomainSpline,
}
