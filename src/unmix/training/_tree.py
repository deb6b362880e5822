"""Batches as trees: tensors in tuples, lists and dicts."""

from collections.abc import Callable
from typing import Any

from torch import Tensor


def mapped(f: Callable[[Tensor], Any], tree: Any) -> Any:
    """Return the tree with f of each of its tensors; anything else stays as it is.

    Examples
    --------
    >>> import torch
    >>> mapped(lambda tensor: tensor.item(), {"x": torch.tensor(1.5), "rest": (torch.tensor(2), "text")})
    {'x': 1.5, 'rest': (2, 'text')}
    """
    if isinstance(tree, Tensor):
        return f(tree)
    if isinstance(tree, dict):
        return {key: mapped(f, value) for key, value in tree.items()}
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(mapped(f, value) for value in tree))
    if isinstance(tree, list | tuple):
        return type(tree)(mapped(f, value) for value in tree)
    return tree


def leaves(tree: Any) -> list[Any]:
    """Return what a tree holds, in order: tensors, and anything that is no tuple, list or dict."""
    if isinstance(tree, dict):
        return [leaf for value in tree.values() for leaf in leaves(value)]
    if isinstance(tree, list | tuple):
        return [leaf for value in tree for leaf in leaves(value)]
    return [tree]
