"""The models of the tables, by name: published recipes, cut to what a budget affords.

What differs from the papers: fewer updates, with a learning rate that rises and falls over them, and one kind
of network for all models, the strided convolutions of Locatello et al. (2019), arXiv:1811.12359. Those of Hsu
et al. (2023), arXiv:2305.18378, take five times as long; and they normalise each image, so that the hues of
two surfaces are told by how they differ, which no rotation of codes takes apart.
"""

from functools import partial
from typing import Any

from unmix.estimators import QLAE, VQVAE, Autoencoder, BetaTCVAE, BetaVAE, BioAE, FactorVAE
from unmix.nn import mlp, strided_decoder, strided_encoder
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
        `model` and `twin`; for FactorVAE `penalty` and its `weight`; what else it names is changed.
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
    steps = round(STEPS[budget][FACTOR if name == FACTOR else AE] * settings.get("share", 1.0))
    common: dict[str, Any] = {"max_steps": steps, "schedule": "one_cycle"} | run
    if name == FACTOR:
        penalty = {"penalty": PENALTIES[settings["penalty"]], "penalty_weight": settings["weight"]}
        given = {"lr": 1e-3, "critic_lr": 1e-3, "gamma": settings["gamma"]} | penalty
        return FactorVAE.preset("locatello2019", dataset=tuned, **CRITICS[budget], **given, **common)
    changes = {"n_components": 2 * n_factors} | NETWORKS[budget]
    if "weight_decay" in settings:
        changes["weight_decay"] = settings["weight_decay"]
    return HSU[name].preset("hsu2023", dataset=tuned, **changes, **common)
