"""Where activations are taken: one table of names, and the modules of a model that they stand for."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

# One name for each place; after it what other programs call it. hidden_states.i of transformers is what block
# i reads, layers.i of sparsify what block i writes: hook_resid_post of i is hook_resid_pre of i + 1.
SITES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "blocks.{i}.hook_resid_pre": ("block", "input", ("hidden_states.{i}",)),
    "blocks.{i}.hook_resid_post": ("block", "output", ("layers.{i}", "model.layers.{i}")),
    "blocks.{i}.hook_mlp_in": ("mlp", "input", ("layers.{i}.mlp.input", "blocks.{i}.ln2.hook_normalized")),
    "blocks.{i}.hook_mlp_out": ("mlp", "output", ("layers.{i}.mlp", "model.layers.{i}.mlp")),
    "blocks.{i}.hook_attn_out": (
        "attention",
        "output",
        ("layers.{i}.self_attn", "model.layers.{i}.self_attn"),
    ),
}
_BLOCKS = ("model.layers", "transformer.h", "gpt_neox.layers", "model.decoder.layers")
_ATTENTION = ("self_attn", "attn", "attention")


@dataclass(frozen=True)
class Site:
    """A place in a model: of a block, its attention or its feed-forward part, the input or the output."""

    name: str
    block: int
    part: str
    side: str

    def module(self, model: nn.Module) -> nn.Module:
        """Return the module whose input or output it is."""
        block = blocks_of(model)[self.block]
        names = {"block": ("",), "mlp": ("mlp",), "attention": _ATTENTION}[self.part]
        for name in names:
            if not name or hasattr(block, name):
                return getattr(block, name) if name else block
        raise ValueError(
            f"`site` must exist in the model, its blocks have no part {self.part!r}, for {self.name!r}."
        )


def blocks_of(model: nn.Module) -> nn.ModuleList:
    """Return the blocks of a causal language model."""
    for path in _BLOCKS:
        found: Any = model
        for name in path.split("."):
            found = getattr(found, name, None)
        if isinstance(found, nn.ModuleList):
            return found
    raise ValueError(
        f"`model` must have its blocks under {', '.join(_BLOCKS)}, {type(model).__name__} has none of these."
    )


def site_named(name: str, n_blocks: int) -> Site:
    """Return the site of a name, which may be one of another program.

    Parameters
    ----------
    name : str
        For instance "blocks.15.hook_resid_pre", "hidden_states.15" or "layers.14": three names of one place.
    n_blocks : int
        Blocks of the model.

    Returns
    -------
    Site

    Examples
    --------
    >>> site_named("hidden_states.15", 30).name, site_named("layers.14", 30).name
    ('blocks.15.hook_resid_pre', 'blocks.14.hook_resid_post')
    """
    for own, (part, side, others) in SITES.items():
        for pattern in (own, *others):
            found = re.fullmatch(re.escape(pattern).replace(r"\{i\}", r"(\d+)"), name)
            if found:
                return _checked(own, int(found[1]), part, side, n_blocks)
    known = ", ".join(pattern.replace("{i}", "N") for pattern in SITES)
    raise ValueError(f"`site` must be one of {known}, got {name!r}. N counts from 0 to {n_blocks - 1}.")


def _checked(own: str, block: int, part: str, side: str, n_blocks: int) -> Site:
    if block >= n_blocks:
        raise ValueError(
            f"`site` must be of a block from 0 to {n_blocks - 1}, got {own.replace('{i}', str(block))!r}."
        )
    return Site(own.replace("{i}", str(block)), block, part, side)


class Seen(Exception):
    """Ends a pass through a model: what was asked for has been seen."""


@contextmanager
def watched(model: nn.Module, site: Site, use: Callable[[Tensor], Tensor | None]) -> Iterator[None]:
    """Call `use` with the activations at a site whenever the model runs; what it returns replaces them."""
    module = site.module(model)

    def before(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        name = next(iter(kwargs), "")
        put = use(args[0] if args else kwargs[name])
        if put is None:
            return None
        return ((put, *args[1:]), kwargs) if args else (args, kwargs | {name: put})

    def after(_: nn.Module, args: Any, found: Any) -> Any:
        put = use(found[0] if isinstance(found, tuple) else found)
        if put is None:
            return None
        return (put, *found[1:]) if isinstance(found, tuple) else put

    if site.side == "input":
        handle = module.register_forward_pre_hook(before, with_kwargs=True)
    else:
        handle = module.register_forward_hook(after)
    try:
        yield
    finally:
        handle.remove()
