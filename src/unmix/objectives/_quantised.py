"""Codes out of a codebook: the nearest value, with gradients that pass straight through."""

from copy import deepcopy

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn
from torch.nn import functional as F

from ._likelihood import Penalty, mean_explained, wide
from ._vae import as_floats


class Codebook(nn.Module):
    """Values that latents may take: for each latent its own, or the same for all.

    Parameters
    ----------
    values : (latents, values, size) tensor
        With a first axis of 1 all latents share the values; with size 1 they are scalars.
    n_components : int
    """

    def __init__(self, values: Float[Tensor, "g k s"], n_components: int) -> None:
        super().__init__()
        self.codebook, self.n_components = nn.Parameter(values), n_components

    @property
    def values(self) -> Float[Tensor, "z k s"]:
        """The values of every latent."""
        return self.codebook.expand(self.n_components, -1, -1)

    @torch.no_grad()
    def nearest(self, z: Float[Tensor, "n z s"]) -> Int[Tensor, "n z"]:
        """Return the number of the value nearest to each code."""
        apart = torch.cdist(
            z.transpose(0, 1), self.values.to(z.dtype), compute_mode="donot_use_mm_for_euclid_dist"
        )
        return apart.argmin(2).T

    def picked(self, numbers: Int[Tensor, "n z"], values: Float[Tensor, "z k s"]) -> Float[Tensor, "n z s"]:
        """Return values by number: a product, whose gradient adds up alike at every run."""
        chosen = numbers[..., None] == torch.arange(values.shape[1], device=numbers.device)
        return torch.einsum("nzk,zks->nzs", chosen.to(values.dtype), values)

    def at(self, numbers: Float[Tensor, "n z"]) -> Float[Tensor, "n z s"]:
        """Return values by number; between two numbers along a smooth curve, beyond the ends along a line.

        At a number the curve has half the difference of its neighbours as slope, so that decoders of codes
        have a Jacobian.
        """
        values = self.values
        inner = (values[:, 2:] - values[:, :-2]) / 2
        slopes = torch.cat([values[:, 1:2] - values[:, :1], inner, values[:, -1:] - values[:, -2:-1]], 1)
        last = values.shape[1] - 1
        within = numbers.clamp(0, last)
        lower = within.detach().floor().clamp(max=last - 1).long()
        t = (within - lower)[..., None]
        ends = [self.picked(lower + k, part) for part in (values, slopes) for k in (0, 1)]
        hermite = (1 + 2 * t) * (1 - t) ** 2, t**2 * (3 - 2 * t), t * (1 - t) ** 2, t**2 * (t - 1)
        beyond = (numbers - within)[..., None]
        outer = self.picked((beyond[..., 0].detach() > 0).long() * last, slopes)
        return sum(h * end for h, end in zip(hermite, ends, strict=True)) + beyond * outer  # type: ignore[return-value]


class QuantisedEncoder(nn.Module):
    """A network, and the numbers of the values nearest to what it gives."""

    def __init__(self, network: nn.Module, book: Codebook) -> None:
        super().__init__()
        self.network, self.book = network, book

    def continuous(self, x: Float[Tensor, "n *x"]) -> Float[Tensor, "n z s"]:
        """Return what the network gives, latent by latent."""
        return wide(self.network(x)).unflatten(1, (self.book.n_components, -1))

    def forward(self, x: Float[Tensor, "n *x"]) -> Float[Tensor, "n z"]:
        """Return the numbers, as floats."""
        z = self.continuous(x)
        return self.book.nearest(z).to(z.dtype)


class QuantisedDecoder(nn.Module):
    """From the numbers of values to what a network makes of the values."""

    def __init__(self, book: Codebook, network: nn.Module) -> None:
        super().__init__()
        self.book, self.network = book, network

    def forward(self, numbers: Float[Tensor, "n z"]) -> Float[Tensor, "n *x"]:
        """Look the values up and decode them."""
        return self.network(self.book.at(numbers).flatten(1))


class QuantisedObjective(nn.Module):
    """Reconstruction from the nearest values, and the two terms that draw codes and values together.

    All are means over entries. Gradients of the reconstruction pass straight through to the encoder.

    Parameters
    ----------
    encoder : QuantisedEncoder
    decoder : QuantisedDecoder
        With the same codebook.
    loss, penalty
        As for `Objective`; the penalty is on the network from values to samples.

    References
    ----------
    van den Oord, Vinyals and Kavukcuoglu (2017), Neural discrete representation learning, Eq. (3),
    arXiv:1711.00937.
    """

    def __init__(
        self,
        encoder: QuantisedEncoder,
        decoder: QuantisedDecoder,
        *,
        loss: str = "squared",
        penalty: Penalty | None = None,
    ) -> None:
        super().__init__()
        self.encoder, self.decoder, self.loss, self.penalty = encoder, decoder, loss, penalty

    def forward(self, x: Shaped[Tensor, "n *x"], noise: Float[Tensor, "n z"]) -> dict[str, Tensor]:
        """Return the terms, unweighted."""
        x = as_floats(x)
        z = self.encoder.continuous(x)
        book = self.encoder.book
        found = book.picked(book.nearest(z), book.values)
        through = (z + (found - z).detach()).flatten(1)
        return mean_explained(self.decoder.network, through, x, self.loss, self.penalty) | {
            "quantisation": F.mse_loss(found, z.detach()),
            "commitment": F.mse_loss(z, found.detach()),
        }

    def part(self) -> None:
        """Give the decoder a codebook of its own, as a file keeps one for each network."""
        self.decoder.book = deepcopy(self.encoder.book)
