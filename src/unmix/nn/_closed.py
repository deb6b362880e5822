"""The Jacobian of a perceptron as a product of its layers, without automatic differentiation.

A forward pass writes the network, at each sample, as a chain of factors: weights, slopes of activations, and
sums of two chains where branches meet. The Jacobian is their product, W_L D_{L-1} W_{L-1} ... D_1 W_1,
multiplied from whichever end is narrower. Rows are kept as (n, rows, width), so that each weight costs one
large matrix product, the first weight costs nothing, and slopes come from the same forward pass.
"""

from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from ._activations import ACTIVATIONS
from ._networks import ResidualMLP

__all__ = ["has_closed_form", "closed_jacobian", "width"]

DERIVATIVES = {type(a.module()): a.derivative for a in ACTIVATIONS.values()}


class Weight(NamedTuple):
    """Multiplication by a matrix that all samples share."""

    matrix: Float[Tensor, "out in"]


class Slope(NamedTuple):
    """Multiplication by a diagonal: one per sample, or one that all samples share."""

    diagonal: Float[Tensor, "*n width"]


class Sum(NamedTuple):
    """Two chains from the same input, added."""

    left: "Chain"
    right: "Chain"


Chain = list[Weight | Slope | Sum]


def has_closed_form(f: Any) -> bool:
    """Whether `f` is made of nothing but linear layers, known activations and the containers we can read."""
    if not isinstance(f, nn.Module) or f._forward_hooks or f._forward_pre_hooks:
        return False
    if is_plain(f, nn.Sequential) or is_plain(f, ResidualMLP):
        return all(has_closed_form(child) for child in f.children())
    if is_plain(f, nn.BatchNorm1d):
        return not f.training and f.running_var is not None
    return is_plain(f, nn.Linear) or is_known_activation(f)


def closed_jacobian(
    f: Any, z: Float[Tensor, "n z"], columns: Int[Tensor, " k"] | None = None
) -> tuple[Float[Tensor, "n x"], Float[Tensor, "n x k"]]:
    """Value of `f` and its Jacobian (or some of its columns), as the product of its factors."""
    value, chain = _linearise(f, z)
    if columns is not None:
        chain = _select(chain, columns)
    elif value.shape[1] < z.shape[1]:  # fewer rows to carry from the output side
        return value, _expand(_multiply(_transpose(chain)), value)
    return value, _expand(_multiply(chain), value).mT


def width(f: Any) -> int:
    """Width of the widest linear layer, which decides the memory of the closed form."""
    layers = (m for m in f.modules() if isinstance(m, nn.Linear))
    return max((max(m.in_features, m.out_features) for m in layers), default=1)


def _linearise(module: Any, a: Tensor) -> tuple[Tensor, Chain]:
    """Value of `module` at `a` and its derivative there as a chain of factors."""
    if isinstance(module, nn.Sequential):
        chain: Chain = []
        for layer in module:
            a, factors = _linearise(layer, a)
            chain += factors
        return a, chain
    if isinstance(module, ResidualMLP):
        (left, skip), (right, residual) = _linearise(module.linear, a), _linearise(module.residual, a)
        return left + right, [Sum(skip, residual)]
    if isinstance(module, nn.Linear):
        weight = module.weight  # read once: a parametrised weight is computed at each access
        return F.linear(a, weight, module.bias), [Weight(weight)]
    if isinstance(module, nn.BatchNorm1d):
        assert module.running_var is not None  # `has_closed_form` saw to it
        scale = torch.rsqrt(module.running_var + module.eps)
        return module(a), [Slope(scale if module.weight is None else scale * module.weight)]
    return module(a), [Slope(DERIVATIVES[type(module)](module, a))]


def _multiply(chain: Chain, rows: Tensor | None = None) -> Tensor:
    """Push row vectors through the chain, r -> r M_1' M_2' ...; the basis vectors when none are given."""
    for factor in chain:
        if isinstance(factor, Weight):
            rows = factor.matrix.mT if rows is None else _linear(rows, factor.matrix)
        elif isinstance(factor, Slope):
            diagonal = factor.diagonal
            rows = torch.diag_embed(diagonal) if rows is None else rows * diagonal.unsqueeze(-2)
        else:
            rows = _multiply(factor.left, rows) + _multiply(factor.right, rows)
    assert rows is not None  # a chain has at least one factor
    return rows


def _linear(rows: Tensor, matrix: Tensor) -> Tensor:
    """One product of two matrices: with batched weights under `vmap`, a broadcast one would copy them."""
    return F.linear(rows.flatten(0, -2), matrix).unflatten(0, rows.shape[:-1])


def _transpose(chain: Chain) -> Chain:
    """Factors of the transposed product."""
    return [_transpose_factor(factor) for factor in reversed(chain)]


def _transpose_factor(factor: Weight | Slope | Sum) -> Weight | Slope | Sum:
    if isinstance(factor, Weight):
        return Weight(factor.matrix.mT)
    return Sum(_transpose(factor.left), _transpose(factor.right)) if isinstance(factor, Sum) else factor


def _select(chain: Chain, columns: Tensor) -> Chain:
    """Factors of the chosen columns of the product."""
    first, *rest = chain
    if isinstance(first, Weight):
        return [Weight(first.matrix.index_select(1, columns)), *rest]
    if isinstance(first, Sum):
        return [Sum(_select(first.left, columns), _select(first.right, columns)), *rest]
    eye = torch.eye(first.diagonal.shape[-1], dtype=first.diagonal.dtype, device=first.diagonal.device)
    return [Weight(eye.index_select(1, columns)), *chain]


def _expand(rows: Tensor, value: Tensor) -> Tensor:
    """Repeat the derivative of a linear network, the same at every sample, along the batch."""
    return rows.expand(len(value), *rows.shape[-2:])


def is_plain(module: nn.Module, kind: Any) -> bool:
    """Instance of `kind` that also computes as `kind` does (parametrised layers are subclasses)."""
    return isinstance(module, kind) and type(module).forward is kind.forward


def is_known_activation(module: Any) -> bool:
    plain = not getattr(module, "inplace", False) and getattr(module, "approximate", "none") == "none"
    return type(module) in DERIVATIVES and plain
