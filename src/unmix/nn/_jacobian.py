"""Jacobians of batched functions: closed forms of perceptrons and convolutions, else by differentiation."""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.func import vjp, vmap
from torch.nn.modules.batchnorm import _BatchNorm

from ._closed import closed_jacobian, has_closed_form, width
from ._forward_mode import jvp
from ._tangents import has_tangent_rule, tangent_jacobian

__all__ = ["jacobian", "value_and_jacobian", "jvp_columns", "value_and_jvp_columns"]

Function = Callable[[Any], Any]
MODES = ("auto", "closed", "forward", "reverse")


def jacobian(
    f: Function, z: Float[Tensor, "n z"], *, mode: str = "auto", max_bytes: int = 2**28
) -> Float[Tensor, "n x z"]:
    """Jacobian of `f` at each sample, J[n, i, j] = d f_i(z_n) / d z_j.

    Parameters
    ----------
    f : callable
        Maps (n, z) to (n, x), each sample by itself; more output axes are flattened into x.
    z : (n, z) tensor
        Points at which to differentiate.
    mode : {"auto", "closed", "forward", "reverse"}
        "closed" multiplies the layers of a perceptron (see `mlp`, `residual_mlp`), or pushes all columns
        through those of a convolutional network (`conv_decoder`, `strided_decoder`), not in pieces;
        "forward" takes one Jacobian-vector product per input, "reverse" one vector-Jacobian product per
        output. "auto" takes the closed form where there is one, else the mode with fewer products.
    max_bytes : int
        Budget for the widest array of derivatives; larger batches are worked through in pieces.

    Returns
    -------
    (n, x, z) tensor
        Differentiable with respect to the parameters of `f` and to `z`.

    Examples
    --------
    >>> z = torch.tensor([[1., 2.], [3., 4.]])
    >>> jacobian(lambda z: torch.stack([z[:, 0] * z[:, 1], z[:, 1]], 1), z)
    tensor([[[2., 1.],
             [0., 1.]],
            [[4., 3.],
             [0., 1.]]])

    References
    ----------
    Zheng et al. (2026), Diverse dictionary learning, Definition 2 (the matrix whose support is the
    dependency structure), arXiv:2604.17568.
    """
    return value_and_jacobian(f, z, mode=mode, max_bytes=max_bytes)[1]


def value_and_jacobian(
    f: Function, z: Float[Tensor, "n z"], *, mode: str = "auto", max_bytes: int = 2**28
) -> tuple[Float[Tensor, "n ..."], Float[Tensor, "n x z"]]:
    """`f(z)` and its Jacobian from one pass, for losses that need both; arguments as for `jacobian`.

    Examples
    --------
    >>> f = nn.Linear(2, 3)
    >>> value, J = value_and_jacobian(f, torch.zeros(4, 2))
    >>> torch.equal(value, f(torch.zeros(4, 2))), torch.equal(J[0], f.weight)
    (True, True)
    """
    _check(f, z, mode)
    with torch.autocast(z.device.type, enabled=False):  # |J| near zero decides the support: full precision
        z = z.float() if z.dtype in (torch.float16, torch.bfloat16) else z
        backend, bytes_per_sample = _plan(f, z, mode)
        size = max(1, max_bytes // bytes_per_sample)
        if len(z) <= size:
            return backend(f, z)
        values, jacobians = zip(*(backend(f, part) for part in z.split(size)), strict=True)
        return torch.cat(values), torch.cat(jacobians)


def jvp_columns(
    f: Function, z: Float[Tensor, "n z"], columns: Int[Tensor, " k"], *, step: float | None = None
) -> Float[Tensor, "n x k"]:
    """Columns of the Jacobian, J[:, :, columns], at the price of k products instead of z.

    With a `step`, forward differences (f(z + step e_j) - f(z)) / step instead: no derivative of `f` is taken.

    Examples
    --------
    >>> z = torch.tensor([[1., 2.]])
    >>> jvp_columns(lambda z: z ** 2, z, torch.tensor([1]))
    tensor([[[0.],
             [4.]]])
    >>> jvp_columns(lambda z: z ** 2, z, torch.tensor([1]), step=0.5)
    tensor([[[0.0000],
             [4.5000]]])
    """
    return value_and_jvp_columns(f, z, columns, step=step)[1]


def value_and_jvp_columns(
    f: Function, z: Float[Tensor, "n z"], columns: Int[Tensor, " k"], *, step: float | None = None
) -> tuple[Float[Tensor, "n ..."], Float[Tensor, "n x k"]]:
    """`f(z)` and columns of its Jacobian from one pass; arguments as for `jvp_columns`."""
    _check(f, z, "auto")
    with torch.autocast(z.device.type, enabled=False):
        z = z.float() if z.dtype in (torch.float16, torch.bfloat16) else z
        if step is not None:
            return _differences(f, z, columns, step)
        return (_closed(f) or _forward)(f, z, columns)


def _plan(f: Function, z: Tensor, mode: str) -> tuple[Callable, int]:
    """Choose the backend for `mode`, and count the bytes that one sample needs in it."""
    n_in = z.shape[1]
    if mode in ("auto", "closed") and has_closed_form(f):
        return closed_jacobian, n_in * width(f) * z.element_size()
    if mode in ("auto", "closed") and has_tangent_rule(f):
        return (
            tangent_jacobian,
            1,
        )  # in training, which keeps all for the reverse pass, pieces would save nothing
    with torch.no_grad():
        n_out = f(z[:1]).numel()
    reverse = mode == "reverse" or (mode == "auto" and n_out < n_in)
    return _reverse if reverse else _forward, max(1, n_in * n_out * z.element_size())


def _closed(f: Function) -> Callable | None:
    """Return the backend for a network with a rule of its own."""
    if has_closed_form(f):
        return closed_jacobian
    return tangent_jacobian if has_tangent_rule(f) else None


def _forward(
    f: Function, z: Float[Tensor, "n z"], columns: Int[Tensor, " k"] | None = None
) -> tuple[Float[Tensor, "n ..."], Float[Tensor, "n x k"]]:
    basis = torch.eye(z.shape[1], dtype=z.dtype, device=z.device)
    basis = basis if columns is None else basis[columns]

    def product(e: Tensor) -> tuple[Tensor, Tensor]:
        return jvp(f, (z,), (e.expand_as(z),))

    values, tangents = vmap(product)(basis)
    return values[0], tangents.flatten(2).permute(1, 2, 0)


def _differences(
    f: Function, z: Float[Tensor, "n z"], columns: Int[Tensor, " k"], step: float
) -> tuple[Float[Tensor, "n ..."], Float[Tensor, "n x k"]]:
    if step <= 0:
        raise ValueError(f"`step` must be positive or None, got {step}. Try a tenth of the latents' scale.")
    basis = torch.eye(z.shape[1], dtype=z.dtype, device=z.device)
    moved = z + step * basis[columns].unsqueeze(1)
    value, *values = f(torch.cat([z.unsqueeze(0), moved]).flatten(0, 1)).split(len(z))  # one call for all
    return value, (torch.stack(values, -1) - value.unsqueeze(-1)).flatten(1, -2) / step


def _reverse(f: Function, z: Float[Tensor, "n z"]) -> tuple[Float[Tensor, "n ..."], Float[Tensor, "n x z"]]:
    value, pull = vjp(f, z)[:2]
    n_out = value[0].numel()
    basis = torch.eye(n_out, dtype=value.dtype, device=value.device).reshape(n_out, *value.shape[1:])
    rows = vmap(lambda e: pull(e.expand_as(value))[0])(basis)
    return value, rows.transpose(0, 1)


def _check(f: Function, z: Tensor, mode: str) -> None:
    if mode not in MODES:
        raise ValueError(f"`mode` must be one of {MODES}, got {mode!r}. Choose one of these.")
    if z.ndim != 2:
        raise ValueError(f"`z` must have shape (n, z), got {tuple(z.shape)}. Add or flatten axes.")
    if mode == "closed" and _closed(f) is None:
        raise ValueError(
            "`f` must be a perceptron or convolutions with known activations for mode='closed', "
            f"got {type(f).__name__}. Use mode='auto'."
        )
    if isinstance(f, nn.Module) and any(isinstance(m, _BatchNorm) and m.training for m in f.modules()):
        raise ValueError(
            "`f` must treat each sample by itself, got a network with batch normalisation in training mode. "
            "Call `f.eval()` or use norm='layer'."
        )
