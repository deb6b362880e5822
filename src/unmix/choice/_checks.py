"""Cheap checks for what estimators rest on, each beside its null."""

import warnings
from typing import Any

import numpy as np
import torch
from scipy.sparse.csgraph import connected_components
from sklearn.exceptions import ConvergenceWarning

from unmix.estimators import FastICA, SparseBasis
from unmix.solvers.coordinates import sparse_bases
from unmix.theory import generic_sparsity

from ._material import Material
from ._support import Support

_SAMPLES = 2000  # rows among which resting values are searched
_PERMUTATIONS = 50
_NARROW = 0.15  # width of a resting value against the spread of the others; a sharp peak is wider
_APART = 5.0  # standard errors at which two variables depend on each other


def non_gaussian(found: Material) -> Support:
    """Count linear components that are not Gaussian."""
    measured, null = (_n_non_gaussian(rows, found) for rows in (found.x, found.gaussian))
    holds = measured >= max(1, found.n - 1) and measured > null
    straight = "Little speaks for a bent mixing." if not found.number.bent else _BENT
    return Support(
        "non-Gaussian latents",
        ("FastICA",),
        holds,
        f"{measured} of {found.n} components",
        f"{null} of {found.n} in Gaussian data",
        f"{measured} of {found.n} linear components are not Gaussian, {null} of Gaussian data. {straight}",
        "independent latents, a linear mixing, little noise; nothing about the data.",
    )


_BENT = "But the mixing seems to bend, and then linear components still mix."


def _n_non_gaussian(rows: np.ndarray, found: Material) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = FastICA(found.n, random_state=found.random_state, device="cpu").fit(rows)
    return int((~model.gaussian_).sum())


def resting(found: Material) -> Support:
    """Count linear coordinates with a value at which many rows rest."""
    measured, null = (_n_resting(rows, found) for rows in (found.x, found.gaussian))
    return Support(
        "resting values",
        ("SparseBasis", "PDGMM"),
        measured > max(null, found.n / 2),
        f"{measured} of {found.n} coordinates",
        f"{null} of {found.n} in Gaussian data",
        f"{measured} of {found.n} linear coordinates rest at one value in many rows, {null} in Gaussian "
        "data. Latents that rest behind a bent mixing show only in a fit of PDGMM.",
        "latents that rest in some rows, in many combinations; a piecewise linear mixing for PDGMM.",
    )


def _n_resting(rows: np.ndarray, found: Material) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        settings: dict[str, Any] = {"max_samples": _SAMPLES, "random_state": found.random_state}
        model = SparseBasis(found.n, n_starts=30, device="cpu", **settings).fit(rows)
    return int((model.found_ & (model.spike_width_ < _NARROW * model.slab_spread_)).sum())


def sparse(found: Material) -> Support:
    """Count latents with more zeros among their linear effects than generic effects show."""
    rng = np.random.default_rng(found.random_state + 2)
    loadings = _sparsest(found.linear.loadings, found.random_state)
    generic = _sparsest(rng.normal(size=loadings.shape), found.random_state)
    zeros = generic_sparsity(loadings[None])
    measured = int(((zeros.excess >= 1) & (zeros.lead >= 1)).sum())
    parents, null = (f"{_n_parents(effects):.1f} latents" for effects in (loadings, generic))
    return Support(
        "sparsity beyond generic",
        ("DiverseDictionaryLearning",),
        measured > found.n / 2,
        f"{measured} of {found.n} latents; a variable is moved by {parents}",
        f"moved by {null} with random effects",
        f"{measured} of {found.n} latents leave more variables alone than any data can be made to show. A "
        f"variable is moved by {parents}, with random effects by {null}.",
        "each latent moves few variables, and no latent's are among another's; three variables for each "
        "latent or more.",
    )


def _sparsest(loadings: np.ndarray, seed: int) -> np.ndarray:
    """Return the effects on each variable, of size 1, of the latents that make them sparsest."""
    size = np.maximum(np.linalg.norm(loadings, axis=1, keepdims=True), 1e-12)
    rows = torch.as_tensor(loadings / size, dtype=torch.float32)
    white, generator = torch.eye(rows.shape[1])[None], torch.Generator().manual_seed(seed)
    bases, _ = sparse_bases(rows[None], white, generator)
    return (rows @ torch.linalg.inv(bases[0, 0])).numpy().astype(float)


def _n_parents(effects: np.ndarray) -> float:
    """Return how many latents move a variable, as a mean of (sum |a|)^2 / sum a^2."""
    return float((np.abs(effects).sum(1) ** 2 / np.square(effects).sum(1)).mean())


def blocks(found: Material) -> Support:
    """Count groups of variables that have nothing to do with each other."""
    measured = _n_blocks(found.x)
    rng = np.random.default_rng(found.random_state + 3)
    turned = found.x @ np.linalg.qr(rng.normal(size=(found.x.shape[1],) * 2))[0]
    null = _n_blocks(turned)
    return Support(
        "groups of variables",
        ("SlotAutoencoder",),
        measured >= 2,
        f"{measured} group{'s' * (measured != 1)}",
        f"{null} in turned data",
        f"Groups of two variables or more that do not depend on each other: {measured}, "
        f"and {null} after a turn.",
        "latents in groups that move variables of their own; groups that overlap show only in a fit.",
    )


def _n_blocks(x: np.ndarray) -> int:
    """Count the connected parts, of two variables or more, of the graph of dependent variables."""
    depend = np.zeros((x.shape[1],) * 2, dtype=bool)
    for values in (x, np.square(x - x.mean(0))):
        spread = np.maximum(values.std(0), 1e-300)
        centred = (values - values.mean(0)) / spread
        depend |= np.abs(centred.T @ centred) / len(x) > _APART / np.sqrt(len(x))
    _, part = connected_components(depend, directed=False)
    return int((np.bincount(part) >= 2).sum())


def differing(found: Material, domains: np.ndarray | None) -> Support:
    """Compare means and variances of the leading components between domains with permuted labels."""
    names = ("CGVAE", "IVAE")
    needs = f"the domain of each row; {2 * found.n + 1} domains or more, fewer where the mixing is sparse."
    if domains is None:
        words = "No labels were given: name a column that says where each row comes from."
        return Support("domains that differ", names, None, "", "", words, needs)
    _, labels = np.unique(domains[found.kept], return_inverse=True)
    both = np.column_stack([found.codes, np.log(np.square(found.codes) + 1e-3)])
    rng = np.random.default_rng(found.random_state + 4)
    measured = _between(both, labels)
    nulls = np.array([_between(both, rng.permutation(labels)) for _ in range(_PERMUTATIONS)])
    n_differ = int((measured > nulls.max(0)).reshape(2, -1).any(0).sum())
    return Support(
        "domains that differ",
        names,
        n_differ > found.n / 2,
        f"{measured.mean():.3f} of the variance",
        f"{nulls.mean(1).max():.3f} at most with permuted labels",
        f"{labels.max() + 1} domains; means or spreads of {n_differ} of {found.n} leading components differ "
        f"between them beyond {_PERMUTATIONS} permutations.",
        needs,
    )


def _between(values: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the share of the variance of each column that lies between domains."""
    counts = np.bincount(labels)
    means = np.array([np.bincount(labels, column) / counts for column in values.T])
    total = np.maximum(values.var(0), 1e-300)
    return (means - values.mean(0)[:, None]) ** 2 @ counts / len(values) / total
