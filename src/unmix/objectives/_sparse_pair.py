"""Two sparse autoencoders around a feed-forward block, and how many features of one move the other's."""

from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unmix._group import current, in_all
from unmix.nn import Active, Feedforward, Filled, feature_jacobian, unit_rows

from ._sparse_coder import SparseCoder

Codes = Active | Filled


class Units(NamedTuple):
    """The mean and the spread of inputs and outputs: training takes place in units of them."""

    mean: Tensor
    spread: float
    output_mean: Tensor
    output_spread: float


class SparsePair(nn.Module):
    """Codes of x and of y = f(x), and the L1 norm of the derivative of the one by the other.

    Parameters
    ----------
    coders : pair of SparseCoder
        With the activation "topk".
    block : Feedforward
        The map f, in the units of the data.
    units : Units
    n_jacobian : int
        Samples of each batch at which the derivative is taken.

    References
    ----------
    Farnik et al. (2025), Jacobian sparse autoencoders, Section 3, arXiv:2502.18147.
    """

    mean: Tensor
    output_mean: Tensor

    def __init__(
        self, coders: tuple[SparseCoder, SparseCoder], block: Feedforward, units: Units, n_jacobian: int
    ) -> None:
        super().__init__()
        self.input, self.output = coders
        self.block, self.n_jacobian = block, n_jacobian
        self.spreads = units.spread, units.output_spread
        self.register_buffer("mean", units.mean.float())
        self.register_buffer("output_mean", units.output_mean.float())

    def forward(self, x: Float[Tensor, "n d"]) -> dict[str, Tensor]:
        """Return the terms of a batch that is centred and of mean square 1."""
        y = self.mapped(x)
        of_input, codes = self.input.coded(x)
        of_output, output_codes = self.output.coded(y)
        terms = {"input": of_input["reconstruction"], "output": of_output["reconstruction"]}
        if "auxiliary" in of_input:
            terms["auxiliary"] = of_input["auxiliary"] + of_output["auxiliary"]
        if self.n_jacobian:
            terms["jacobian"] = self._jacobian(x, codes, output_codes)
        return terms

    @torch.no_grad()
    def mapped(self, x: Float[Tensor, "n d"]) -> Float[Tensor, "n e"]:
        """Return y = f(x), each in its units."""
        return (self.block(self._plain(x)).float() - self.output_mean) / self.spreads[1]

    def weights(self, model: Any) -> dict[str, float]:
        """Return the weights of the terms, from the settings `auxiliary` and `weight`."""
        there = {"auxiliary": self.input.recipe.n_auxiliary > 0, "jacobian": self.n_jacobian > 0}
        told = {"auxiliary": model.auxiliary, "jacobian": model.weight}
        return {name: float(told[name]) for name, known in there.items() if known}

    def project(self) -> None:
        """Bring the rows of both dictionaries back to unit length."""
        self.input.project()
        self.output.project()

    def _plain(self, x: Tensor) -> Tensor:
        return x * self.spreads[0] + self.mean

    def _jacobian(self, x: Tensor, codes: Codes, output_codes: Codes) -> Tensor:
        """Return the mean size of an entry of the derivative among active features."""
        group, k = current(), self.input.recipe.k
        n_all = min(self.n_jacobian, group.n_rows or len(x) * group.size if group.parted else len(x))
        n = len(range(group.rank, n_all, group.size)) if group.parted else n_all
        values, index = codes.first(n, k)
        output_values, output_index = output_codes.first(n, k)
        with torch.no_grad():
            plain = self._plain(x[:n])
        decoder, encoder = unit_rows(self.input.decoder), self.output.encoder
        found = feature_jacobian(encoder, self.block, decoder, plain, (output_index, index))
        there = (output_values > 0)[:, :, None] & (values > 0)[:, None]
        sizes = (found.float().abs() * there).sum((1, 2))
        size = in_all(sizes.sum() / n_all) if group.parted else sizes.mean()
        return size * (self.spreads[0] / self.spreads[1] / k**2)
