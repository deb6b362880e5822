"""A check that a user's own penalty is one that training can rely on."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from unmix.nn import mlp

__all__ = ["PenaltyReport", "check_penalty"]

Penalty = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class PenaltyReport:
    """What `check_penalty` found: true when nothing is wrong; `reasons` say what is."""

    holds: bool
    reasons: tuple[str, ...]

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return "holds: " + "; ".join(self.reasons) if self.holds else "fails: " + "; ".join(self.reasons)


def check_penalty(
    penalty: Penalty,
    decoder: nn.Module | None = None,
    z: Tensor | None = None,
    *,
    n_draws: int = 32,
    random_state: int = 0,
) -> PenaltyReport:
    """Check that `penalty(decoder, z)` is a finite scalar mean over the batch whose gradient is right.

    A random penalty is compared in expectation for the batch, and draw by draw for the gradient.

    Parameters
    ----------
    penalty : callable
        Takes a decoder and codes (n, z), returns a scalar tensor.
    decoder, z : optional
        Where to check it, in double precision; a small smooth perceptron and normal codes by default.
    n_draws : int
        Number of seeds over which a random penalty is averaged.
    random_state : int
        First of these seeds; the global random state is left as it was.

    Returns
    -------
    PenaltyReport
        Truthy when every check passes; its string says what to mend.

    Examples
    --------
    >>> from unmix.penalties import latent_sparsity
    >>> bool(check_penalty(latent_sparsity))
    True
    >>> print(check_penalty(lambda decoder, z: z.abs().sum()))
    fails: a batch given twice changes the value from 20.1 to 40.2: take the mean over the batch, not the sum
    """
    if not callable(penalty):
        raise TypeError(
            f"`penalty` must be callable, got {type(penalty).__name__}. Pass a function of (decoder, z)."
        )
    trial = _Trial(penalty, *_setting(decoder, z, random_state), random_state)
    wrong = tuple(_complaints(trial, n_draws))
    return PenaltyReport(
        not wrong, wrong or ("a finite scalar mean over the batch, with the right gradient",)
    )


@dataclass(frozen=True)
class _Trial:
    """A penalty, where to evaluate it, and the seed of its own draws."""

    penalty: Penalty
    decoder: Any
    z: Tensor
    seed: int

    def __call__(self, *, seed: int = 0, repeats: int = 1) -> Any:
        devices = [self.z.device] if self.z.is_cuda else []
        with torch.random.fork_rng(devices):
            torch.manual_seed(self.seed + seed)
            return self.penalty(self.decoder, self.z.repeat(repeats, 1))


def _setting(decoder: nn.Module | None, z: Tensor | None, seed: int) -> tuple[nn.Module, Tensor]:
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        decoder = mlp(4, 6, hidden=(8,), activation="tanh") if decoder is None else copy.deepcopy(decoder)
        z = torch.randn(6, 4) if z is None else z.detach().clone()
    return decoder.double(), z.double().requires_grad_()


def _complaints(trial: _Trial, n_draws: int) -> Iterator[str]:
    """Say what is wrong with the penalty; the first complaints make the later checks pointless."""
    value = trial()
    if not isinstance(value, Tensor) or value.ndim:
        got = f"shape {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
        yield f"the value must be a scalar tensor, got {got}: sum within a sample and average over the batch"
    elif not value.isfinite():
        yield f"the value is {value.item()}: guard logarithms, roots and divisions"
    elif any(value != trial() for _ in range(8)):  # few columns repeat by chance
        yield "the same global seed gives different values: leave `generator` unset for this check"
    else:
        yield from _batch_complaints(trial, n_draws)
        yield from _gradient_complaints(trial)


def _batch_complaints(trial: _Trial, n_draws: int) -> Iterator[str]:
    with torch.no_grad():
        once, twice = (
            torch.stack([trial(seed=s, repeats=r) for s in range(n_draws)]).double() for r in (1, 2)
        )
    noise = (once.var() / n_draws + twice.var() / n_draws).sqrt()
    if (once.mean() - twice.mean()).abs() > 1e-6 * once.abs().mean() + 5 * noise:
        yield (
            f"a batch given twice changes the value from {once.mean():.3g} to {twice.mean():.3g}: "
            "take the mean over the batch, not the sum"
        )


def _gradient_complaints(trial: _Trial, step: float = 1e-5) -> Iterator[str]:
    """Compare with central differences along the gradient's own sign, where no part can hide."""
    value = trial()
    inputs = [*trial.decoder.parameters(), trial.z]
    grads = torch.autograd.grad(value, inputs, allow_unused=True) if value.requires_grad else []
    pairs = [(p, g) for p, g in zip(inputs, grads, strict=False) if g is not None]
    # codes only for penalties of the codes: others may hold a scale of the codes constant on purpose
    pairs = pairs[:-1] if len(pairs) > 1 else pairs
    if not pairs:
        yield "the value has no gradient: do not detach, and compute with torch"
        return
    slope = torch.stack([g.abs().sum() for _, g in pairs]).sum()
    secant = (_moved(trial, pairs, step) - _moved(trial, pairs, -step)) / (2 * step)
    if not torch.isclose(slope, secant, rtol=1e-3, atol=1e-6):
        yield f"the gradient gives slope {slope:.4g}, differences give {secant:.4g}: check for detached parts"


def _moved(trial: _Trial, pairs: list[tuple[Tensor, Tensor]], step: float) -> Tensor:
    with torch.no_grad():
        for p, g in pairs:
            p += step * g.sign()
        value = trial()
        for p, g in pairs:
            p -= step * g.sign()
    return value
