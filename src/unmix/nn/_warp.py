"""Increasing functions of single columns: units in which a table is read, and the way back."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Warp(nn.Module):
    """An increasing, piecewise linear function of each column, linear beyond its first and last knot.

    Parameters
    ----------
    n_columns, n_knots : int

    Attributes
    ----------
    knots, values : (x, k) tensors
        The knots of each column in rising order, and their values, which rise too.

    Examples
    --------
    >>> warp = Warp(1, 3).placed(torch.tensor([[0.0, 1.0, 2.0]]), torch.tensor([[0.0, 1.0, 4.0]]))
    >>> warp(torch.tensor([[-1.0], [0.5], [1.5], [3.0]])).T
    tensor([[-1.0000,  0.5000,  2.5000,  7.0000]])
    >>> warp.inverse()(torch.tensor([[7.0]]))
    tensor([[3.]])
    """

    knots: Tensor
    values: Tensor

    def __init__(self, n_columns: int, n_knots: int) -> None:
        super().__init__()
        straight = torch.arange(float(n_knots)).expand(n_columns, -1).clone()
        self.register_buffer("knots", straight)
        self.register_buffer("values", straight.clone())

    def placed(self, knots: Float[Tensor, "x k"], values: Float[Tensor, "x k"]) -> "Warp":
        """Return the function through these knots."""
        self.knots, self.values = knots.clone(), values.clone()
        return self

    def inverse(self) -> "Warp":
        """Return the function that leads back."""
        return Warp(*self.knots.shape).placed(self.values, self.knots)

    def forward(self, x: Float[Tensor, "*n x"]) -> Float[Tensor, "*n x"]:
        """Return the values."""
        column = torch.arange(len(self.knots), device=self.knots.device)
        piece = (x.unsqueeze(-1) > self.knots[:, 1:-1]).sum(-1)
        slope = self.values.diff(dim=1) / self.knots.diff(dim=1)
        return self.values[column, piece] + slope[column, piece] * (x - self.knots[column, piece])
