"""FactorVAE and its penalties on the decoder: the published recipe, cut to what a budget affords.

What differs from Zheng et al. (2026), arXiv:2604.17568: fewer updates, with a learning rate that
rises and falls over them, and a weight of the penalty that grows over the first half of them. On the Shapes3D
twin, on a GPU, matrices and kernels move by orthogonal steps, which stand for many times as many of Adam's.
Networks are those of Locatello et al. (2019), arXiv:1811.12359. Dependency sparsity has the logarithmic form
that is the default of `DiverseDictionaryLearning`, in units of the codes' deviations; the paper's is L1.
"""

from functools import partial
from typing import Any

from unmix.estimators import FactorVAE
from unmix.nn import mlp, strided_decoder, strided_encoder
from unmix.penalties import dependency_sparsity, hessian_penalty, latent_sparsity, orojar
from unmix.training import warm_up

from .twins import TUNED_FOR

NONE, LATENT, DEPENDENCY, OROJAR, HESSIAN = "none", "latent", "dependency", "OroJAR", "Hessian penalty"
PENALTIES: dict[str, Any] = {
    NONE: None,
    LATENT: latent_sparsity,
    DEPENDENCY: partial(dependency_sparsity, columns=1, form="log", normalize="std", knee=0.05),
    OROJAR: partial(orojar, exact=False, step=0.1),
    HESSIAN: partial(hessian_penalty, exact=False, step=0.1),
}
STEPS = {"smoke": 2, "laptop": 3000, "gpu": 8000}
MATRICES = {"Shapes3D twin": 0.005}  # rates of orthogonal steps, on a GPU
CUT: dict[str, dict[str, Any]] = {
    "smoke": {
        "encoder": partial(strided_encoder, widths=(4, 4), dense=(8,)),
        "decoder": partial(strided_decoder, widths=(4, 4), dense=(8,)),
        "critic": partial(mlp, hidden=(8,)),
        "batch_size": 16,
    },
    "laptop": {"critic": partial(mlp, hidden=(200,) * 3, activation="leaky_relu")},
    "gpu": {},
}


def make(settings: dict[str, Any], n_factors: int, budget: str, **run: Any) -> FactorVAE:
    """Make the FactorVAE that settings name.

    Parameters
    ----------
    settings : dict
        `twin`, `penalty`, its `weight`, and `gamma`.
    n_factors : int
        Not used: there are ten latents.
    budget : {"smoke", "laptop", "gpu"}
    **run
        Device, checkpoint and seed.

    Returns
    -------
    estimator, not fitted
    """
    n_steps = STEPS[budget]
    given: dict[str, Any] = {
        "lr": 1e-3,
        "critic_lr": 1e-3,
        "gamma": settings["gamma"],
        "penalty": PENALTIES[settings["penalty"]],
        "penalty_weight": warm_up(settings["weight"], n_steps // 2),
        "max_steps": n_steps,
        "schedule": "one_cycle",
    }
    if budget == "gpu":
        given["matrix_lr"] = MATRICES.get(settings["twin"])
    dataset = TUNED_FOR.get(settings["twin"])
    return FactorVAE.preset("locatello2019", dataset=dataset, **(CUT[budget] | given | run))
