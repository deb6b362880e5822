"""What a sparse autoencoder minimises: the error of few features, and what keeps the other features alive."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from unmix.nn import (
    Active,
    batch_top_index,
    index_above,
    jump,
    jump_count,
    picked,
    top_index,
    unit_rows,
    written,
)

ACTIVATIONS = ("topk", "batch_topk", "jumprelu", "relu")
_WEIGHED = ("jumprelu", "relu")  # sparse by a weight


@dataclass(frozen=True)
class SparseRecipe:
    """How a coder is trained.

    Parameters
    ----------
    activation : {"topk", "batch_topk", "jumprelu", "relu"}
    k : int
        Active features of a sample: exactly ("topk"), on average ("batch_topk"), or as the goal ("jumprelu").
    prefixes : sequence of int
        Numbers of leading features that must reconstruct by themselves; the last is the number of all.
    n_auxiliary : int
        Dead features that share in what is left over; 0 for none.
    dead_after : float
        Samples without firing after which a feature counts as dead.
    settle, memory : int
        Steps before the threshold of "batch_topk" is averaged, and over which.
    width : float
        Of the kernel in the gradient of thresholds ("jumprelu").
    dense : bool
        Keep codes as dense tensors, as suits a GPU, also where few entries are active.
    shared : bool
        Whether the processes of a torch.distributed group have a part of each batch each.
    """

    activation: str = "topk"
    k: int = 32
    prefixes: Sequence[int] = ()
    n_auxiliary: int = 0
    dead_after: float = 1e7
    settle: int = 1000
    memory: int = 1000
    width: float = 0.05
    dense: bool = False
    shared: bool = False


class SparseCoder(nn.Module):
    """A dictionary with unit rows, and the encoder that finds the few of them which a sample is made of.

    The code is z = act(E (x - b) + e), the reconstruction D^T z + b.
    """

    idle: Tensor
    turn: Tensor
    threshold: Tensor
    n_steps: Tensor

    def __init__(self, n_features: int, n_components: int, recipe: SparseRecipe) -> None:
        super().__init__()
        self.recipe = recipe
        decoder = F.normalize(torch.randn(n_components, n_features), dim=1)
        self.decoder = nn.Parameter(decoder)
        self.encoder = nn.Parameter(decoder.clone())
        self.encoder_bias = nn.Parameter(torch.zeros(n_components))
        self.bias = nn.Parameter(torch.zeros(n_features))
        if recipe.activation == "jumprelu":
            self.log_threshold = nn.Parameter(torch.full((n_components,), 0.1).log())
        self.register_buffer("idle", torch.zeros(n_components, dtype=torch.float32))
        self.register_buffer("turn", torch.zeros((), dtype=torch.int64))
        self.register_buffer("threshold", torch.zeros((), dtype=torch.float64))
        self.register_buffer("n_steps", torch.zeros((), dtype=torch.float64))

    def forward(self, x: Float[Tensor, "n d"]) -> dict[str, Tensor]:
        """Return the terms of a batch that is centred and of mean square 1."""
        return self.coded(x)[0]

    def coded(self, x: Float[Tensor, "n d"]) -> tuple[dict[str, Tensor], Any]:
        """Return the terms, and the codes: dense or `Active`."""
        centred = x - self.bias
        codes, count = self._codes(centred)
        decoder = unit_rows(self.decoder)
        errors, left = self._errors(codes, decoder, centred)
        self._watch(codes, len(x))
        terms = {"reconstruction": errors}
        if self.recipe.n_auxiliary:
            terms["auxiliary"] = self._auxiliary(centred.detach(), left.detach(), decoder)
        if count is not None:
            terms["sparsity"] = count
        return terms, codes

    def weights(self, model: Any) -> dict[str, float]:
        """Return the weights of the terms, from the settings `auxiliary` and `sparsity`."""
        terms = {"auxiliary": self.recipe.n_auxiliary > 0, "sparsity": self.recipe.activation in _WEIGHED}
        return {name: float(getattr(model, name)) for name, there in terms.items() if there}

    def project(self) -> None:
        """Bring the rows of the dictionary back to unit length."""
        self.decoder.copy_(F.normalize(self.decoder, dim=1))

    def _codes(self, centred: Tensor) -> tuple[Any, Tensor | None]:
        """Return codes, and the sparsity term where there is one."""
        kind = self.recipe.activation
        if kind in ("topk", "batch_topk") and not self.recipe.dense:
            return self._few(centred), None
        a = F.linear(centred, self.encoder, self.encoder_bias)
        if kind == "topk":
            kept = a.topk(self.recipe.k, dim=1, sorted=False)
            return torch.zeros_like(a).scatter(1, kept.indices, kept.values.relu()), None
        if kind == "batch_topk":
            return self._batch_top(a), None
        if kind == "relu":
            codes = a.relu()
            return codes, codes.float().sum(1).mean() / centred.shape[1] ** 0.5
        threshold = self.log_threshold.exp()
        firing = jump_count(a.float(), threshold, self.recipe.width).sum(1).mean()
        codes = jump(a.float().relu(), threshold, self.recipe.width).to(a.dtype)
        return codes, (firing / self.recipe.k - 1).square()

    def _few(self, centred: Tensor) -> Active:
        """Return the codes as active entries."""
        with torch.no_grad():
            a = F.linear(centred, self.encoder, self.encoder_bias)
            chosen = self._chosen(a)
        values = picked(centred, (self.encoder, self.encoder_bias), a, chosen)
        return Active(chosen[0], values.relu(), chosen[1])

    def _chosen(self, a: Tensor) -> tuple[Tensor, Tensor]:
        if self.recipe.activation == "topk":
            return top_index(a, self.recipe.k)
        if not self.recipe.shared:
            return batch_top_index(a, self.recipe.k)
        return index_above(a, _least_kept(a, self.recipe.k))

    def _batch_top(self, a: Tensor) -> Tensor:
        """Keep the largest entries of the batch, in a dense tensor."""
        if self.recipe.shared:
            return a.relu() * (a >= _least_kept(a, self.recipe.k))
        flat = a.flatten()
        kept = flat.topk(min(self.recipe.k * len(a), flat.numel()), sorted=False)
        return torch.zeros_like(flat).scatter(0, kept.indices, kept.values.relu()).view_as(a)

    def _errors(self, codes: Any, decoder: Tensor, centred: Tensor) -> tuple[Tensor, Tensor]:
        """Return the mean squared error, averaged over prefixes, and what all features leave over."""
        ends = tuple(self.recipe.prefixes) or (len(decoder),)
        made, errors, left = torch.zeros_like(centred), [], centred
        for low, high in zip((0, *ends), ends, strict=False):
            made = made + _decoded(codes, decoder, low, high)
            left = centred - made
            errors.append(left.float().square().mean())
        return torch.stack(errors).mean(), left

    @torch.no_grad()
    def _watch(self, codes: Any, n: int) -> None:
        """Remember how long each feature was idle, and average the smallest activation that is kept."""
        sparse = isinstance(codes, Active)
        fired = codes.fired(len(self.idle)) if sparse else (codes > 0).sum(0)
        least = _smallest(codes.values if sparse else codes)
        if self.recipe.shared:
            fired, n = fired.contiguous(), n * dist.get_world_size()
            dist.all_reduce(fired)
            dist.all_reduce(least, dist.ReduceOp.MIN)
        self.idle.add_(n).mul_(fired == 0)
        self.n_steps.add_(1)
        if self.recipe.activation == "batch_topk":
            self._settle(least)

    def _settle(self, least: Tensor) -> None:
        """Average the threshold from a step on; until then the last value counts."""
        share = 1 / (self.n_steps - self.recipe.settle).clamp(1, self.recipe.memory)
        known = least.double().isfinite()
        self.threshold.copy_(torch.where(known, self.threshold.lerp(least.double(), share), self.threshold))

    def _auxiliary(self, centred: Tensor, left: Tensor, decoder: Tensor) -> Tensor:
        """Let dead features reconstruct what is left over; those that take part change from step to step.

        The share of it that they fail to explain, 0 where nobody is dead.
        """
        dead: Tensor = self.idle > self.recipe.dead_after
        if not dead.is_cuda and not dead.any():
            return left.new_zeros(())
        n, taken = self.recipe.n_auxiliary, min(2 * self.recipe.n_auxiliary, len(dead))
        order = (torch.arange(len(dead), device=dead.device) + self.turn) % len(dead)
        chosen = torch.where(dead, order + len(dead), order).topk(taken).indices
        self.turn.add_(taken)
        a = F.linear(centred, self.encoder[chosen], self.encoder_bias[chosen]).float()
        a = a.masked_fill(~dead[chosen], -torch.inf)
        kept = a.topk(min(n, taken), dim=1, sorted=False)
        codes = torch.zeros_like(a).scatter(1, kept.indices, kept.values.relu())
        error = (codes.to(decoder.dtype) @ decoder[chosen] - left).float().square().mean()
        return error / left.float().square().mean().clamp_min(1e-12) * dead.any()


def _decoded(codes: Any, decoder: Tensor, low: int, high: int) -> Tensor:
    if isinstance(codes, Active):
        whole = low == 0 and high == len(decoder)
        return written(codes if whole else codes.within(low, high), decoder)
    return codes[:, low:high] @ decoder[low:high]


def _smallest(values: Tensor) -> Tensor:
    """Return the smallest value above zero; infinity where there is none."""
    return torch.where(values > 0, values, torch.inf).amin().float()


@torch.no_grad()
def _least_kept(a: Tensor, k: int) -> Tensor:
    """Return the smallest entry kept of a batch of which every process has an equal part."""
    world = dist.get_world_size()
    count = min(k * len(a) * world, a.numel())
    mine = a.flatten().topk(count, sorted=False).values
    every = [torch.empty_like(mine) for _ in range(world)]
    dist.all_gather(every, mine)
    return torch.cat(every).topk(min(k * len(a) * world, world * count)).values[-1]
