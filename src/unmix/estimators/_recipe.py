"""How estimators of images are trained: the settings that they share, and published ones by name."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any

from torch import Tensor, nn

from unmix.nn import conv_decoder, conv_encoder, leaky_encoder, strided_decoder, strided_encoder, unet
from unmix.objectives import LOSSES
from unmix.training import Drawn, Noise, Pace, Trained, train_apart, train_restarts

_STEPS = 200_000
_HSU = {
    "encoder": conv_encoder,
    "decoder": conv_decoder,
    "loss": "bernoulli",
    "clip_value": 1.0,
    "schedule": "constant",
    "max_iter": _STEPS,  # passes: the steps end them before
    "max_steps": _STEPS,
    "batch_size": 128,
    "lr": 1e-3,
}
_LOCATELLO = {
    "n_components": 10,
    "encoder": strided_encoder,
    "decoder": strided_decoder,
    "loss": "bernoulli",
    "schedule": "constant",
    "max_iter": 300_000,
    "max_steps": 300_000,
    "batch_size": 64,
    "lr": 1e-4,
}
_YANG = {
    "n_components": 20,
    "space": "vq",
    "encoder": leaky_encoder,
    "network": partial(unet, dropout=0.1),
    "token_size": 32,
    "n_times": 1000,
    "sampling_steps": 200,
    "n_values": 2048,
    "code_size": 3,
    "space_steps": 100_000,  # of the autoencoder, which the paper takes as given; this number is ours
    "ema": 0.9999,
    "schedule": "constant",
    "max_iter": 300_000,
    "max_steps": 300_000,  # the paper gives a day of a V100
    "batch_size": 64,
    "lr": 1e-4,
}
_REN = {
    "n_components": 64,
    "encoder": leaky_encoder,
    "shift": 6.0,
    "schedule": "constant",
    "max_iter": 70_000,
    "max_steps": 70_000,
    "batch_size": 128,  # 32 queries, 32 positives, 64 negatives
    "lr": 1e-4,
}
_SETS = ("shapes3d", "mpi3d", "falcor3d", "isaac3d")
_LATENTS = {"n_components": (12, 14, 14, 18)}  # twice the sources

# estimator and recipe -> settings for any images, and those that differ between the sets of the paper
_RECIPES: dict[tuple[str, str], tuple[dict[str, Any], dict[str, tuple[Any, ...]]]] = {
    ("Autoencoder", "hsu2023"): (_HSU | {"weight_decay": 1e-3}, _LATENTS),
    ("BetaVAE", "hsu2023"): (_HSU, _LATENTS | {"beta": (3.0, 0.1, 10.0, 0.3)}),
    ("BetaTCVAE", "hsu2023"): (_HSU, _LATENTS | {"beta": (3.0, 0.3, 3.0, 1.0)}),
    ("BioAE", "hsu2023"): (_HSU | {"weight_decay": 1e-4}, _LATENTS | {"activity": (0.01, 0.01, 0.01, 0.1)}),
    ("VQVAE", "hsu2023"): (_HSU, _LATENTS),
    ("QLAE", "hsu2023"): (_HSU, _LATENTS | {"weight_decay": (0.1, 0.001, 0.1, 0.1)}),
    ("FactorVAE", "locatello2019"): (_LOCATELLO, {"gamma": (40.0, 10.0, 10.0, 10.0)}),
    ("BetaVAE", "locatello2019"): (_LOCATELLO | {"beta": 4.0}, {}),
    ("BetaTCVAE", "locatello2019"): (_LOCATELLO | {"beta": 4.0}, {}),
    ("EncDiff", "yang2024"): (_YANG, {}),
    ("DisCo", "ren2022"): (_REN, {}),
}


def published(kind: str, name: str, dataset: str | None) -> dict[str, Any]:
    """Return the settings of a recipe; those of Shapes3D where no set is named that it was tuned for.

    Examples
    --------
    >>> published("QLAE", "hsu2023", "mpi3d")["weight_decay"]
    0.001
    """
    if (kind, name) not in _RECIPES:
        known = [recipe for of, recipe in _RECIPES if of == kind]
        raise ValueError(
            f"`name` must be a recipe of {kind} among {known}, got {name!r}. Choose one of them."
        )
    if dataset is not None and dataset not in _SETS:
        raise ValueError(f"`dataset` must be None or one of {_SETS}, got {dataset!r}. Use None for others.")
    settings, differing = _RECIPES[kind, name]
    place = 0 if dataset is None else _SETS.index(dataset)
    return settings | {setting: values[place] for setting, values in differing.items()}


def paced(model: Any, pace: Pace) -> Pace:
    """Return the pace with what estimators of images ask for beside it."""
    asked = ("max_steps", "schedule", "weight_decay", "clip_value", "matrix_lr", "precision")
    return replace(pace, **{name: getattr(model, name) for name in asked})


def with_penalty(model: Any, weights: Mapping[str, Any]) -> dict[str, Any]:
    """Return the weights of terms, and that of the penalty where there is one."""
    return dict(weights) | ({} if model.penalty is None else {"penalty": model.penalty_weight})


def trained_members(
    members: Sequence[nn.Module], weights: Mapping[str, Any], x: Any, pace: Pace, *, beside: Noise
) -> Trained:
    """Train members on tables as one batch, in rounds, and on images one after another."""
    images = isinstance(x, Drawn) or (isinstance(x, Tensor) and x.ndim > 2)
    return (train_apart if images else train_restarts)(members, weights, x, pace, beside=beside)


def kl_weight(model: Any) -> float:
    """Return the weight of the KL term: as asked, or what suits the loss."""
    asked = model.kl_weight
    return float({"squared": 0.005, "bernoulli": 1.0}[model.loss] if asked is None else asked)


def check_loss(model: Any, shape: Any) -> str:
    """Return the loss, if data of this shape can have it."""
    if model.loss not in LOSSES:
        raise ValueError(f"`loss` must be one of {LOSSES}, got {model.loss!r}. Choose one of these.")
    if model.loss == "bernoulli" and isinstance(shape, int):
        raise ValueError("`loss` must be 'squared' for tables, got 'bernoulli'. It is for pixels in [0, 1].")
    return model.loss


def check_values(value: Any, least: int = 2, name: str = "n_values") -> int:
    """Return a count, if it is one."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"`{name}` must be an integer of at least {least}, got {value!r}.")
    return int(value)
