"""Every member of every family.

A new member adds one line here and is held to the whole contract of its family (`test_contracts.py`). What is
public and stands in no family makes `test_repository.py` fail.
"""

import inspect
from collections.abc import Callable, Iterable
from functools import partial, wraps
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from torch import nn

from unmix.data import (
    avatars,
    balls,
    cars3d,
    degenerate_mixture,
    dsprites,
    mpi3d,
    multi_domain,
    shapes3d,
    slots,
    sparse_mixing,
)
from unmix.estimators import (
    CGGAN,
    CGVAE,
    GAN,
    IVAE,
    PDGMM,
    QLAE,
    VQVAE,
    Autoencoder,
    BetaTCVAE,
    BetaVAE,
    BioAE,
    DisCo,
    DiverseDictionaryLearning,
    EncDiff,
    FactorVAE,
    FastICA,
    JacobianSparseAutoencoder,
    LabelledSparseAutoencoder,
    SlotAutoencoder,
    SparseAutoencoder,
    SparseBasis,
    VaDE,
)
from unmix.metrics import (
    align,
    beta_vae_score,
    block_r2,
    concentration,
    convexity,
    cpdag,
    dci,
    dead_share,
    density,
    diameter,
    evaluate,
    explained_variance,
    factor_vae_score,
    feature_jacobian_sparsity,
    hoyer_sparsity,
    infomec,
    irs,
    l0,
    loss_recovered,
    match_components,
    mcc,
    mig,
    modularity_explicitness,
    r2,
    reconstruction_cosine,
    replicate,
    rotation_floor,
    rows_found,
    sap,
    score_codes,
    shd,
    slot_identifiability,
    structure_f1,
    structure_recovery,
    support_f1,
    udr,
)
from unmix.nn import conv_encoder, leaky_encoder, mlp, style_discriminator, style_generator, unet
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
    certify_components,
    certify_decoder,
    certify_domains,
    certify_mechanisms,
    certify_mixture,
    certify_pair,
    certify_supports,
    explain,
    factor_graph,
    finest_partition,
    generic_sparsity,
    ica_constant,
    ica_curvature,
    identify,
    isometric_constant,
    near_isometry_bound,
    nonlinearity,
    refitted_structures,
    resampled_structures,
    resolution,
    softmax_diversity,
    sparsity_gap,
    stability,
    sufficient_changes,
    tangent_factors,
    triangular_alternative,
    variables_needed,
    whitening_constants,
)


class SmallNetwork:
    """A factory of quick networks; it prints alike in every process, so that test names agree."""

    def __call__(self, n_in: int, n_out: int) -> nn.Module:
        return mlp(n_in, n_out, hidden=(8,))

    def __repr__(self) -> str:
        return "small"


def through(function: Callable, call: Callable, what: str = "") -> Callable:
    """Call a public function through an adapter, and keep its name for reports and completeness."""

    @wraps(function)
    def member(*args: Any) -> Any:
        return call(*args)

    member.__name__ = f"{function.__name__}({what})" if what else function.__name__
    return member


def field(function: Callable, name: str, **fixed: Any) -> Callable:
    """Read one number off what a function of two tables returns."""
    return through(function, lambda a, b: getattr(function(a, b, **fixed), name), name)


# (z_true, z_hat) -> float, at most 1, blind to order, sign and scale of codes
METRICS = (
    mcc,
    partial(mcc, method="spearman"),
    partial(mcc, method="nonlinear"),
    partial(mcc, held_out=True),
    through(match_components, lambda z, c: float(match_components(z, c).matched.mean())),
    through(evaluate, lambda z, c: evaluate(z, c, metrics="mcc", n_boot=3, random_state=0)["mcc"].value),
    through(rows_found, lambda z, c: rows_found(z, c, threshold=0.8) / np.shape(z)[1]),
    r2,
    partial(r2, probe="kernel"),
    through(block_r2, lambda z, c: float(block_r2(z, c, probe="linear").max(1).mean())),
    sap,
    mig,
    irs,
    field(modularity_explicitness, "modularity"),
    field(modularity_explicitness, "explicitness"),
    field(infomec, "modularity", prune=0),
    field(infomec, "compactness", prune=0),
    field(infomec, "explicitness"),
    field(dci, "disentanglement"),
    field(dci, "completeness"),
    field(dci, "informativeness"),
    slot_identifiability,
    partial(factor_vae_score, n_train=300, n_eval=300, batch_size=16, min_std=0),
    partial(beta_vae_score, n_train=300, n_eval=300, batch_size=16),
)

# (z1, z2) -> float, how far two runs are apart up to order and sign of codes: 0 where they agree
DISTANCES = (
    field(align, "permutation"),
    field(align, "ica"),
    through(replicate, lambda a, b: 1 - float(np.abs(replicate([a, b]).runs[0].correlation).mean())),
    through(udr, lambda a, b: 1 - udr([a, b], relation="lasso") / udr([a, a], relation="lasso")),
)

# z -> float, wherever the cloud lies
CLOUDS = (
    through(diameter, lambda z: diameter(z).value),
    through(convexity, lambda z: convexity(z).inside, "inside"),
    through(convexity, lambda z: convexity(z).detour, "detour"),
    partial(rotation_floor, n_draws=3, random_state=0),
)

# (graph, graph) -> how many edges differ
GRAPHS = (
    shd,
    partial(shd, reversal=2),
    partial(shd, compare="cpdag"),
    through(cpdag, lambda a, b: shd(cpdag(a), cpdag(b))),
)

# (pattern, pattern) -> share of ones that agree, up to the names of columns
PATTERNS = (
    support_f1,
    through(structure_f1, lambda a, b: structure_f1(Structure(a), Structure(b))),
    through(structure_recovery, lambda a, b: structure_recovery(Structure(a), Structure(b)).f1),
)

# two non-negative parts -> float: 0 for equal parts, 1 where the second is nothing
SPARSITIES = (
    hoyer_sparsity,
    through(concentration, lambda parts: concentration(*(0.5 + np.asarray(parts) / 2))),  # AUROCs
)

# (x, codes, x_hat) -> a score of sparse codes, whatever the order of rows and features
CODES = (
    through(explained_variance, lambda x, codes, x_hat: explained_variance(x, x_hat)),
    through(reconstruction_cosine, lambda x, codes, x_hat: reconstruction_cosine(x, x_hat)),
    through(l0, lambda x, codes, x_hat: l0(codes)),
    through(density, lambda x, codes, x_hat: float(density(codes).max())),
    through(dead_share, lambda x, codes, x_hat: dead_share(codes)),
    through(score_codes, lambda x, codes, x_hat: sum(score_codes(x, codes, x_hat).to_dict().values())),
    through(loss_recovered, lambda x, codes, x_hat: loss_recovered(1.0, 1.0 + l0(codes), 2.0 + l0(codes))),
    through(
        feature_jacobian_sparsity,
        lambda x, codes, x_hat: feature_jacobian_sparsity(np.square(x - x_hat).mean(1)[:, None, None]),
    ),
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
    FactorVAE(max_iter=5, critic=SmallNetwork(), random_state=0),
    BetaTCVAE(max_iter=5, random_state=0),
    BioAE(max_iter=5, random_state=0),
    QLAE(max_iter=5, random_state=0),
    VQVAE(n_values=8, code_size=4, max_iter=5, random_state=0),
)

# without networks: settings, arrays and flags are all there is
TRANSFORMERS = (
    FastICA(random_state=0),
    SparseBasis(random_state=0),
    SparseBasis(solver="ransac", random_state=0),
    SparseBasis(solver="subspaces", random_state=0),
    SparseBasis(solver="lagrangian", max_iter=2, random_state=0),
)

# makers of images, which take nothing else: their contract is in test_contracts_generators.py
_SMALL: dict[str, Any] = {
    "decoder": partial(style_generator, widths=(8, 8), style=8),
    "critic": partial(style_discriminator, widths=(8, 8)),
    "encoder": partial(conv_encoder, widths=(8,), dense=(8,)),
    **{"max_steps": 4, "batch_size": 8, "inversion": 1.0, "random_state": 0},
}
IMAGE_MAKERS = (
    GAN(4, **_SMALL),
    CGGAN(6, n_changing=3, **_SMALL),
    CGGAN(6, n_changing=3, sparse="released", masked=False, **_SMALL),
    CGGAN(6, n_changing=3, sparse=None, changes="labels", augment=None, **_SMALL),
)

# models of images with a decoder of their own: their contract is in test_estimators_diffusion.py
_TINY: dict[str, Any] = {
    "encoder": partial(leaky_encoder, widths=(4, 8), dense=(8,)),
    **{"max_steps": 4, "batch_size": 8, "random_state": 0},
}
_UNET = {"network": partial(unet, widths=(8, 8), n_blocks=1, attention=(1,), heads=2), "sampling_steps": 3}
IMAGE_READERS = (
    EncDiff(4, **_UNET, **_TINY),
    EncDiff(4, space="vq", target="velocity", n_values=8, space_steps=3, space_widths=(8,), **_UNET, **_TINY),
    EncDiff(4, penalty=partial(dependency_sparsity, columns=1, step=0.1), through="image", **_UNET, **_TINY),
    DisCo(4, generator=_SMALL["decoder"], critic=_SMALL["critic"], generator_steps=2, **_TINY),
    DisCo(
        4,
        generator=_SMALL["decoder"],
        critic=_SMALL["critic"],
        generator_steps=1,
        sparse="dependency",
        sparse_step=0.1,
        **_TINY,
    ),
)

# overcomplete dictionaries with sparse codes: their contract is in test_estimators_sparse_autoencoder.py
DICTIONARIES = (
    *(
        SparseAutoencoder(24, activation=kind, k=2, max_iter=5, batch_size=50, sparsity=0.1, random_state=0)
        for kind in ("topk", "batch_topk", "jumprelu", "relu")
    ),
    JacobianSparseAutoencoder(24, k=2, max_iter=5, batch_size=50, random_state=0),
)


def drawn(*shape: int) -> np.ndarray:
    """Draw numbers that heavy tails make easy for ICA, always the same."""
    return np.random.default_rng(0).laplace(size=shape)


def moved(structure: Structure, n_domains: int) -> dict[str, np.ndarray]:
    """Draw latents whose mean and spread change with the domain."""
    u, n = np.arange(40 * n_domains) % n_domains, structure.n_latents
    rng = np.random.default_rng(1)
    spread, centre = rng.uniform(0.3, 3, (n_domains, n)), 2 * rng.normal(size=(n_domains, n))
    return {"z": np.random.default_rng(0).normal(size=(len(u), n)) * spread[u] + centre[u], "u": u}


def mixture(structure: Structure) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return weights, means and covariances of a mixture with one component per row of the structure."""
    masks = structure.support
    covariances = np.stack([np.diag(mask * (1.0 + j)) for j, mask in enumerate(masks)])
    return np.full(len(masks), 1 / len(masks)), masks * drawn(*masks.shape), covariances


def sampled(structure: Structure, n: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """Draw codes of that mixture and the component of each."""
    labels = np.arange(n * structure.n_observed) % structure.n_observed
    codes = (
        np.random.default_rng(0).normal(size=(len(labels), structure.n_latents))
        * np.sqrt(1.0 + labels)[:, None]
    )
    return (codes + mixture(structure)[1][labels]) * structure.support[labels], labels


# structure -> a truthy or falsy certificate with `reasons`, `to_dict` and a readable `str`; each condition
# holds for some members and structures, and fails for others
CONDITIONS = (
    certify,
    partial(certify, independent_latents=True),
    through(between, lambda structure: between(structure, [0], [1]).guarantees[-1], "a guarantee"),
    through(between, lambda structure: between(structure, [0], [1])),
    through(identify, lambda structure: identify(structure, "(A | B) - C", A=[0], B=[1], C=[2])),
    through(nonlinearity, lambda structure: nonlinearity(drawn(50, *structure.shape), structure)),
    through(
        nonlinearity,
        lambda structure: nonlinearity(structure.support[None].repeat(50, 0), structure),
        "linear",
    ),
    triangular_alternative,
    partial(triangular_alternative, independent_latents=True),
    through(
        stability, lambda structure: stability([structure, structure, Structure(np.ones(structure.shape))])
    ),
    partial(certify_domains, n_domains=3),
    through(
        sufficient_changes, lambda structure: sufficient_changes(structure, **moved(structure, 3)), "few"
    ),
    through(sufficient_changes, lambda structure: sufficient_changes(structure, **moved(structure, 30))),
    through(certify_supports, lambda structure: certify_supports(structure.support)),
    through(certify_mixture, lambda structure: certify_mixture(*mixture(structure))),
    through(certify_components, lambda structure: certify_components(*sampled(structure), n_resamples=3)),
    through(certify_decoder, lambda structure: certify_decoder(drawn(20, *structure.shape))),
    through(
        certify_decoder,
        lambda structure: certify_decoder(np.linalg.qr(drawn(20, *structure.shape))[0]),
        "isometry",
    ),
    through(
        certify_pair, lambda structure: certify_pair(*[drawn(100, structure.n_latents)] * 2), "the same twice"
    ),
    through(certify_pair, lambda structure: certify_pair(*drawn(2, 100, structure.n_latents)), "unrelated"),
    through(softmax_diversity, lambda structure: softmax_diversity(structure.support)),
    through(certify_mechanisms, lambda structure: certify_mechanisms(structure.support, structure.n_latents)),
    explain,
    through(
        explain,
        lambda structure: explain(structure, domains=3, jacobians=structure.support[None], a=[0], b=[1]),
        "all facts",
    ),
)


def _zeros_and_rows(jacobian: np.ndarray) -> np.ndarray:
    """Return zeros beyond generic ones, and how many rows differ."""
    found = generic_sparsity(jacobian[None])
    return np.append(found.excess, found.n_rows)


def together(jacobians: np.ndarray) -> np.ndarray:
    """Return which pairs of latents share a slot of the finest partition."""
    slot = {latent: i for i, part in enumerate(finest_partition(jacobians).partition) for latent in part}
    slots_ = np.array([slot[latent] for latent in sorted(slot)])
    return slots_[:, None] == slots_


# Jacobian -> an array that says which latents act together, whatever the order of observed variables
FACTORS = (
    factor_graph,
    through(finest_partition, together),
    through(tangent_factors, lambda J: np.array([part.shape[1] for part in tangent_factors(J)])),
    through(sparsity_gap, lambda J: np.array([sparsity_gap(J, J.shape[-1]).lower])),
    through(generic_sparsity, _zeros_and_rows),
)

# (seed) -> structures of 3 latents read again and again
RESAMPLES = (
    through(
        resampled_structures, lambda seed: resampled_structures(drawn(30, 5, 3) ** 3, 6, random_state=seed)
    ),
    through(
        refitted_structures,
        lambda seed: refitted_structures(
            Autoencoder(3, encoder=SmallNetwork(), decoder=SmallNetwork(), max_iter=2),
            drawn(40, 5),
            6,
            random_state=seed,
        ),
    ),
)


def partly_gaussian(share: float) -> np.ndarray:
    """Draw components of unit variance, of which this share is Laplace and the rest Gaussian."""
    normal = np.random.default_rng(1).normal(size=(4000, 3))
    y = np.sqrt(share / 2) * drawn(4000, 3) + np.sqrt(1 - share) * normal
    return (y - y.mean(0)) / y.std(0)


# one number -> a bound that grows with it; what it must not be
CONSTANTS = (
    (isometric_constant, (1, 2, 5), 0),
    (through(resolution, lambda noise: resolution(1000, noise)), (0.1, 0.5), -1.0),
    (through(variables_needed, lambda n: variables_needed(n, resolution=0.01).n_observed), (4, 5, 8), 2),
    (
        through(near_isometry_bound, lambda delta: near_isometry_bound(drawn(50, 3), delta)),
        (1e-4, 0.01),
        -1.0,
    ),
    (through(whitening_constants, lambda bound: sum(whitening_constants(bound, 0.5))), (1.0, 2.0), -1.0),
    (through(ica_constant, lambda bound: ica_constant(bound, 0.5, 3)), (1.0, 2.0), -1.0),
    (
        through(ica_curvature, lambda share: ica_curvature(partly_gaussian(share)).gamma),
        (0.3, 1.0),
        float("nan"),
    ),
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

# (n_samples, size=..., random_state=...) -> FactorDataset, of images that are drawn when they are asked for
IMAGES = (
    shapes3d,
    dsprites,
    partial(dsprites, binary=True),
    cars3d,
    mpi3d,
    balls,
    partial(balls, n_balls=4, together=False),
    partial(balls, n_balls=6, whole_pixels=True),
    avatars,
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


def public_name(member: object) -> str:
    """Return the public name that a member stands for."""
    return label(member).partition("(")[0]


def missing(room: Any, *members: Iterable[object], tools: Iterable[str] = ()) -> set[str]:
    """Return the public functions of a room that no family holds, and the members that are not public.

    Classes are what functions return, and are tested with them.
    """
    functions = {name for name in room.__all__ if not inspect.isclass(getattr(room, name))}
    return functions - set(tools) ^ {public_name(member) for family in members for member in family}


def every(family: tuple) -> pytest.MarkDecorator:
    """Run a test for each member of a family."""
    return pytest.mark.parametrize("member", family, ids=label)
