"""Forward-mode products without the noise of their first use."""

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch.autograd import forward_ad

__all__ = ["jvp"]


def jvp(f: Callable[[Any], Any], primals: tuple, tangents: tuple) -> tuple[Any, Any]:
    """`torch.func.jvp`, after PyTorch has loaded its forward-mode rules."""
    _load_rules()
    return torch.func.jvp(f, primals, tangents)[:2]


@cache
def _load_rules() -> None:
    # PyTorch's own rules use `torch.jit.script`, deprecated by PyTorch: its users cannot act on that warning
    with warnings.catch_warnings(), forward_ad.dual_level():
        warnings.simplefilter("ignore", DeprecationWarning)
        forward_ad.make_dual(torch.zeros(()), torch.zeros(()))
