"""Every member of every family, listed by hand.

A new member adds one line here and is held to the whole contract of its family (`test_contracts.py`).
"""

from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from torch import nn

from unmix.data import degenerate_mixture, multi_domain, slots, sparse_mixing
from unmix.estimators import (
    CGVAE,
    IVAE,
    PDGMM,
    Autoencoder,
    BetaVAE,
    DiverseDictionaryLearning,
    FastICA,
    LabelledSparseAutoencoder,
    SlotAutoencoder,
    SparseBasis,
    VaDE,
)
from unmix.metrics import infomec, mcc, modularity_explicitness, r2, sap
from unmix.nn import mlp
from unmix.penalties import (
    compositional_contrast,
    dependency_sparsity,
    hessian_penalty,
    ima_contrast,
    latent_sparsity,
    orojar,
    perturbation_sparsity,
    slot_sparsity,
)
from unmix.structure import (
    Structure,
    anchor,
    complement_identity,
    dense,
    diverse,
    random_structure,
    ring,
    triangular,
)
from unmix.theory import (
    between,
    certify,
    certify_decoder,
    certify_domains,
    certify_mechanisms,
    certify_supports,
    explain,
    identify,
    nonlinearity,
    softmax_diversity,
    stability,
    sufficient_changes,
    triangular_alternative,
)


def modularity(z_true: Any, z_hat: Any) -> float:
    return modularity_explicitness(z_true, z_hat).modularity


def explicitness(z_true: Any, z_hat: Any) -> float:
    return modularity_explicitness(z_true, z_hat).explicitness


def info_explicitness(z_true: Any, z_hat: Any) -> float:
    return infomec(z_true, z_hat).explicitness


# (z_true, z_hat) -> float, at most 1, blind to order, sign and scale of codes
METRICS = (
    mcc,
    partial(mcc, method="spearman"),
    partial(mcc, method="nonlinear"),
    partial(mcc, held_out=True),
    r2,
    partial(r2, probe="kernel"),
    sap,
    modularity,
    explicitness,
    info_explicitness,
)

# (decoder, z) -> scalar
PENALTIES = (
    dependency_sparsity,
    partial(dependency_sparsity, form="group"),
    partial(dependency_sparsity, form="log"),
    partial(dependency_sparsity, form="group_log"),
    partial(dependency_sparsity, columns=2),
    partial(dependency_sparsity, step=0.1),
    partial(dependency_sparsity, normalize="std"),
    latent_sparsity,
    orojar,
    partial(orojar, exact=False),
    hessian_penalty,
    partial(hessian_penalty, step=0.1),
    partial(compositional_contrast, slots=2),
    partial(slot_sparsity, slots=2),
    partial(slot_sparsity, slots=2, union=True),
    ima_contrast,
    perturbation_sparsity,
)

# small and short: a contract is about behaviour, not about quality
ESTIMATORS = (
    Autoencoder(max_iter=5, random_state=0),
    BetaVAE(max_iter=5, random_state=0),
    DiverseDictionaryLearning(max_iter=5, n_restarts=2, random_state=0),
    PDGMM(max_iter=5, n_restarts=2, random_state=0),
    CGVAE(max_iter=5, n_restarts=2, random_state=0),
    IVAE(max_iter=5, random_state=0),
    SlotAutoencoder(max_iter=5, n_restarts=2, random_state=0),
    VaDE(max_iter=5, random_state=0),
    LabelledSparseAutoencoder(max_iter=5, random_state=0),
)

# without networks: settings, arrays and flags are all there is
TRANSFORMERS = (
    FastICA(random_state=0),
    SparseBasis(random_state=0),
    SparseBasis(solver="ransac", random_state=0),
    SparseBasis(solver="subspaces", random_state=0),
    SparseBasis(solver="lagrangian", max_iter=2, random_state=0),
)

# structure -> a truthy or falsy certificate with `reasons`, `to_dict` and a readable `str`
CONDITIONS = (
    certify,
    partial(certify, independent_latents=True),
    lambda structure: between(structure, [0], [1]).guarantees[0],
    lambda structure: nonlinearity(np.random.default_rng(0).normal(size=(50, *structure.shape)), structure),
    partial(certify_domains, n_domains=3),
    lambda structure: sufficient_changes(
        structure, z=np.random.default_rng(0).normal(size=(60, structure.n_latents)), u=np.arange(60) % 3
    ),
    lambda structure: certify_supports(structure.support),
    lambda structure: between(structure, [0], [1]),
    lambda structure: identify(structure, "(A | B) - C", A=[0], B=[1], C=[2]),
    triangular_alternative,
    partial(triangular_alternative, independent_latents=True),
    lambda structure: stability([structure, structure, Structure(np.ones(structure.shape))]),
    lambda structure: certify_decoder(np.random.default_rng(0).normal(size=(20, *structure.shape))),
    lambda structure: softmax_diversity(structure.support),
    lambda structure: certify_mechanisms(structure.support, structure.n_latents),
    explain,
    lambda structure: explain(structure, domains=3, jacobians=structure.support[None], a=[0], b=[1]),
)

# (n_samples, random_state=...) -> LatentDataset
GENERATORS = (
    partial(sparse_mixing, n_latents=3),
    partial(sparse_mixing, n_latents=4, profile="square"),
    partial(sparse_mixing, n_latents=3, profile="dense"),
    partial(sparse_mixing, n_latents=3, mixing="tanh", latents="uniform"),
    partial(sparse_mixing, n_latents=3, mixing="linear", latents="laplace"),
    partial(sparse_mixing, n_latents=3, latents="dependent", noise=0.1),
    partial(sparse_mixing, structure=Structure([[1, 1, 0], [0, 1, 1], [1, 0, 1], [0, 0, 1]])),
    multi_domain,
    partial(multi_domain, graph="B", n_domains=5, changes="variances", latents="laplace"),
    partial(multi_domain, graph="C", profile="square", n_domains=3, latents="logistic", mixing="tanh"),
    partial(multi_domain, graph="D", profile="dominant", changes="means", noise=0.1),
)

# the same, for latents that are mixtures: neither centred nor scaled, with labels, masks and a world
MIXTURES = (
    degenerate_mixture,
    partial(degenerate_mixture, profile="hard", n_latents=5),
    partial(degenerate_mixture, profile="linear", delta=2.0, mask_size=0.75),
    partial(degenerate_mixture, mask_size=1, theta=30.0, noise=0.1),
    partial(degenerate_mixture, scm_noise="exponential", activation="smooth"),
    partial(degenerate_mixture, scm_noise="gumbel", activation="sigmoid", n_layers=2),
    partial(degenerate_mixture, components="equal", n_latents=4),
    partial(degenerate_mixture, components="two bases"),
    partial(degenerate_mixture, components="full"),
    partial(degenerate_mixture, blocks=(1, 1, 1, 3, 4)),
)

# the same, for latents in slots that move the same observed variables: with a partition
SLOTS = (
    slots,
    partial(slots, n_slots=2, sizes=(1, 3), overlap=0.8),
    partial(slots, profile="cyclic", overlap=0.5, mixing="additive", latents="uniform"),
    partial(slots, profile="nested", n_rows=8, sizes=2, overlap=0.5, mixing="interacting"),
    partial(slots, supports=[[0, 1, 2, 3], [3, 4, 5], [5, 0]], sizes=(2, 2, 1), latents="reweighted"),
    partial(slots, n_slots=2, sizes=2, n_rows=6, latents="dependent", noise=0.1),
)

# () -> Structure
STRUCTURES = (
    partial(diverse, 6, 4, random_state=0),
    partial(dense, 4, 3),
    partial(ring, 4),
    partial(ring, 3, 6),
    partial(anchor, 6, 3, random_state=0),
    partial(triangular, 5, 3),
    partial(complement_identity, 4),
    partial(random_structure, 5, 4, density=0.5, such_that=Structure.is_injective, random_state=0),
)


class SmallNetwork:
    """A factory of quick networks; it prints alike in every process, so that test names agree."""

    def __call__(self, n_in: int, n_out: int) -> nn.Module:
        return mlp(n_in, n_out, hidden=(8,))

    def __repr__(self) -> str:
        return "small"


def quick(estimator: Any) -> Any:
    """Return an estimator like this one, without its informed starts and without its own networks."""
    small = {"encoder": SmallNetwork(), "decoder": SmallNetwork(), "n_restarts": 1}
    return clone(estimator).set_params(**small)


def label(member: object) -> str:
    """Name a member for the test report: a partial by its function and what it fixes."""
    if isinstance(member, partial):
        named = {k: getattr(v, "__name__", v) for k, v in member.keywords.items()}  # an address is no name
        fixed = [*map(str, member.args), *(f"{k}={v}" for k, v in named.items())]
        return f"{member.func.__name__}({', '.join(fixed)})".replace("\n", " ")
    return getattr(member, "__name__", type(member).__name__)


def every(family: tuple) -> pytest.MarkDecorator:
    """Run a test for each member of a family."""
    return pytest.mark.parametrize("member", family, ids=label)
