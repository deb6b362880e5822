"""Sums over rows, which are all that independent component analysis asks of the data.

Each function takes one block of rows and returns double-precision tensors that add up over blocks: this is
what makes streaming, several machines and one array in memory the same computation.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor


class Contrast(NamedTuple):
    """A contrast G with its derivatives g = G' and g', and what they give for a Gaussian variable.

    `spread` is the standard deviation of g'(y) - g(y) y for a standard normal y once its part along
    y^2 - 1 is taken out, which whitening of the sample fixes.
    """

    value: Callable[[Tensor], Tensor]
    derivatives: Callable[[Tensor], tuple[Tensor, Tensor]]
    gaussian: float
    spread: float


def _log_cosh(y: Tensor) -> Tensor:
    size = y.abs()
    return size + torch.log1p(torch.exp(-2 * size)) - 0.6931471805599453


def _of_log_cosh(y: Tensor) -> tuple[Tensor, Tensor]:
    g = torch.tanh(y)
    return g, 1 - g.square()


def _of_exp(y: Tensor) -> tuple[Tensor, Tensor]:
    square = y.square()
    bell = torch.exp(-square / 2)
    return y * bell, (1 - square) * bell


def _of_cube(y: Tensor) -> tuple[Tensor, Tensor]:
    square = y.square()
    return y * square, 3 * square


CONTRASTS = {
    "logcosh": Contrast(_log_cosh, _of_log_cosh, 0.374567207491438, 0.3534672037421401),
    "exp": Contrast(lambda y: -torch.exp(-y.square() / 2), _of_exp, -(0.5**0.5), 0.5721453217405748),
    "cube": Contrast(lambda y: y.square().square() / 4, _of_cube, 0.75, 24**0.5),
}


def spread_sums(x: Float[Tensor, "n x"], shift: Float[Tensor, " x"]) -> tuple[Tensor, ...]:
    """Count rows, and sum them and their products in double precision, about a point near the mean."""
    left = x.double() - shift
    return left.new_full((1,), float(len(x))), left.sum(0), left.T @ left


def contrast_sums(
    x: Float[Tensor, "n x"], weights: Float[Tensor, "z x"], fun: str
) -> tuple[Float[Tensor, "z z"], Float[Tensor, " z"]]:
    """Sum g(y) y^T and g'(y) for y = weights x: all that both solvers need."""
    y = x @ weights.T
    if fun == "logcosh":  # the same as below with one array less, in the loop where all the time goes
        g = torch.tanh(y)
        cross = g.T @ y
        return cross.double(), len(y) - g.square_().sum(0).double()
    g, slope = CONTRASTS[fun].derivatives(y)
    return (g.T @ y).double(), slope.sum(0).double()


def shape_sums(
    x: Float[Tensor, "n x"], weights: Float[Tensor, "z x"], fun: str
) -> tuple[Float[Tensor, "m z"], Float[Tensor, "z z"], Float[Tensor, "z z"]]:
    """Sum what tells the shape of each component, and of pairs g'(y_i) y_j^2, which tells how curved the
    contrast is in their plane, and g'(y_i) g'(y_j), which tells how dependent they are.

    The rows of the first are G, g', g y, g^2, y^3, y^6, and q^2, q y^2, y^4 with q = g'(y) - g(y) y.
    """
    y = x @ weights.T
    contrast = CONTRASTS[fun]
    g, slope = contrast.derivatives(y)
    square, q = y.square(), slope - g * y
    cube = y * square
    shape = [contrast.value(y), slope, g * y, g.square(), cube, cube.square()]
    errors = [q.square(), q * square, square.square()]
    own = torch.stack([term.sum(0).double() for term in shape + errors])
    return own, (slope.T @ square).double(), (slope.T @ slope).double()
