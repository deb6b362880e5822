"""The generators of the tables: EncDiff and DisCo, cut to what a budget affords.

What differs from the papers: fewer updates, with a learning rate that rises and falls over them, and smaller
networks. EncDiff runs on pixels, of which squares are channels of a U-Net at 16 x 16, instead of the latents
of a quantised autoencoder, which would be trained first, and lowers the error of the velocity, which teaches
the encoder sooner than that of the noise. On a GPU its matrices and kernels move by orthogonal steps. DisCo's
generator is trained on the same images before.
"""

from functools import partial
from typing import Any

from unmix.estimators import DisCo, EncDiff
from unmix.nn import leaky_encoder, style_discriminator, style_generator, unet
from unmix.penalties import dependency_sparsity, latent_sparsity

from .factor import DEPENDENCY, LATENT, NONE

ENCDIFF, DISCO = "EncDiff", "DisCo"
PENALTIES: dict[str, Any] = {
    NONE: None,
    LATENT: latent_sparsity,
    DEPENDENCY: partial(dependency_sparsity, columns=1, step=0.1, normalize="std"),
}
SPARSE = {NONE: None, LATENT: "latent", DEPENDENCY: "dependency"}
STEPS = {
    ENCDIFF: {"smoke": 2, "laptop": 2000, "gpu": 3000},
    DISCO: {"smoke": 2, "laptop": 2000, "gpu": 12_000},
}
DIFFUSION: dict[str, dict[str, Any]] = {
    "smoke": {
        "network": partial(unet, widths=(8, 8), n_blocks=1, attention=(1,), heads=2),
        "encoder": partial(leaky_encoder, widths=(4, 4), dense=(8,)),
        "batch_size": 16,
        "sampling_steps": 2,
    },
    "laptop": {
        "network": partial(unet, widths=(16, 32), n_blocks=1, attention=(1,), heads=4),
        "encoder": partial(leaky_encoder, widths=(16, 32, 64), dense=(128,)),
        "batch_size": 32,
        "lr": 1.5e-3,
        "ema": 0.995,
    },
    "gpu": {
        "network": partial(unet, widths=(64, 128, 128), n_blocks=1, attention=(0, 1, 2), heads=4),
        "encoder": partial(leaky_encoder, widths=(32, 64, 128, 128, 128)),
        "batch_size": 128,
        "lr": 1e-3,
        "matrix_lr": 0.005,
        "ema": 0.995,
        "precision": "bf16",
    },
}
CONTRAST: dict[str, dict[str, Any]] = {
    "smoke": {
        "encoder": partial(leaky_encoder, widths=(4, 4), dense=(8,)),
        "generator": partial(style_generator, widths=(8, 8, 8), style=24),
        "critic": partial(style_discriminator, widths=(8, 8, 8)),
        "batch_size": 16,
        "generator_steps": 1,
    },
    "laptop": {
        "encoder": partial(leaky_encoder, widths=(16, 32, 64), dense=(128,)),
        "generator": partial(style_generator, widths=(32, 32, 16), style=64),
        "critic": partial(style_discriminator, widths=(32, 32, 16)),
        "batch_size": 64,
        "generator_steps": 2000,
        "lr": 1e-3,
    },
    "gpu": {"generator_steps": 10_000, "lr": 5e-4, "precision": "bf16"},
}


def make(settings: dict[str, Any], n_factors: int, budget: str, **run: Any) -> Any:
    """Make the estimator that settings name.

    Parameters
    ----------
    settings : dict
        `model`, `latents`, `penalty` and its `weight`; of EncDiff what the penalty looks `through`,
        and the `target` of the loss.
    n_factors : int
        Not looked at: both models have as many latents as they are asked for.
    budget : {"smoke", "laptop", "gpu"}
    **run
        Device, checkpoint and seed. Beside a checkpoint, pictures are saved while the model trains.

    Returns
    -------
    estimator, not fitted
    """
    n, weight = settings["latents"], settings["weight"]
    steps = {"max_steps": STEPS[settings["model"]][budget], "max_iter": 10**6}
    kept = run.get("checkpoint")
    watched = {"samples": None if kept is None else kept.parent / "samples"}
    common: dict[str, Any] = steps | {"schedule": "one_cycle"} | watched | run
    if settings["model"] == ENCDIFF:
        penalty = {"penalty": PENALTIES[settings["penalty"]], "penalty_weight": weight}
        asked: dict[str, Any] = {"target": "velocity"}
        asked |= {name: settings[name] for name in ("through", "target") if name in settings}
        return EncDiff(n, **penalty, **asked, **DIFFUSION[budget], **common)
    sparse = {"sparse": SPARSE[settings["penalty"]], "sparse_weight": weight}
    return DisCo(n, **sparse, **CONTRAST[budget], **common)
