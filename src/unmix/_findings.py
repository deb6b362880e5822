"""What a fitted model found, whatever its class: one value that reports, commands and explanations read."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from unmix.structure import Structure


@dataclass(frozen=True, eq=False)
class Resting:
    """Latents that sit at one value in many samples: which have such a value, and how often they take it."""

    found: Any = None
    spike_mass: Any = None

    def __str__(self) -> str:
        return f"{int(np.sum(self.found))} of {len(self.found)} latents have a clear value of rest"


@dataclass(frozen=True, eq=False)
class Mixture:
    """Gaussian components of the latents; axis-aligned ones have `variances`, resting latents `masks`."""

    weights: Any = None
    means: Any = None
    covariances: Any = None
    variances: Any = None
    masks: Any = None

    def __str__(self) -> str:
        return f"{len(self.weights)} components"


@dataclass(frozen=True, eq=False)
class Changes:
    """How the latents change between domains, and which of them these guarantee if the graph is right."""

    domains: Any = None
    domain_means: Any = None
    domain_scales: Any = None
    guaranteed: Any = None
    needed_domains: Any = None
    n_domains: Any = None

    def __str__(self) -> str:
        if self.guaranteed is None:  # of images no graph is learnt
            return f"{len(self.domains)} domains; no graph says which latents they guarantee."
        sure, n = int(np.sum(self.guaranteed)), len(self.guaranteed)
        rest = "" if sure == n else f"; all would need {np.max(self.needed_domains)} domains"
        if_right = "If this graph and the changes are right"
        return f"{if_right}, {self.n_domains} domains guarantee {sure} of {n} latents{rest}."


@dataclass(frozen=True, eq=False)
class Partition:
    """Groups of latents that move variables of their own."""

    partition: Any = None

    def __str__(self) -> str:
        named = "; ".join(", ".join(f"z{j}" for j in slot) for slot in self.partition)
        return f"{len(self.partition)} slot{'s' * (len(self.partition) != 1)}: {named}."


@dataclass(frozen=True, eq=False)
class Components:
    """Independent components: how far from Gaussian each is, and how well it is known."""

    nongaussianity: Any = None
    gaussian: Any = None
    reliability: Any = None

    def __str__(self) -> str:
        return f"{int(np.sum(~self.gaussian))} of {len(self.gaussian)} components are not Gaussian"


PARTS = {
    "resting": Resting,
    "mixture": Mixture,
    "domains": Changes,
    "slots": Partition,
    "components": Components,
}
STRONGEST = 5  # variables that are named for each latent
_TOLD = (  # to programs, in this order
    *("found", "spike_mass", "masks", "weights", "flags"),
    *("domains", "domain_means", "domain_scales", "guaranteed", "needed_domains"),
    *("partition", "nongaussianity", "gaussian", "reliability"),
)


@dataclass(frozen=True, eq=False)
class Findings:
    """What a model found; a part that its method does not look for is None.

    Common to all are the name of the method, the structure, the number of latents, of observed variables and
    of passes over the data, the course of the training, the objectives of the restarts, the names of the
    observed variables, how much each latent moves each of them (`loadings`, in standard deviations of both),
    what was done to the table before the fit, and flags: what is wrong, in words. `description` is what the
    latents stand for (groups of variables, relations to metadata, extreme rows, histograms), once
    `unmix.describe` was asked with a table.

    Examples
    --------
    >>> found = Findings("PDGMM", resting=Resting(np.array([True, False])), mixture=Mixture(np.ones(3) / 3))
    >>> print(*found.story)
    PDGMM: 1 of 2 latents have a clear value of rest; 3 components.
    """

    method: str
    structure: Structure | None = None
    n_components: int | None = None
    n_features_in: int | None = None
    n_iter: int | None = None
    history: Any = None
    restarts: Any = None
    feature_names_in: Any = None
    loadings: Any = None
    recipe: Any = None
    flags: tuple[str, ...] | None = None
    resting: Resting | None = None
    mixture: Mixture | None = None
    domains: Changes | None = None
    slots: Partition | None = None
    components: Components | None = None
    description: Any = None

    @property
    def margin(self) -> float | None:
        """The smallest edge kept over the largest dropped."""
        return None if self.structure is None else self.structure.margin

    @property
    def strongest(self) -> list[list[tuple[str, float]]] | None:
        """For each latent the observed variables that it moves most, with sign and size."""
        if self.loadings is None:
            return None
        sizes = np.asarray(self.loadings)
        known = self.feature_names_in
        names = [f"x{i}" for i in range(len(sizes))] if known is None else [str(name) for name in known]
        order = np.argsort(-np.abs(sizes), axis=0, kind="stable")[:STRONGEST]
        return [[(names[i], float(sizes[i, j])) for i in order[:, j]] for j in range(sizes.shape[1])]

    @property
    def degenerate(self) -> Mixture | None:
        """The mixture, where it says which latents rest in which component."""
        found = self.mixture
        return found if found and found.covariances is not None and found.masks is not None else None

    @property
    def story(self) -> tuple[Any, ...]:
        """What a person wants to know, line by line; the structure itself comes last."""
        if self.structure is None or self.resting is not None:  # a dense mixing is no news
            known = [str(part) for part in (self.resting, self.mixture, self.components) if part]
            return (f"{self.method}: {'; '.join(known or [f'{self.n_components} latents'])}.",)
        structure = self.structure
        margin = "" if structure.margin is None else f", margin {structure.margin:.1f}"
        edges = f"{self.method}: {structure.n_edges} dependencies of {structure.support.size}{margin}"
        return (*(str(part) for part in (self.domains, self.slots) if part), edges, structure)

    def to_dict(self) -> dict[str, Any]:
        """Return what a program wants to know."""
        terms = {} if self.history is None else self.history.terms
        parts = [vars(part) for part in (vars(self)[name] for name in PARTS) if part is not None]
        own = {name: value for part in (*parts, {"flags": self.flags}) for name, value in part.items()}
        return {
            "method": self.method,
            "n_components": self.n_components,
            "n_features_in": self.n_features_in,
            "n_iter": self.n_iter,
            "structure": None if self.structure is None else self.structure.support.astype(int),
            "margin": self.margin,
            "restarts": self.restarts,
            "strongest": self.strongest,
            "description": None if self.description is None else self.description.to_dict(),
            "history": {name: term[-1] for name, term in terms.items() if len(term)},
        } | {name: own[name] for name in _TOLD if own.get(name) is not None}


def findings_of(model: Any) -> Findings:
    """Return what a model found; one that is not ours is read by the names that ours use.

    >>> from types import SimpleNamespace
    >>> print(findings_of(SimpleNamespace(partition_=((0, 1), (2,)))).slots)
    2 slots: z0, z1; z2.
    """
    if isinstance(model, Findings):
        return model
    told = ability(model, "findings")
    return read_findings(model) if told is None else told()


def read_findings(model: Any) -> Findings:
    """Read fitted attributes: each field `name` of a part is kept by a model as `name_`."""
    own = (
        "structure",
        "n_features_in",
        "n_iter",
        "history",
        "restarts",
        "feature_names_in",
        "loadings",
        "recipe",
        "flags",
    )
    return Findings(
        type(model).__name__,
        n_components=getattr(model, "_n_features_out", None),
        **{name: _attribute(model, name) for name in own},
        **{name: _part(kind, model) for name, kind in PARTS.items()},
    )


def domain_specific(model: Any) -> np.ndarray | None:
    """Return which latents change with the domain, None where a model does not tell, as a pipeline."""
    found = _attribute(model, "domain_specific")
    return None if found is None else np.asarray(found, dtype=bool)


def told_changes(model: Any) -> str:
    """Say which latents change with the domain; nothing where a model does not tell.

    >>> from types import SimpleNamespace
    >>> told_changes(SimpleNamespace(domain_specific_=[True, False, True], n_domains_=2))
    '2 domains change 2 of 3 latents: z0, z2.'
    """
    found = domain_specific(model)
    if found is None:
        return ""
    named = ", ".join(f"z{j}" for j in np.flatnonzero(found)) or "none"
    n_domains = _attribute(model, "n_domains")
    return f"{n_domains} domains change {int(found.sum())} of {len(found)} latents: {named}."


def ability(model: Any, name: str) -> Callable[..., Any] | None:
    """Return a method of a model (`transform`, `jacobian`, `activity`, ...), or None if it has none."""
    found = getattr(model, name, None)
    return found if callable(found) else None


def _attribute(model: Any, name: str) -> Any:
    return getattr(model, f"{name}_", None)


def _part(kind: Any, model: Any) -> Any:
    known = {field.name: _attribute(model, field.name) for field in fields(kind)}
    return None if all(value is None for value in known.values()) else kind(**known)
