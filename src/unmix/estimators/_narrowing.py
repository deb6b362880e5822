"""Wide codes made narrow: the few directions that move the reconstruction most, and a linear way back."""

from dataclasses import replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from unmix.nn import jacobian
from unmix.objectives import in_chunks
from unmix.training import Pace

WIDE_SHARE = 2 / 3  # of the training is spent on wide codes
_SAMPLES, _MOVED, _CHUNK = (
    8192,
    64,
    8,
)  # that tell how codes vary; at which slopes are taken, how many at once
_SLOWER = 0.5  # learning rate after narrowing, which is a good start


def narrow(encoder: nn.Module, decoder: nn.Module, wide: int, n: int) -> tuple[nn.Module, nn.Module]:
    """Put a linear map after a wide encoder and one before its decoder."""
    return nn.Sequential(encoder, nn.Linear(wide, n)), nn.Sequential(nn.Linear(n, wide), decoder)


def two_paces(pace: Pace, n_samples: int) -> tuple[Pace, Pace]:
    """Split the training into that of wide and that of narrow codes."""
    n_steps = pace.steps(n_samples)
    first = max(1, round(WIDE_SHARE * n_steps))
    return (
        replace(pace, max_steps=first, checkpoint=pace.folder("wide")),
        replace(
            pace, max_steps=max(1, n_steps - first), checkpoint=pace.folder("narrow"), lr=_SLOWER * pace.lr
        ),
    )


@torch.no_grad()
def start_narrow(member: Any, begun: Any, x: Any) -> None:
    """Let an objective with narrow codes go on from one with wide codes.

    With codes c and slopes J of the decoder, the directions that are kept are the leading principal ones of
    M^(1/2) c, where M = E[J'J]: along them codes vary and move what is decoded. The way back is the
    regression of wide codes on narrow ones.
    """
    before, first = member.encoder
    last, after = _network(member)
    before.load_state_dict(begun.encoder.state_dict())
    after.load_state_dict(_network(begun).state_dict())
    codes = in_chunks(begun.eval().encode, _some(x), 512)
    rows, back = _directions(codes.double(), _moved(begun.decoder, codes[:_MOVED]).double(), len(first.bias))
    centre = codes.double().mean(0)
    for layer, weight, bias in ((first, rows, -rows @ centre), (last, back, centre)):
        layer.weight.copy_(weight)
        layer.bias.copy_(bias)


def _some(x: Any) -> Tensor:
    """Return samples at random: images are often stored in the order of what is seen in them."""
    if not isinstance(x, Tensor):
        return x.head(_SAMPLES)[0]
    return x[torch.randperm(len(x), generator=torch.Generator().manual_seed(0))[:_SAMPLES].to(x.device)]


def _network(objective: Any) -> Any:
    """Return the decoder as it was made, without the sigmoid of its loss."""
    return objective.decoder if objective.loss == "squared" else objective.decoder[0]


def _directions(
    codes: Float[Tensor, "n z"], moved: Float[Tensor, "z z"], n_out: int
) -> tuple[Float[Tensor, "k z"], Float[Tensor, "z k"]]:
    """Return rows from wide to narrow codes of variance 1, and the matrix back."""
    root, centred = _root(moved), codes - codes.mean(0)
    variance, vectors = torch.linalg.eigh(root @ (centred.mT @ centred / len(codes)) @ root)
    chosen = slice(-n_out, None)
    rows = (root @ vectors[:, chosen] / variance[chosen].clamp_min(1e-12).sqrt()).mT
    return rows, torch.linalg.lstsq(centred @ rows.mT, centred).solution.mT


def _moved(decoder: nn.Module, codes: Float[Tensor, "n z"]) -> Float[Tensor, "z z"]:
    """Return E[J'J] of a decoder: how much directions of the code move what is decoded."""
    slopes = [jacobian(lambda z: decoder(z).flatten(1), part) for part in codes.split(_CHUNK)]
    return torch.stack([torch.einsum("nxi,nxj->ij", each, each) for each in slopes]).sum(0) / len(codes)


def _root(matrix: Float[Tensor, "z z"]) -> Float[Tensor, "z z"]:
    values, vectors = torch.linalg.eigh(matrix)
    return vectors * values.clamp_min(0).sqrt() @ vectors.mT
