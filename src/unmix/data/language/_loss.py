"""What a reconstruction costs the model: its loss with activations replaced at a site."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ._model import LanguageModel
from ._sites import site_named, watched


class SplicedLosses(NamedTuple):
    """Mean next-token losses, in nats: as the model is, and with activations at a site replaced."""

    clean: float
    reconstructed: float
    zero: float
    mean: float


@torch.no_grad()
def spliced_losses(
    language: LanguageModel,
    site: str,
    windows: Any,
    reconstruct: Callable[[np.ndarray], np.ndarray],
    *,
    mean: np.ndarray,
    first: bool = True,
) -> SplicedLosses:
    """Return the losses of a model whose activations at a site are replaced.

    Parameters
    ----------
    language : LanguageModel
    site : str
    windows : integer array of shape (n_windows, length)
        Tokens.
    reconstruct : callable
        From activations of shape (n, n_features) to what takes their place.
    mean : array of shape (n_features,)
        For mean ablation.
    first : bool
        Leave the first position of each window, which mask rules leave out, as it is.

    Returns
    -------
    SplicedLosses
    """
    ids = torch.as_tensor(
        np.asarray(windows, dtype=np.int64), device=next(language.model.parameters()).device
    )
    at = site_named(site, language.n_blocks)
    centre = torch.as_tensor(np.asarray(mean), dtype=torch.float32, device=ids.device)

    def by_codes(x: Tensor) -> Tensor:
        flat = x.reshape(-1, x.shape[-1])
        return torch.as_tensor(np.asarray(reconstruct(flat.cpu().numpy()))).to(flat).view_as(x)

    def loss(replace: Callable[[Tensor], Tensor] | None) -> float:
        if replace is None:
            return float(language.model(input_ids=ids, labels=ids).loss)

        def put(x: Tensor) -> Tensor:
            made = replace(x)
            return torch.cat([x[:, :1], made[:, 1:]], dim=1) if first else made

        with watched(language.model, at, put):
            return float(language.model(input_ids=ids, labels=ids).loss)

    ways: tuple[Any, ...] = (None, by_codes, torch.zeros_like, lambda x: centre.to(x).expand_as(x))
    return SplicedLosses(*(loss(way) for way in ways))
