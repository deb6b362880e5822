"""The models of the tables, by name: published recipes, cut to what a budget affords.

What differs from the papers: fewer updates, with a learning rate that rises and falls over them. Networks are
the strided convolutions of Locatello et al. (2019), arXiv:1811.12359, for all models. Those of Hsu et al.
(2023), arXiv:2305.18378, take five times as long and have rows of their own; at the budget of a laptop, where
updates are few, they move by orthogonal steps.
"""

from functools import partial
from typing import Any

from unmix.estimators import QLAE, VQVAE, Autoencoder, BetaTCVAE, BetaVAE, BioAE
from unmix.nn import conv_decoder, conv_encoder, strided_decoder, strided_encoder

from .twins import TUNED_FOR

AE, QUANTISED = "AE", ("VQ-VAE", "QLAE")
HSU: dict[str, Any] = {
    AE: Autoencoder,
    "beta-VAE": BetaVAE,
    "beta-TCVAE": BetaTCVAE,
    "BioAE": BioAE,
    "VQ-VAE": VQVAE,
    "QLAE": QLAE,
}
STEPS = {"smoke": 2, "laptop": 3000, "gpu": 4000}
LONG = {"smoke": 2, "laptop": 3000, "gpu": 5000}  # of the published networks
LONGER = {("AE", "Shapes3D twin"): 14_000, ("QLAE", "Shapes3D twin"): 12_000}  # on a GPU
TINY = {
    "encoder": partial(strided_encoder, widths=(4, 4), dense=(8,)),
    "decoder": partial(strided_decoder, widths=(4, 4), dense=(8,)),
    "batch_size": 16,
}
PLAIN = {"encoder": strided_encoder, "decoder": strided_decoder, "lr": 2e-3}
NETWORKS: dict[str, dict[str, Any]] = {
    "smoke": PLAIN | TINY,
    "laptop": PLAIN | {"batch_size": 64},
    "gpu": PLAIN,
}
PUBLISHED: dict[str, dict[str, Any]] = {
    "smoke": {
        "encoder": partial(conv_encoder, widths=(4, 4), dense=(8,)),
        "decoder": partial(conv_decoder, widths=(4, 4), dense=(8,)),
        "batch_size": 16,
    },
    "laptop": {
        "encoder": partial(conv_encoder, widths=(16, 32), dense=(128, 128)),
        "decoder": partial(conv_decoder, widths=(32, 16), dense=(128, 128)),
        "batch_size": 64,
        "matrix_lr": 0.005,
    },
    "gpu": {"precision": "bf16"},
}


def make(settings: dict[str, Any], n_factors: int, budget: str, **run: Any) -> Any:
    """Make the estimator that settings name.

    Parameters
    ----------
    settings : dict
        `model` and `twin`; `weight_decay` where it is not the published one, and `networks` where they are to
        be the published ones, and the `share` of the updates where it is not 1.
    n_factors : int
        There are twice as many latents.
    budget : {"smoke", "laptop", "gpu"}
    **run
        Device, checkpoint and seed.

    Returns
    -------
    estimator, not fitted
    """
    networks, steps = (PUBLISHED, LONG) if settings.get("networks") == "published" else (NETWORKS, STEPS)
    n_steps = steps[budget]
    if networks is PUBLISHED and budget == "gpu":
        n_steps = LONGER.get((settings["model"], settings["twin"]), n_steps)
    n_steps = round(n_steps * settings.get("share", 1.0))
    changes = {"n_components": 2 * n_factors, "max_steps": n_steps, "schedule": "one_cycle"}
    changes |= networks[budget] | {name: settings[name] for name in ("weight_decay",) if name in settings}
    dataset = TUNED_FOR.get(settings["twin"])
    return HSU[settings["model"]].preset("hsu2023", dataset=dataset, **(changes | run))
