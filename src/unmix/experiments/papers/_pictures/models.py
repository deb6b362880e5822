"""The models of the tables, by name: published recipes, cut to what a budget affords.

What differs from the papers: fewer updates, with a learning rate that rises and falls over them. Networks are
the strided convolutions of Locatello et al. (2019), arXiv:1811.12359, for all models. Those of Hsu et al.
(2023), arXiv:2305.18378, take five times as long and have rows of their own.
"""

from functools import partial
from typing import Any

from unmix.estimators import QLAE, VQVAE, Autoencoder, BetaTCVAE, BetaVAE, BioAE, FactorVAE
from unmix.nn import conv_decoder, conv_encoder, mlp, strided_decoder, strided_encoder
from unmix.penalties import dependency_sparsity, hessian_penalty, latent_sparsity, orojar

AE, QUANTISED = "AE", ("VQ-VAE", "QLAE")
HSU: dict[str, Any] = {
    AE: Autoencoder,
    "beta-VAE": BetaVAE,
    "beta-TCVAE": BetaTCVAE,
    "BioAE": BioAE,
    "VQ-VAE": VQVAE,
    "QLAE": QLAE,
}
FACTOR = "FactorVAE"
NONE, LATENT, DEPENDENCY, OROJAR, HESSIAN = "none", "latent", "dependency", "OroJAR", "Hessian penalty"
PENALTIES: dict[str, Any] = {
    NONE: None,
    LATENT: latent_sparsity,
    DEPENDENCY: partial(dependency_sparsity, columns=1),
    OROJAR: partial(orojar, exact=False, step=0.1),
    HESSIAN: partial(hessian_penalty, exact=False, step=0.1),
}
TUNED_FOR = {"Shapes3D twin": "shapes3d", "MPI3D twin": "mpi3d"}  # sets that recipes have settings for
STEPS = {
    "smoke": {AE: 2, FACTOR: 2},
    "laptop": {AE: 3000, FACTOR: 3000},
    "gpu": {AE: 12_000, FACTOR: 10_000},
}
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
    },
    "gpu": {"precision": "bf16"},
}
CRITICS: dict[str, dict[str, Any]] = {
    "smoke": TINY | {"critic": partial(mlp, hidden=(8,))},
    "laptop": {"critic": partial(mlp, hidden=(200,) * 3, activation="leaky_relu")},
    "gpu": {},
}


def make(settings: dict[str, Any], n_factors: int, budget: str, **run: Any) -> Any:
    """Make the estimator that settings name.

    Parameters
    ----------
    settings : dict
        `model` and `twin`; for FactorVAE `penalty`, its `weight` and `gamma`; of the others `weight_decay`,
        and `networks` where they are to be the published ones.
    n_factors : int
        Models of Hsu et al. have twice as many latents, FactorVAE has ten.
    budget : {"smoke", "laptop", "gpu"}
    **run
        Device, checkpoint and seed.

    Returns
    -------
    estimator, not fitted
    """
    name, tuned = settings["model"], TUNED_FOR.get(settings["twin"])
    steps = STEPS[budget][FACTOR if name == FACTOR else AE]
    common: dict[str, Any] = {"max_steps": steps, "schedule": "one_cycle"} | run
    if name == FACTOR:
        penalty = {"penalty": PENALTIES[settings["penalty"]], "penalty_weight": settings["weight"]}
        given = {"lr": 1e-3, "critic_lr": 1e-3, "gamma": settings["gamma"]} | penalty
        return FactorVAE.preset("locatello2019", dataset=tuned, **CRITICS[budget], **given, **common)
    networks = PUBLISHED if settings.get("networks") == "published" else NETWORKS
    changes = {"n_components": 2 * n_factors} | networks[budget]
    if "weight_decay" in settings:
        changes["weight_decay"] = settings["weight_decay"]
    return HSU[name].preset("hsu2023", dataset=tuned, **changes, **common)
