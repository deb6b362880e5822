"""Sparse codes: which features of a dictionary are active in a sample, and what they add up to.

On a GPU codes are dense tensors, mostly zero: multiplying them is faster there than gathering rows. On a CPU
only the active entries are kept, as rows of a compressed matrix, and a step costs little more than the
product that finds them.
"""

from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor


class Active(NamedTuple):
    """The active entries of codes, row after row: feature, value, and where each row begins."""

    feature: Int[Tensor, " entries"]
    values: Float[Tensor, " entries"]
    starts: Int[Tensor, " n"]

    def added(self, dictionary: Float[Tensor, "m d"], low: int = 0) -> Float[Tensor, "n d"]:
        """Return what the features from `low` on add up to, as many as the dictionary has rows."""
        feature, values = self.feature - low, self.values
        if low or len(dictionary) <= int(feature.max()):
            inside = (feature >= 0) & (feature < len(dictionary))
            feature, values = feature.clamp(0, len(dictionary) - 1), values * inside
        return F.embedding_bag(feature, dictionary, self.starts, per_sample_weights=values, mode="sum")

    def fired(self, n_features: int) -> Int[Tensor, " m"]:
        """Count the rows in which each feature is above zero."""
        return torch.bincount(self.feature[self.values > 0], minlength=n_features)

    def first(self, n: int, k: int) -> tuple[Float[Tensor, "n k"], Int[Tensor, "n k"]]:
        """Return values and features of the first rows, where each has k."""
        return self.values[: n * k].view(n, k).detach(), self.feature[: n * k].view(n, k)


class Filled(NamedTuple):
    """Codes as a dense tensor, mostly zero; where few were kept, also their values and features."""

    codes: Float[Tensor, "n m"]
    values: Float[Tensor, "..."]
    feature: Int[Tensor, "..."] | None = None

    def added(self, dictionary: Float[Tensor, "m d"], low: int = 0) -> Float[Tensor, "n d"]:
        """Return what the features from `low` on add up to, as many as the dictionary has rows."""
        return self.codes[:, low : low + len(dictionary)] @ dictionary

    def fired(self, n_features: int) -> Int[Tensor, " m"]:
        """Count the rows in which each feature is above zero."""
        if self.feature is None:
            return (self.codes > 0).sum(0)
        counts = torch.zeros(n_features, dtype=torch.int64, device=self.codes.device)
        return counts.index_add_(0, self.feature.flatten(), (self.values > 0).flatten().long())

    def first(self, n: int, k: int) -> tuple[Float[Tensor, "n k"], Int[Tensor, "n k"]]:
        """Return the k largest values, and their features, of the first rows."""
        found = self.codes[:n].detach().topk(k, dim=1, sorted=False)
        return found.values, found.indices


def top_filled(a: Float[Tensor, "n m"], k: int) -> Filled:
    """Keep the k largest entries of each row, where they are above zero."""
    kept = a.topk(k, dim=1, sorted=False)
    values = kept.values.relu()
    return Filled(torch.zeros_like(a).scatter_(1, kept.indices, values), values, kept.indices)


def batch_top_filled(a: Float[Tensor, "n m"], k: int) -> Filled:
    """Keep the largest entries of a batch, k for each row on average, where they are above zero."""
    flat = a.flatten()
    kept = flat.topk(min(k * len(a), len(flat)), sorted=False)
    values = kept.values.relu()
    codes = torch.zeros_like(flat).scatter_(0, kept.indices, values).view_as(a)
    return Filled(codes, values, kept.indices % a.shape[1])


def top_index(a: Float[Tensor, "n m"], k: int) -> tuple[Tensor, Tensor]:
    """Return features and row starts of the k largest entries of each row."""
    index = a.topk(k, dim=1, sorted=False).indices
    return index.flatten(), torch.arange(0, index.numel(), k, device=a.device)


def batch_top_index(a: Float[Tensor, "n m"], k: int) -> tuple[Tensor, Tensor]:
    """Return features and row starts of the largest entries of the whole batch, k for each row on average."""
    n, m = a.shape
    chosen = a.flatten().topk(min(k * n, n * m), sorted=False).indices.sort().values
    rows = torch.div(chosen, m, rounding_mode="floor")
    starts = torch.searchsorted(rows, torch.arange(n, device=a.device))
    return chosen - rows * m, starts


def index_above(a: Float[Tensor, "n m"], least: Float[Tensor, ""]) -> tuple[Tensor, Tensor]:
    """Return features and row starts of the entries that are not below a bound."""
    rows, index = (a >= least).nonzero(as_tuple=True)
    return index, torch.searchsorted(rows, torch.arange(len(a), device=a.device))


def picked(
    x: Float[Tensor, "n d"],
    layer: tuple[Float[Tensor, "m d"], Float[Tensor, " m"]],
    a: Float[Tensor, "n m"],
    chosen: tuple[Tensor, Tensor],
) -> Float[Tensor, " entries"]:
    """Return chosen entries of `a = x @ weight.T + bias`, with the gradient of those entries alone.

    Parameters
    ----------
    x : tensor of shape (n, d)
    layer : pair of tensors
        Weight and bias.
    a : tensor of shape (n, m)
        The product, computed without gradients.
    chosen : pair of tensors
        Features and row starts, as `top_index` gives them.
    """
    return _Picked.apply(x, *layer, a, *chosen)


def row_of_each(starts: Tensor, n_entries: int) -> Tensor:
    """Return the row of each entry."""
    place = torch.arange(n_entries, device=starts.device)
    return torch.searchsorted(starts, place, right=True) - 1


class _Picked(torch.autograd.Function):
    """Entries of a product that was computed already; backwards only their rows are touched."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, a: Tensor, index: Tensor, starts: Tensor
    ) -> Tensor:
        ctx.save_for_backward(x, weight, index, starts)
        return a[row_of_each(starts, len(index)), index]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        x, weight, index, starts = ctx.saved_tensors
        (gradient,) = gradients
        with torch.enable_grad():  # the gradient of a sum of rows is what adds up x by features
            rows = weight.detach().requires_grad_()
            summed = F.embedding_bag(index, rows, starts, per_sample_weights=gradient, mode="sum")
        of_bias = gradient.new_zeros(len(weight)).index_add_(0, index, gradient)
        return summed.detach(), torch.autograd.grad(summed, rows, x)[0], of_bias, None, None, None


class _UnitRows(torch.autograd.Function):
    """Rows that are of unit length already; what the gradient has along them is removed."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor) -> Tensor:
        ctx.save_for_backward(weight)
        return weight.view_as(weight)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:  # type: ignore[override]
        (weight,) = ctx.saved_tensors
        gradient = gradients[0]
        return gradient - (gradient * weight).sum(1, keepdim=True) * weight


def unit_rows(weight: Float[Tensor, "m d"]) -> Float[Tensor, "m d"]:
    """Return rows of unit length as they are, with the gradient along the sphere only.

    Examples
    --------
    >>> rows = torch.tensor([[1.0, 0.0]], requires_grad=True)
    >>> (unit_rows(rows) * torch.tensor([[3.0, 2.0]])).sum().backward()
    >>> rows.grad
    tensor([[0., 2.]])
    """
    return _UnitRows.apply(weight)


class _Jump(torch.autograd.Function):
    """The step at a threshold: z = a where a > t. Its derivative in t is a kernel of some width."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, threshold: Tensor, width: float) -> Tensor:
        ctx.save_for_backward(a, threshold)
        ctx.width = width
        return a * (a > threshold)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        a, threshold = ctx.saved_tensors
        gradient = gradients[0]
        near = ((a - threshold).abs() < ctx.width / 2) / ctx.width
        return gradient * (a > threshold), (-threshold * near * gradient).sum(0), None


class _Count(torch.autograd.Function):
    """Whether a > t, with the same kernel."""

    @staticmethod
    def forward(ctx: Any, a: Tensor, threshold: Tensor, width: float) -> Tensor:
        ctx.save_for_backward(a, threshold)
        ctx.width = width
        return (a > threshold).to(a.dtype)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        a, threshold = ctx.saved_tensors
        near = ((a - threshold).abs() < ctx.width / 2) / ctx.width
        return None, (-near * gradients[0]).sum(0), None


def jump(a: Float[Tensor, "n m"], threshold: Float[Tensor, " m"], width: float) -> Float[Tensor, "n m"]:
    """Return a where it is above the threshold of its feature, else 0 (JumpReLU).

    References
    ----------
    Rajamanoharan et al. (2024), Jumping ahead, Eqs. (11) and (12), arXiv:2407.14435.
    """
    return _Jump.apply(a, threshold, width)


def jump_count(a: Float[Tensor, "n m"], threshold: Float[Tensor, " m"], width: float) -> Float[Tensor, "n m"]:
    """Return 1 where a is above the threshold of its feature, else 0, with a gradient for the threshold."""
    return _Count.apply(a, threshold, width)
