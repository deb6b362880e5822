"""The feed-forward block of a transformer, with given weights: its value and its derivative."""

from collections.abc import Callable
from functools import partial
from math import pi
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from ._activations import ACTIVATIONS

Function = Callable[[Tensor], Tensor]


def _gelu_tanh(x: Tensor) -> Tensor:
    return F.gelu(x, approximate="tanh")


def _gelu_tanh_slope(x: Tensor) -> Tensor:
    bent = torch.tanh((2 / pi) ** 0.5 * (x + 0.044715 * x**3))
    inner = (2 / pi) ** 0.5 * (1 + 0.134145 * x.square())
    return 0.5 * (1 + bent) + 0.5 * x * (1 - bent.square()) * inner


def _known(name: str) -> tuple[Function, Function]:
    module = ACTIVATIONS[name].module()
    return module, partial(ACTIVATIONS[name].derivative, module)


BENDS: dict[str, tuple[Function, Function]] = {
    **{name: _known(name) for name in ("relu", "gelu", "silu", "identity")},
    "gelu_tanh": (_gelu_tanh, _gelu_tanh_slope),
}
_NAMES = {
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "swish": "silu",
}


class Slopes(NamedTuple):
    """What multiplies the hidden units of the block in its derivative: through the gate, and beside it."""

    inner: Float[Tensor, "n hidden"]
    gate: Float[Tensor, "n hidden"] | None


class Feedforward(nn.Module):
    """f(x) = W_o a(W_i x + b_i) + b_o, or gated, f(x) = W_o (a(W_g x) * (W_i x)); weights are not trained.

    Parameters
    ----------
    w_in : array of shape (n_hidden, n_features)
    w_out : array of shape (n_outputs, n_hidden)
    w_gate : array of shape (n_hidden, n_features), optional
        Of a gated block.
    b_in, b_out : arrays, optional
    activation : {"relu", "gelu", "silu", "identity", "gelu_tanh"}

    Examples
    --------
    >>> block = Feedforward([[1.0, -1.0]], [[2.0], [0.0]], activation="relu")
    >>> block(torch.tensor([[3.0, 1.0]]))
    tensor([[4., 0.]])

    References
    ----------
    Shazeer (2020), GLU variants improve transformer, Eq. (6), arXiv:2002.05202.
    """

    w_in: Tensor
    w_out: Tensor
    w_gate: Tensor | None
    b_in: Tensor | None
    b_out: Tensor | None

    def __init__(
        self,
        w_in: Any,
        w_out: Any,
        *,
        w_gate: Any = None,
        b_in: Any = None,
        b_out: Any = None,
        activation: str = "gelu",
    ) -> None:
        super().__init__()
        self.activation = _NAMES.get(activation, activation)
        if self.activation not in BENDS:
            raise ValueError(f"`activation` must be one of {', '.join(BENDS)}, got {activation!r}.")
        given = {"w_in": w_in, "w_out": w_out, "w_gate": w_gate, "b_in": b_in, "b_out": b_out}
        for name, value in given.items():
            self.register_buffer(name, None if value is None else torch.as_tensor(value, dtype=torch.float32))
        self._check()

    @classmethod
    def of(cls, module: nn.Module, activation: str) -> "Feedforward":
        """Take the weights of a block of transformers: Llama's, GPT-2's or GPT-NeoX's."""
        found: dict[str, Any] = {n: part for n, part in module.named_children() if hasattr(part, "weight")}
        if {"gate_proj", "up_proj", "down_proj"} <= found.keys():
            gate, up, down = (found[f"{name}_proj"] for name in ("gate", "up", "down"))
            return cls(
                up.weight.detach(), down.weight.detach(), w_gate=gate.weight.detach(), activation=activation
            )
        for first, last, turned in (("c_fc", "c_proj", True), ("dense_h_to_4h", "dense_4h_to_h", False)):
            if {first, last} <= found.keys():
                weights = [found[name].weight.detach() for name in (first, last)]
                biases = {"b_in": found[first].bias.detach(), "b_out": found[last].bias.detach()}
                return cls(*(w.T if turned else w for w in weights), **biases, activation=activation)
        raise ValueError(
            f"`module` must be the block of a Llama, GPT-2 or GPT-NeoX model, got one with {sorted(found)}. "
            "Pass its weights to Feedforward."
        )

    def forward(self, x: Float[Tensor, "n d"]) -> Float[Tensor, "n out"]:
        """Return f(x)."""
        bend, _ = BENDS[self.activation]
        inner = F.linear(x, self.w_in, self.b_in)
        hidden = bend(inner) if self.w_gate is None else bend(F.linear(x, self.w_gate)) * inner
        return F.linear(hidden, self.w_out, self.b_out)

    def slopes(self, x: Float[Tensor, "n d"]) -> Slopes:
        """Return the diagonals of the derivative: f' = W_o (diag(inner) W_i + diag(gate) W_g)."""
        bend, slope = BENDS[self.activation]
        inner = F.linear(x, self.w_in, self.b_in)
        if self.w_gate is None:
            return Slopes(slope(inner), None)
        gate = F.linear(x, self.w_gate)
        return Slopes(bend(gate), slope(gate) * inner)

    def _check(self) -> None:
        hidden, d = self.w_in.shape
        shapes = {"w_out": (len(self.w_out), hidden), "w_gate": (hidden, d), "b_in": (hidden,)}
        shapes["b_out"] = (len(self.w_out),)
        for name, shape in shapes.items():
            value = getattr(self, name)
            if value is not None and tuple(value.shape) != shape:
                raise ValueError(f"`{name}` must have shape {shape}, got {tuple(value.shape)}.")


def feature_jacobian(
    encoder: Float[Tensor, "my out"],
    block: Feedforward,
    decoder: Float[Tensor, "mx d"],
    x: Float[Tensor, "n d"],
    active: tuple[Int[Tensor, "n ky"], Int[Tensor, "n kx"]],
) -> Float[Tensor, "n ky kx"]:
    """Return the derivative of output features by input features, for those that are active.

    Parameters
    ----------
    encoder : tensor of shape (n_output_features, n_outputs)
        Rows that read features of the output.
    block : Feedforward
    decoder : tensor of shape (n_input_features, n_features)
        Rows that write features of the input.
    x : tensor of shape (n, n_features)
        Where the slopes of the block are taken.
    active : pair of integer tensors of shapes (n, k_y) and (n, k_x)
        The active output features and input features of each row.

    Returns
    -------
    tensor of shape (n, k_y, k_x)

    Examples
    --------
    >>> block = Feedforward([[1.0, -1.0]], [[2.0], [0.0]], activation="relu")
    >>> each = torch.tensor([[0, 1]])
    >>> feature_jacobian(torch.eye(2), block, torch.eye(2), torch.tensor([[3.0, 1.0]]), (each, each))
    tensor([[[ 2., -2.],
             [ 0.,  0.]]])

    References
    ----------
    Farnik et al. (2025), Jacobian sparse autoencoders, Section 3, arXiv:2502.18147.
    """
    slopes = block.slopes(x)
    right = _through(decoder, block.w_in.T, active[1]) * slopes.inner[:, None]
    if slopes.gate is not None and block.w_gate is not None:
        right = right + _through(decoder, block.w_gate.T, active[1]) * slopes.gate[:, None]
    return _through(encoder, block.w_out, active[0]) @ right.transpose(1, 2)


def _through(rows: Tensor, matrix: Tensor, index: Tensor) -> Tensor:
    """Return `(rows @ matrix)[index]`, by the cheaper order."""
    flat = index.flatten()
    if len(flat) < len(rows):
        found = rows.index_select(0, flat) @ matrix
    else:
        found = (rows @ matrix).index_select(0, flat)
    return found.view(*index.shape, matrix.shape[1])
