"""What a fitted model found, whatever its class: one value that reports, commands and explanations read."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

import numpy as np

from unmix.structure import Structure


@dataclass(frozen=True, eq=False)
class Resting:
    """Latents that sit at one value in many samples: which have such a value, and how often they take it."""

    found: Any = None
    spike_mass: Any = None
    told: ClassVar = ("found", "spike_mass")

    @property
    def sentence(self) -> str:
        """How many latents have a clear value of rest."""
        return f"{int(np.sum(self.found))} of {len(self.found)} latents have a clear value of rest"


@dataclass(frozen=True, eq=False)
class Mixture:
    """Gaussian components of the latents; axis-aligned ones have `variances`, resting latents `masks`."""

    weights: Any = None
    means: Any = None
    covariances: Any = None
    variances: Any = None
    masks: Any = None
    told: ClassVar = ("masks", "weights")

    @property
    def sentence(self) -> str:
        """How many components there are."""
        return f"{len(self.weights)} components"


@dataclass(frozen=True, eq=False)
class Changes:
    """How the latents change between domains, and which of them the domains at hand guarantee."""

    domains: Any = None
    domain_means: Any = None
    domain_scales: Any = None
    guaranteed: Any = None
    needed_domains: Any = None
    n_domains: Any = None
    told: ClassVar = ("domains", "domain_means", "domain_scales", "guaranteed", "needed_domains")

    @property
    def sentence(self) -> str:
        """Which latents the learnt graph and the domains at hand guarantee."""
        sure, n = int(np.sum(self.guaranteed)), len(self.guaranteed)
        rest = "" if sure == n else f"; all would need {np.max(self.needed_domains)} domains"
        return f"{self.n_domains} domains guarantee {sure} of {n} latents of this graph{rest}."


@dataclass(frozen=True, eq=False)
class Partition:
    """Groups of latents that move variables of their own."""

    partition: Any = None
    told: ClassVar = ("partition",)

    @property
    def sentence(self) -> str:
        """Which latents make up each slot."""
        named = "; ".join(", ".join(f"z{j}" for j in slot) for slot in self.partition)
        return f"{len(self.partition)} slot{'s' * (len(self.partition) != 1)}: {named}."


@dataclass(frozen=True, eq=False)
class Components:
    """Independent components: how far from Gaussian each is, and how well it is known."""

    nongaussianity: Any = None
    gaussian: Any = None
    reliability: Any = None
    told: ClassVar = ("nongaussianity", "gaussian", "reliability")

    @property
    def sentence(self) -> str:
        """How many components are not Gaussian."""
        return f"{int(np.sum(~self.gaussian))} of {len(self.gaussian)} components are not Gaussian"


Part = TypeVar("Part", Resting, Mixture, Changes, Partition, Components)


@dataclass(frozen=True, eq=False)
class Findings:
    """What a model found; a part that its method does not look for is None.

    Attributes
    ----------
    method : str
        The name of the class.
    structure : Structure or None
        Which latent moves which observed variable.
    n_components, n_features, n_iter : int or None
    history : History or None
        The course of the training.
    restarts : sequence of float or None
        Objectives of the restarts that the model was chosen from.
    feature_names : array of str or None
    flags : tuple of str or None
        What is wrong with the result, in words.
    resting, mixture, domains, slots, components
        What only some models look for.

    Examples
    --------
    >>> found = Findings("PDGMM", resting=Resting(np.array([True, False])), mixture=Mixture(np.ones(3) / 3))
    >>> print(*found.story)
    PDGMM: 1 of 2 latents have a clear value of rest; 3 components.
    """

    method: str
    structure: Structure | None = None
    n_components: int | None = None
    n_features: int | None = None
    n_iter: int | None = None
    history: Any = None
    restarts: Any = None
    feature_names: Any = None
    flags: tuple[str, ...] | None = None
    resting: Resting | None = None
    mixture: Mixture | None = None
    domains: Changes | None = None
    slots: Partition | None = None
    components: Components | None = None

    @property
    def margin(self) -> float | None:
        """The smallest edge kept over the largest dropped."""
        return None if self.structure is None else self.structure.margin

    @property
    def degenerate(self) -> Mixture | None:
        """The mixture, where it says which latents rest in which component."""
        found = self.mixture
        return found if found and found.covariances is not None and found.masks is not None else None

    @property
    def story(self) -> tuple[Any, ...]:
        """What a person wants to know, line by line; the structure itself comes last."""
        if self.structure is None or self.resting is not None:  # a dense mixing is no news
            known = (self.resting, self.mixture, self.components)
            return (f"{self.method}: {'; '.join(part.sentence for part in known if part)}.",)
        structure = self.structure
        margin = "" if structure.margin is None else f", margin {structure.margin:.1f}"
        edges = f"{self.method}: {structure.n_edges} dependencies of {structure.support.size}{margin}"
        return (*(part.sentence for part in (self.domains, self.slots) if part), edges, structure)

    def to_dict(self) -> dict[str, Any]:
        """Return what a program wants to know."""
        terms = {} if self.history is None else self.history.terms
        return {
            "method": self.method,
            "n_components": self.n_components,
            "n_features_in": self.n_features,
            "n_iter": self.n_iter,
            "structure": None if self.structure is None else self.structure.support.astype(int),
            "margin": self.margin,
            "restarts": self.restarts,
            "history": {name: term[-1] for name, term in terms.items() if len(term)},
            **_told(self.resting),
            **_told(self.mixture),
            **({} if self.flags is None else {"flags": self.flags}),
            **_told(self.domains),
            **_told(self.slots),
            **_told(self.components),
        }


def _told(part: Any) -> dict[str, Any]:
    known = {} if part is None else {name: getattr(part, name) for name in part.told}
    return {name: value for name, value in known.items() if value is not None}


def findings_of(model: Any) -> Findings:
    """Return what a model found; one that is not ours is read by the names that ours use.

    >>> from types import SimpleNamespace
    >>> findings_of(SimpleNamespace(partition_=((0, 1), (2,)))).slots.sentence
    '2 slots: z0, z1; z2.'
    """
    if isinstance(model, Findings):
        return model
    if (told := ability(model, "findings")) is not None:
        return told()
    return Findings(
        type(model).__name__,
        structure=_attribute(model, "structure"),
        history=_attribute(model, "history"),
        restarts=_attribute(model, "restarts"),
        feature_names=_attribute(model, "feature_names_in"),
        flags=_attribute(model, "flags"),
        resting=_part(Resting, model),
        mixture=_part(Mixture, model),
        domains=_part(Changes, model),
        slots=_part(Partition, model),
    )


def ability(model: Any, name: str) -> Callable[..., Any] | None:
    """Return a method of a model (`transform`, `jacobian`, `activity`, ...), or None if it has none."""
    found = getattr(model, name, None)
    return found if callable(found) else None


def _attribute(model: Any, name: str) -> Any:
    return getattr(model, f"{name}_", None)


def _part(kind: type[Part], model: Any) -> Part | None:
    known = {field.name: _attribute(model, field.name) for field in fields(kind)}
    return None if all(value is None for value in known.values()) else kind(**known)
