"""The certifiers that `explain` asks, each with what it needs."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from unmix.structure import Structure

from ..domains import certify_domains, sufficient_changes
from ..mechanisms import certify_mechanisms, finest_partition
from ..mixtures import certify_components, certify_mixture, certify_supports
from ..near import certify_decoder, certify_pair, softmax_diversity
from ..sparsity import between, certify, identify, nonlinearity, stability
from ._facts import Facts, Sets
from ._known import Known
from ._reading import Unused, resampled_structures

_LEARNED, _EXACT = 0.02, 1e-6  # tolerances of zeros in a learned Jacobian and in a given one


def structural_part(have: Known, facts: Facts) -> Iterator[tuple[str, Any]]:
    """Ask what the structure identifies, and what can be checked of the estimate."""
    if have.unused:
        yield "unused", Unused(have.unused)
    if have.structure is not None and not have.unused:
        yield "structure", certify(have.structure, **facts.shared)
    if have.reading.certificates:
        yield "reading", have.reading
    if have.jacobians is not None and have.structure is not None:
        yield "nonlinearity", nonlinearity(have.jacobians, have.structure)


def sets_part(have: Known, facts: Facts) -> Iterator[tuple[str, Any]]:
    """Compare two sets, and judge a region."""
    if (facts.a is None) != (facts.b is None):
        raise ValueError("`a` and `b` must be given together, got only one of them. Name both sets.")
    if (facts.ask is None) != (facts.sets is None):
        raise ValueError("`ask` and `sets` must be given together, got only one of them. Give both.")
    if facts.a is not None and facts.b is not None:
        yield "sets", between(have.need("structure", "a"), facts.a, facts.b, **facts.shared)
    if facts.ask is not None and facts.sets is not None:
        yield (
            "region",
            identify(have.need("structure", "ask"), facts.ask, **facts.shared, **_named(facts.sets)),
        )


def _named(sets: Sets) -> dict[str, Any]:
    taken = sorted({"independent_latents", "groups"} & sets.keys())
    if taken:
        raise ValueError(f"`sets` must use other names than {taken[0]!r}, which is an option. Rename it.")
    return dict(sets)


def stable_part(have: Known, facts: Facts) -> Iterator[tuple[str, Any]]:
    """Give verdicts a frequency: those on groups, where observed variables are grouped."""
    groups = facts.shared["groups"]

    def grouped(found: Any) -> Any:
        return found.group(groups) if groups is not None and isinstance(found, Structure) else found

    given: dict[str, Any] = {
        "reference": grouped(have.structure),
        "independent_latents": facts.independent_latents,
    }
    if facts.structures is not None:
        yield "refits", stability(map(grouped, facts.structures), **given)
    if facts.n_resamples:
        drawn = resampled_structures(
            have.need("jacobians", "n_resamples"),
            facts.n_resamples,
            latent_scale=have.latent_scale,
            random_state=facts.random_state,
        )
        yield "resampling", stability(map(grouped, drawn), **given)


def domains_part(have: Known, facts: Facts) -> Iterator[tuple[str, Any]]:
    """Ask what changes between domains add."""
    domains: Any = facts.domains
    if domains is None or have.unused:  # no theorem is about latents that move nothing
        return
    structure = have.need("structure", "domains")
    if np.ndim(domains) == 0:
        yield "domains", certify_domains(structure, domains)
    elif have.z is None or not _vary_within(have.z, np.asarray(domains)):
        yield "domains", certify_domains(structure, len(np.unique(np.asarray(domains))))
    else:
        changes = sufficient_changes(structure, z=have.z, u=domains)
        yield "changes", changes
        yield "domains", certify_domains(structure, changes=changes)


def _vary_within(z: np.ndarray, domains: np.ndarray) -> bool:
    """Whether all latents vary within each domain; one that does not has no density, and its changes none."""
    if len(z) != len(domains):
        return True  # which is refused by who compares them
    return all((np.var(z[domains == label], axis=0) > 0).all() for label in np.unique(domains))


def mixture_part(have: Known, facts: Facts) -> Iterator[tuple[str, Any]]:
    """Ask what a mixture identifies, from the most that is known of it."""
    found = have.findings.mixture
    drawn: dict[str, Any] = {"random_state": facts.random_state}
    if facts.mixture is not None and facts.components is not None:
        raise ValueError("`components` must be given with codes only, got them and `mixture`. Drop one.")
    if facts.mixture is not None:
        yield "mixture", certify_mixture(*facts.mixture)
    elif facts.components is not None:
        codes = have.need("z", "components")
        yield "mixture", certify_components(codes, facts.components, masks=facts.masks, **drawn)
    elif facts.masks is not None:
        yield "mixture", certify_supports(facts.masks)
    elif found is not None and found.covariances is not None and not have.unused:
        n_samples = None if have.z is None else len(have.z)
        yield "mixture", certify_components(have.findings, n_samples=n_samples, **drawn)


def mechanisms_part(have: Known, facts: Facts) -> Iterator[tuple[str, Any]]:
    """Ask in which senses slots act independently."""
    higher: dict[str, Any] = {"hessians": facts.hessians, "thirds": facts.thirds}
    if facts.partition is None:
        if any(given is not None for given in higher.values()):
            raise ValueError("`hessians` and `thirds` must be given with `partition`, got none. Name slots.")
        return
    samples = have.need("jacobians", "partition")
    zero = (_LEARNED if have.learned else _EXACT) if facts.tolerance is None else facts.tolerance
    slots = _slots(facts.partition, samples, zero)
    convex = facts.convex_support
    yield (
        "mechanisms",
        certify_mechanisms(samples, slots, tolerance=zero, convex_support=convex, **higher),
    )


def _slots(partition: Any, samples: np.ndarray, tolerance: float) -> Any:
    if not isinstance(partition, str):
        return partition
    if partition != "finest":
        raise ValueError(f"`partition` must be slots or 'finest', got {partition!r}. List every slot.")
    return finest_partition(samples, tolerance=tolerance).partition


def near_part(have: Known, facts: Facts) -> Iterator[tuple[str, Any]]:
    """Ask how near to an isometry the decoder is, what two runs prove, and whether a softmax head spreads."""
    if have.jacobians is not None:
        yield "decoder", certify_decoder(have.jacobians, scale="free")
    if facts.second_run is not None:
        first = have.need("z", "second_run")
        yield "pair", certify_pair(first, facts.second_run, scale=True, random_state=facts.random_state)
    if facts.head is not None:
        yield "head", softmax_diversity(facts.head)


PARTS = (
    structural_part,
    sets_part,
    stable_part,
    domains_part,
    mixture_part,
    mechanisms_part,
    near_part,
)
