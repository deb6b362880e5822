"""Worlds with domains: latents whose laws change, and the ways in which changes tell nothing.

Sources and mixings are written here, so that no estimator was tuned on them; one family takes `multi_domain`.
A latent counts as right if it is right within domains: means that differ between domains make any code that
separates them look right.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.stats import rankdata

from unmix.data import LatentDataset, multi_domain
from unmix.estimators import CGVAE, IVAE

from ._family import RIGHT, Family, Units, case_of

Rng = np.random.Generator
_LAWS: dict[str, Callable[..., np.ndarray]] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "laplace": lambda rng, shape: rng.laplace(scale=np.sqrt(0.5), size=shape),
    "uniform": lambda rng, shape: rng.uniform(-np.sqrt(3), np.sqrt(3), size=shape),
}
_ROUGH = ("noise", "few", "units", "one too many", "one too few", "copies")


def right_within(data: LatentDataset, codes: np.ndarray, units: Units) -> np.ndarray:
    """Return for each latent whether it is one of the true ones by ranks within domains."""
    del units  # each latent is one
    own = np.asarray(data.hidden.get("domains", data.u))
    table = np.abs(_centred_ranks(codes, own).T @ _centred_ranks(data.z, own))
    found = np.zeros(len(table), bool)
    rows, columns = linear_sum_assignment(-table)
    found[rows] = table[rows, columns] > RIGHT
    return found


def _centred_ranks(values: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return ranks, the same on average in every domain, as columns of length 1."""
    ranks = rankdata(values, axis=0)
    inside = ranks - _means(ranks, np.unique(u, return_inverse=True)[1])
    length = np.linalg.norm(inside, axis=0)
    return inside / np.where(length > 0, length, 1)


def sources(
    rng: Rng, n_samples: int, n_latents: int, n_domains: int, *, changes: str = "both", law: str = "normal"
) -> tuple[np.ndarray, np.ndarray]:
    """Draw latents z = m(u) + s(u) e and their domains u, of unequal sizes."""
    shares = rng.dirichlet(np.full(n_domains, 8.0))
    u = rng.choice(n_domains, n_samples, p=shares)
    m = rng.normal(size=(n_domains, n_latents))
    s = np.exp(0.7 * rng.normal(size=(n_domains, n_latents)))
    if changes == "means":
        s = np.ones_like(s)
    if changes == "alike":
        s = np.repeat(s[:, :1], n_latents, axis=1)
    if changes == "some":
        s[:, : max(2, n_latents // 2)] = 1.0
    z = m[u] + s[u] * _LAWS[law](rng, (n_samples, n_latents))
    return z, u


def additive(rng: Rng, z: np.ndarray, support: np.ndarray, bend: float) -> np.ndarray:
    """Mix along edges, each with a weight and a bend of its own; 0 is linear."""
    z = z / z.std(0)
    x = np.zeros((len(z), len(support)))
    for k, j in np.argwhere(support):
        turn = np.logaddexp(0, 2 * (z[:, j] - rng.normal())) - z[:, j]
        x[:, k] += rng.choice([-1, 1]) * rng.uniform(0.5, 1.5) * (z[:, j] + bend * turn)
    return x


def layers(rng: Rng, z: np.ndarray, n_observed: int, bend: float) -> np.ndarray:
    """Mix all latents into all variables, by a linear map and a bent one of it."""
    n = z.shape[1]
    first = np.linalg.qr(rng.normal(size=(n, n)))[0] * rng.uniform(0.7, 1.4, size=n)
    hidden = (z / z.std(0)) @ first.T
    return np.concatenate([hidden + bend * np.sin(1.5 * hidden), hidden], axis=1) @ rng.normal(
        size=(2 * n, n_observed)
    )


def scattered(rng: Rng, n_observed: int, n_latents: int) -> np.ndarray:
    """Draw a graph with one or two parents for each variable, and no latent's children part of another's."""
    while True:
        support = np.zeros((n_observed, n_latents), bool)
        for row in support:
            row[rng.choice(n_latents, rng.choice([1, 2, 2]), replace=False)] = True
        inside = [(support[:, i] <= support[:, j]).all() for i in range(n_latents) for j in range(n_latents)]
        if sum(inside) == n_latents and support.sum(0).min() >= 2:
            return support


def _sparse(n_samples: int, seed: int) -> LatentDataset:
    rng = np.random.default_rng([seed, 1])
    n, law = int(rng.choice([3, 4])), str(rng.choice(list(_LAWS)))
    z, u = sources(rng, n_samples, n, int(rng.integers(2, 9)), law=law)
    x = additive(rng, z, scattered(rng, int(rng.integers(2 * n, 4 * n)), n), float(rng.uniform(0.1, 0.5)))
    return LatentDataset(x, z, u=u, description="sparse mixing, bent along edges")


def _graphs(n_samples: int, seed: int) -> LatentDataset:
    rng = np.random.default_rng([seed, 2])
    graph, u = str(rng.choice(list("ABCD"))), int(rng.choice([2, 3, 5, 9]))
    how: dict[str, Any] = {
        "graph": graph,
        "n_domains": u,
        "separated": False,
        "latents": str(rng.choice(["normal", "laplace"])),
    }
    return multi_domain(n_samples, 4, int(rng.choice([4, 8, 12])), random_state=rng, **how)


def _linear(n_samples: int, seed: int, *, changes: str = "both", law: str | None = None) -> LatentDataset:
    rng = np.random.default_rng([seed, 3])
    n = int(rng.choice([3, 4]))  # of two, a random turn is right too often
    law = law or str(rng.choice(list(_LAWS)))
    z, u = sources(rng, n_samples, n, int(rng.integers(3, 10)), changes=changes, law=law)
    x = (z / z.std(0)) @ rng.normal(size=(n, int(rng.integers(n, 3 * n + 1))))
    return LatentDataset(x, z, u=u, description=f"dense linear mixing, {changes} change")


def _shuffled(n_samples: int, seed: int) -> LatentDataset:
    rng = np.random.default_rng([seed, 4])
    data = _linear(n_samples, seed, law="normal")
    u = np.asarray(data.u)
    z = data.z - _means(data.z, u)
    z = z / np.sqrt(_means(np.square(z), u))  # Gaussian over all: without labels nothing is left to find
    bend = float(rng.choice([0.0, 0.3]))
    x = layers(rng, z, data.x.shape[1] + 1, bend)
    return LatentDataset(x, z, u=rng.permutation(u), description="labels that say nothing")


def _means(z: np.ndarray, u: np.ndarray) -> np.ndarray:
    return np.array([z[u == domain].mean(0) for domain in range(int(u.max()) + 1)])[u]


def _mislabelled(n_samples: int, seed: int) -> LatentDataset:
    data, rng = _sparse(n_samples, seed), np.random.default_rng([seed, 5])
    u = np.asarray(data.u).copy()
    wrong = rng.random(n_samples) < rng.choice([0.3, 1.0])
    u[wrong] = rng.permutation(u[wrong])
    return LatentDataset(data.x, data.z, u=u, hidden={"domains": np.asarray(data.u)})


def _dependent(n_samples: int, seed: int) -> LatentDataset:
    """Latents correlate within domains, in each in its own way."""
    rng = np.random.default_rng([seed, 6])
    n, n_domains = 3, int(rng.integers(3, 9))
    e, u = sources(rng, n_samples, n, n_domains)
    turns = np.array([np.eye(n) + 0.7 * np.tri(n, k=-1) * rng.normal(size=(n, n)) for _ in range(n_domains)])
    z = np.einsum("nij,nj->ni", turns[u], e)
    if rng.random() < 0.5:
        return LatentDataset(additive(rng, z, scattered(rng, 9, n), 0.3), z, u=u)
    return LatentDataset(layers(rng, z, 6, 0.0), z, u=u)


def _common(n_samples: int, seed: int) -> LatentDataset:
    """Latents share a cause within domains, in all domains alike."""
    rng = np.random.default_rng([seed, 9])
    n, share = int(rng.choice([3, 4])), float(rng.uniform(0.1, 0.7))
    e, u = sources(rng, n_samples, n, int(rng.integers(3, 9)))
    cause = rng.normal(size=(n_samples, 1)) * rng.choice([-1, 1], n) * e.std(0)
    z = np.sqrt(1 - share) * e + np.sqrt(share) * cause
    if rng.random() < 0.5:
        return LatentDataset(additive(rng, z, scattered(rng, 3 * n, n), 0.3), z, u=u)
    return LatentDataset(layers(rng, z, 2 * n, 0.0), z, u=u)


def _bent(n_samples: int, seed: int) -> LatentDataset:
    """Four to eight domains behind a dense mixing that bends, mildly or hard."""
    rng = np.random.default_rng([seed, 10])
    n = int(rng.choice([2, 3, 4], p=[0.2, 0.4, 0.4]))
    z, u = sources(rng, n_samples, n, int(rng.integers(4, 9)), law=str(rng.choice(list(_LAWS))))
    return LatentDataset(layers(rng, z, int(rng.integers(n, 3 * n)), float(rng.uniform(0.1, 0.8))), z, u=u)


def _few(n_samples: int, seed: int) -> LatentDataset:
    """Two or three domains behind a dense mixing that bends."""
    rng = np.random.default_rng([seed, 7])
    z, u = sources(rng, n_samples, 3, int(rng.choice([2, 3])))
    return LatentDataset(layers(rng, z, int(rng.choice([3, 6, 9])), float(rng.uniform(0.2, 0.6))), z, u=u)


def _rough(n_samples: int, seed: int) -> LatentDataset:
    """One thing in which real tables differ: noise, few samples, units, or copies of rows."""
    rng, how = np.random.default_rng([seed, 8]), _ROUGH[case_of(seed, len(_ROUGH))]
    data = _sparse(n_samples // 3 if how == "few" else n_samples, seed)
    x, kept = data.x, np.arange(len(data.x))
    if how == "noise":
        x = x + rng.choice([0.1, 0.3]) * x.std(0) * rng.normal(size=x.shape)
    if how == "units":
        x = np.sinh(1.5 * (x - x.mean(0)) / x.std(0)) * np.exp(2 * rng.normal(size=x.shape[1]))
    if how == "copies":
        kept = np.repeat(kept[: len(kept) // 2], 2)
    return LatentDataset(x[kept], data.z[kept], u=np.asarray(data.u)[kept], description=how)


def _cgvae(data: LatentDataset, seed: int) -> Any:
    more = {"one too many": 1, "one too few": -1}.get(data.description, 0)
    return CGVAE(data.z.shape[1] + more, random_state=seed)


def _ivae(data: LatentDataset, seed: int) -> Any:
    return IVAE(data.z.shape[1], random_state=seed)


_family = partial(Family, kind="domains", model=_cgvae, n_samples=1000, right=right_within, labelled=True)

FAMILIES: tuple[Family, ...] = (
    _family("domains, sparse", draw=_sparse),
    _family("domains, named graphs", draw=_graphs),
    _family("domains, dense linear", draw=_linear),
    _family("domains, some change", draw=partial(_linear, changes="some", law="normal")),
    _family("domains, too few", draw=_few),
    _family("domains, dependent", draw=_dependent),
    _family("domains, common cause", draw=_common),
    _family("domains, bent", draw=_bent),
    _family("domains, wrong labels", draw=_mislabelled),
    _family("domains, rough", draw=_rough),
    replace(_family("domains, iVAE", draw=_linear), model=_ivae),
    _family("domains, labels say nothing", draw=_shuffled, null=True),
    _family("domains, means alone", draw=partial(_linear, changes="means", law="normal"), null=True),
    _family("domains, all alike", draw=partial(_linear, changes="alike", law="normal"), null=True),
)
