"""What a sparse autoencoder minimises: the error of few features, and what keeps the other features alive."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from unmix._group import added, current, each, of_all, smallest
from unmix.nn import (
    Active,
    Filled,
    batch_top_filled,
    batch_top_index,
    index_above,
    jump,
    jump_count,
    picked,
    top_filled,
    top_index,
    unit_rows,
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

    def coded(self, x: Float[Tensor, "n d"]) -> tuple[dict[str, Tensor], Active | Filled]:
        """Return the terms and the codes."""
        codes, sparsity = self._codes(x)
        decoder, centred = unit_rows(self.decoder), x - self.bias
        error, left = self._errors(codes, decoder, centred)
        self._watch(codes, len(x))
        terms = {"reconstruction": error}
        if self.recipe.n_auxiliary:
            terms["auxiliary"] = self._auxiliary(centred.detach(), left.detach(), decoder)
        return terms if sparsity is None else terms | {"sparsity": sparsity}, codes

    def weights(self, model: Any) -> dict[str, float]:
        """Return the weights of the terms, from the settings `auxiliary` and `sparsity`."""
        terms = {"auxiliary": self.recipe.n_auxiliary > 0, "sparsity": self.recipe.activation in _WEIGHED}
        return {name: float(getattr(model, name)) for name, there in terms.items() if there}

    def project(self) -> None:
        """Bring the rows of the dictionary back to unit length."""
        self.decoder.div_(self.decoder.norm(dim=1, keepdim=True).clamp_min_(1e-12))

    def _codes(self, x: Tensor) -> tuple[Active | Filled, Tensor | None]:
        """Return codes, and the sparsity term where there is one."""
        kind, k = self.recipe.activation, self.recipe.k
        if kind in ("topk", "batch_topk") and not self.recipe.dense:
            return self._few(x - self.bias), None
        with torch.autocast(x.device.type, enabled=False):  # E (x - b) = E x - E b, without a gradient of x
            shift = self.encoder_bias - self.encoder @ self.bias
        a = F.linear(x, self.encoder, shift)
        if kind == "topk":
            return top_filled(a, k), None
        if kind == "batch_topk":
            return self._batch_top(a), None
        if kind == "relu":
            codes = a.relu()
            return Filled(codes, codes), codes.float().sum(1).mean() / x.shape[1] ** 0.5
        threshold = self.log_threshold.exp()
        firing = jump_count(a.float(), threshold, self.recipe.width).sum(1).mean()
        codes = jump(a.float().relu(), threshold, self.recipe.width).to(a.dtype)
        return Filled(codes, codes), (of_all(firing) / k - 1).square()

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
        if not current().parted:
            return batch_top_index(a, self.recipe.k)
        return index_above(a, _least_kept(a, self.recipe.k))

    def _batch_top(self, a: Tensor) -> Filled:
        """Keep the largest entries of the batch, of all processes together."""
        if not current().parted:
            return batch_top_filled(a, self.recipe.k)
        codes = a.relu() * (a >= _least_kept(a, self.recipe.k))
        return Filled(codes, codes)

    def _errors(self, codes: Active | Filled, decoder: Tensor, centred: Tensor) -> tuple[Tensor, Tensor]:
        """Return the mean squared error, averaged over prefixes, and what all features leave over."""
        left, errors = centred, []
        ends = tuple(self.recipe.prefixes) or (len(decoder),)
        for low, high in zip((0, *ends), ends, strict=False):
            left = left - codes.added(decoder[low:high], low)
            errors.append(left.float().square().mean())
        return torch.stack(errors).mean(), left

    @torch.no_grad()
    def _watch(self, codes: Active | Filled, n: int) -> None:
        """Remember how long each feature was idle, and average the smallest activation that is kept."""
        fired = codes.fired(len(self.idle))
        if current().parted:
            n, (fired,) = _in_all(n), added(fired)
        self.idle.add_(n).mul_(fired == 0)
        self.n_steps.add_(1)
        if self.recipe.activation == "batch_topk":
            self._settle(torch.where(codes.values > 0, codes.values, torch.inf).amin().double())

    def _settle(self, least: Tensor) -> None:
        """Average the threshold from a step on; until then the last value counts."""
        least = smallest(least) if current().parted else least
        share = 1 / (self.n_steps - self.recipe.settle).clamp(1, self.recipe.memory)
        moved = self.threshold.lerp(least, share)
        self.threshold.copy_(torch.where(least.isfinite(), moved, self.threshold))

    def _auxiliary(self, centred: Tensor, left: Tensor, decoder: Tensor) -> Tensor:
        """Let dead features reconstruct what is left over; those that take part change from step to step.

        The share of it that they fail to explain, 0 where nobody is dead.
        """
        dead: Tensor = self.idle > self.recipe.dead_after
        if not dead.is_cuda and not dead.any():
            return left.new_zeros(())
        taken = min(self.recipe.n_auxiliary, len(dead))
        order = (torch.arange(len(dead), device=dead.device) + self.turn) % len(dead)
        chosen = torch.where(dead, order + len(dead), order).topk(taken).indices
        self.turn.add_(taken)
        encoder, decoder = (weight.index_select(0, chosen) for weight in (self.encoder, decoder))
        a = F.linear(centred, encoder, self.encoder_bias.index_select(0, chosen))
        codes = a.relu() * dead.index_select(0, chosen)
        error = (codes @ decoder - left).float().square().mean()
        return error / of_all(left.float().square().mean()).clamp_min(1e-12) * dead.any()


def _in_all(n: int) -> int:
    """Return the rows of the whole batch."""
    group = current()
    return group.n_rows or n * group.size


@torch.no_grad()
def _least_kept(a: Tensor, k: int) -> Tensor:
    """Return the smallest entry kept of a batch of which every process has a part."""
    n = _in_all(len(a))
    wanted = min(k * n, n * a.shape[1])
    most = min(wanted, -(-n // current().size) * a.shape[1])  # of one process
    found = a.flatten().topk(min(most, a.numel())).values
    mine = torch.cat([found, found.new_full((most - len(found),), -torch.inf)])
    return torch.cat(each(mine)).topk(wanted).values[-1]
