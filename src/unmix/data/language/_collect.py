"""Texts through a model, and what is seen at a site, into a store."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unmix._untrusted import whole
from unmix.rows import ActivationStore
from unmix.training import device as chosen

from .._activations import MaskRule, Plan, Shard, write_store
from ._model import LanguageModel
from ._sites import Seen, Site, site_named, watched

_SHARD = 16_384  # tokens of a shard
_TOGETHER = 4096  # tokens that go through the model at a time


def collect_activations(
    language: LanguageModel,
    texts: Sequence[str | os.PathLike[str]],
    site: str,
    out: str | os.PathLike[str],
    *,
    window: int = 128,
    n_tokens: int | None = None,
    mask: MaskRule | None = None,
    dtype: str = "float16",
    device: str = "auto",
    verbose: bool | None = None,
) -> ActivationStore:
    """Run texts through a model and store the activations at a site; a killed run goes on where it stopped.

    Parameters
    ----------
    language : LanguageModel
    texts : sequence of path-like
        Text files. Each is cut into windows of its own.
    site : str
        For instance "blocks.15.hook_resid_pre"; `unmix.data.SITES` has all names.
    out : path-like
        The folder to make, or the one of a killed run.
    window : int
        Tokens that the model sees at a time.
    n_tokens : int, optional
        Stop after so many.
    mask : MaskRule, optional
        By default the first position of each window and norms over ten times the median are left out.
    dtype : {"float16", "float32"}
    device : {"auto", "cpu", "cuda"}
    verbose : bool, optional
        True for the time left, in lines; None for a bar where there is a terminal.

    Returns
    -------
    ActivationStore
    """
    place, at = chosen(device), site_named(site, language.n_blocks)
    at.module(language.model)
    if not isinstance(window, int) or window < 2:
        raise ValueError(f"`window` must be an integer of at least 2, got {window!r}.")
    contents = [_text(Path(text)) for text in texts]
    if not contents:
        raise ValueError("`texts` must name a text file, got none.")
    cuts = _windows([language.encode(text) for text in contents], window, n_tokens)
    model = language.model.to(place)
    per_shard = max(1, _SHARD // window)

    def shard(number: int) -> Shard:
        first = number * per_shard
        return _shard(model, at, cuts[first : first + per_shard], first, place)

    about = {
        "model": language.name,
        "model_sha256": language.sha256,
        "site": at.name,
        "texts": [Path(text).name for text in texts],
        "texts_sha256": hashlib.sha256("\0".join(contents).encode()).hexdigest()[:16],
        "window": window,
        "n_tokens": sum(map(len, cuts)),
    }
    tokenizer = language.tokenizer.to_str()
    plan = Plan(about, -(-len(cuts) // per_shard), shard, dtype, mask or MaskRule(), tokenizer)
    return write_store(plan, out, verbose=verbose)


def _text(file: Path) -> str:
    with whole(file, "text file in UTF-8"):
        return file.read_text(encoding="utf-8")


def _windows(documents: list[list[int]], window: int, n_tokens: int | None) -> list[list[int]]:
    """Cut documents into windows, as many as make up `n_tokens`."""
    cuts, left = [], n_tokens if n_tokens is not None else sum(map(len, documents))
    for tokens in documents:
        for start in range(0, len(tokens), window):
            part = tokens[start : min(start + window, start + left)]
            if part:
                cuts.append(part)
                left -= len(part)
    if not cuts:
        raise ValueError("`texts` must hold some tokens, got none. Check the files.")
    return cuts


@torch.no_grad()
def _shard(model: Any, site: Site, cuts: list[list[int]], first: int, place: torch.device) -> Shard:
    """Compute the activations of windows, those of equal length together."""
    found: list[np.ndarray] = []
    for group in _alike(cuts):
        ids = torch.tensor(group, device=place)
        found.append(_seen(model, site, ids).float().cpu().numpy().reshape(ids.numel(), -1))
    lengths = [len(cut) for cut in cuts]
    columns = {
        "token_ids": np.concatenate([np.asarray(cut, dtype=np.int32) for cut in cuts]),
        "position": np.concatenate([np.arange(n, dtype=np.int32) for n in lengths]),
        "document": np.repeat(np.arange(first, first + len(cuts), dtype=np.int32), lengths),
    }
    return Shard(np.concatenate(found), columns)


def _alike(cuts: list[list[int]]) -> list[list[list[int]]]:
    """Group neighbours of equal length, a few thousand tokens at a time."""
    groups: list[list[list[int]]] = []
    for cut in cuts:
        last = groups[-1] if groups else []
        if last and len(last[0]) == len(cut) and (len(last) + 1) * len(cut) <= _TOGETHER:
            last.append(cut)
        else:
            groups.append([cut])
    return groups


def _seen(model: Any, site: Site, ids: Tensor) -> Tensor:
    """Return the activations at a site; blocks behind it are not computed."""
    kept: list[Tensor] = []

    def keep(x: Tensor) -> None:
        kept.append(x)
        raise Seen

    try:
        with watched(model, site, keep):
            model(input_ids=ids, use_cache=False)
    except Seen:
        return kept[0]
    raise ValueError(f"`site` must be passed by the model, {site.name!r} was not.")
