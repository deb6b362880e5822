"""Directions in the latents of a frozen generator, told apart by what they change in its images."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from unmix._group import among, gathered, mine, of_some, whole

from ._likelihood import wide

SPARSE = (None, "latent", "dependency")
_LEAST = 0.5  # of a shift
_ALIKE = 0.95  # cosine above which a negative is hard
_TERMS, _SQUARINGS = 10, 6  # of a matrix exponential


class Navigator(nn.Module):
    """Orthonormal directions: the first columns of expm(M - M').

    Parameters
    ----------
    n_latents : int
        Of the generator.
    n_directions : int
        At most as many.

    Examples
    --------
    >>> directions = Navigator(6, 4)()
    >>> bool(torch.allclose(directions.mT @ directions, torch.eye(4), atol=1e-5))
    True

    References
    ----------
    Ren et al. (2022), Learning disentangled representation by exploiting pretrained generative models,
    Section 3.2, arXiv:2102.10543.
    """

    def __init__(self, n_latents: int, n_directions: int) -> None:
        super().__init__()
        self.free = nn.Parameter(torch.randn(n_latents, n_latents) / n_latents**0.5)
        self.n_directions = n_directions

    def forward(self) -> Float[Tensor, "w d"]:
        """Return the directions as columns."""
        with torch.autocast(self.free.device.type, enabled=False):
            return exponential(self.free - self.free.mT)[:, : self.n_directions]


def exponential(a: Float[Tensor, "w w"]) -> Float[Tensor, "w w"]:
    """Return exp(a) = (exp(a / 64))^64, by ten terms of its series and six squarings.

    Always the same products, so that nothing waits for the size of `a`: a step can be recorded.

    Examples
    --------
    >>> a = torch.tensor([[0.0, -1.0], [1.0, 0.0]])
    >>> bool(torch.allclose(exponential(a), torch.linalg.matrix_exp(a), atol=1e-5))
    True
    """
    small = a / 2**_SQUARINGS
    one = torch.eye(len(a), dtype=a.dtype, device=a.device)
    total = one
    for k in range(_TERMS, 0, -1):
        total = one + small @ total / k
    for _ in range(_SQUARINGS):
        total = total @ total
    return total


class Rendering(nn.Module):
    """The part of a generator that directions act on: of a style-based one that after its mapping network.

    It never trains: without dropout, and without grain.
    """

    def __init__(self, generator: nn.Module) -> None:
        super().__init__()
        self.generator = generator

    def train(self, mode: bool = True) -> "Rendering":
        """Stay as it is."""
        return super().train(False)  # type: ignore[return-value]

    def start(self, z: Float[Tensor, "n z"]) -> Float[Tensor, "n w"]:
        """Return where codes of the generator lie among the latents that directions act on."""
        mapping = getattr(self.generator, "mapping", None)
        return z if mapping is None else mapping(z)

    def forward(self, w: Float[Tensor, "n style"]) -> Float[Tensor, "n h w c"]:
        """Return images, pixels between 0 and 1."""
        synthesis: Any = getattr(self.generator, "synthesis", self.generator)
        return wide(synthesis(w)).clamp(0, 1)


class ReadBack(nn.Module):
    """From codes of an encoder to images: by least squares to the generator's latents, then the generator.

    Parameters
    ----------
    rendering : Rendering
    n_codes, n_latents : int
    """

    def __init__(self, rendering: Rendering, n_codes: int, n_latents: int) -> None:
        super().__init__()
        self.rendering = rendering
        self.linear = nn.Linear(n_codes, n_latents)

    def forward(self, z: Float[Tensor, "n k"]) -> Float[Tensor, "n h w c"]:
        """Return images of codes."""
        return self.rendering(self.linear(z))

    @torch.no_grad()
    def settle(self, codes: Float[Tensor, "n k"], w: Float[Tensor, "n w"], ridge: float = 1e-3) -> None:
        """Fit the map to codes of images whose latents are known."""
        centre, mean = codes.double().mean(0), w.double().mean(0)
        x = codes.double() - centre
        gram = x.mT @ x / len(x)
        damp = ridge * gram.diagonal().mean().clamp_min(1e-12) * torch.eye(len(gram), device=gram.device)
        weight = torch.linalg.solve(gram + damp, x.mT @ (w.double() - mean) / len(x)).mT
        self.linear.weight.copy_(weight)
        self.linear.bias.copy_(mean - weight @ centre)


class ContrastObjective(nn.Module):
    """Shifts along one direction change images alike, shifts along others in another way: so an encoder sees.

    A quarter of the batch are queries, a quarter positives, shifted along one direction, and half of it
    negatives, along others. The change of an image is v = |E(G(w + e a)) - E(G(w))|, at length 1. The terms
    are the binary cross-entropy of q v for positives and negatives, where a hard negative (q v > .95) is
    asked for no more than what it has; the entropy of softmax(q), so that a change is of one code; and where
    asked sparsity.

    Parameters
    ----------
    encoder : Module
        From images to as many codes as there are directions.
    navigator : Navigator
    decoder : ReadBack
        With the frozen generator.
    shift : float
        Standard deviation of shifts, in units of the latents.
    sparse : {None, "latent", "dependency"}
        Nothing; the L1 norm of codes; or the absolute change of pixels for each unit of the shift, summed
        over directions, an estimate of the generator's Jacobian along them.
    step : float, optional
        Length of one small shift more for the dependency, where the secants of the long shifts, which are
        rendered anyway, are not local enough.

    References
    ----------
    Ren et al. (2022), Eqs. (4) to (8), arXiv:2102.10543; Zheng et al. (2026), Table 1, arXiv:2604.17568.
    """

    def __init__(
        self,
        encoder: nn.Module,
        navigator: Navigator,
        decoder: ReadBack,
        *,
        shift: float = 1.0,
        sparse: str | None = None,
        step: float | None = None,
    ) -> None:
        super().__init__()
        self.encoder, self.navigator, self.decoder = encoder, navigator, decoder
        self.shift, self.sparse, self.step = shift, sparse, step

    def forward(self, w: Float[Tensor, "n w"], noise: Float[Tensor, "n 1"]) -> dict[str, Tensor]:
        """Return the terms; shifts are `noise`, directions are drawn."""
        batch = whole(len(w))
        n = batch // 4
        first = torch.randint(self.navigator.n_directions, (1,), device=w.device)
        others = torch.randint(1, self.navigator.n_directions, (batch - 2 * n,), device=w.device)
        numbers = torch.cat([first.expand(2 * n), (first + others) % self.navigator.n_directions])
        return self.terms(w, mine(numbers), self.shifts(noise[:, 0]))

    def terms(
        self, w: Float[Tensor, "n w"], numbers: Int[Tensor, " n"], shifts: Float[Tensor, " n"]
    ) -> dict[str, Tensor]:
        """Return the terms for shifts along numbered directions."""
        along = self.navigator()[:, numbers].mT
        before, after = self.decoder.rendering(w), self.decoder.rendering(w + shifts[:, None] * along)
        codes = wide(self.encoder(torch.cat([before, after])))
        change = gathered(F.normalize((codes[len(w) :] - codes[: len(w)]).abs(), dim=1, eps=1e-8))
        n = len(change) // 4
        query, positive, negative = change.split([n, n, len(change) - 2 * n])
        found = {
            "contrast": contrast(query @ positive.mT, query @ negative.detach().mT),
            "dominance": entropy(query),
        }
        if self.sparse == "latent":
            found["sparsity"] = codes.abs().sum(1).mean()
        if self.sparse == "dependency":
            found["sparsity"] = self._dependency(w, along, before, after, shifts)
        return found

    def shifts(self, noise: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
        """Return normal shifts, none shorter than .5 of 6 standard deviations, as published."""
        size = noise.abs().clamp_min(_LEAST / 6)
        return self.shift * torch.where(noise < 0, -size, size)

    def _dependency(self, w: Tensor, along: Tensor, before: Tensor, after: Tensor, shifts: Tensor) -> Tensor:
        if self.step is None:
            return self._secants(before, after, shifts)
        batch = whole(len(w))
        rows = range(batch - max(1, batch // 4), batch)
        with among(rows, w, along, before, shifts) as (w, along, before, shifts):
            after = self.decoder.rendering(w + self.step * along)
            found = self._secants(before, after, torch.full_like(shifts, self.step))
        return of_some(found, rows)

    def _secants(self, before: Tensor, after: Tensor, shifts: Tensor) -> Tensor:
        secants = (after - before).flatten(1).abs().mean(1) / shifts.abs()
        return self.navigator.n_directions * secants.mean()


def contrast(positive: Float[Tensor, "q p"], negative: Float[Tensor, "q k"]) -> Float[Tensor, ""]:
    """Binary cross-entropy of cosines as logits; hard negatives are asked for their own value.

    Examples
    --------
    >>> round(contrast(torch.ones(1, 1), torch.zeros(1, 1)).item(), 4) # (log(1 + 1 / e) + log 2) / 2
    0.5032
    """
    flipped = torch.where(negative > _ALIKE, negative, torch.zeros_like(negative)).detach()
    logits = torch.cat([positive, negative], 1)
    return F.binary_cross_entropy_with_logits(logits, torch.cat([torch.ones_like(positive), flipped], 1))


def entropy(query: Float[Tensor, "q k"]) -> Float[Tensor, ""]:
    """Mean entropy of softmax(q): least where one code stands out.

    Examples
    --------
    >>> round(entropy(torch.zeros(1, 2)).item(), 4)
    0.6931
    """
    share = torch.log_softmax(query, 1)
    return -(share.exp() * share).sum(1).mean()
