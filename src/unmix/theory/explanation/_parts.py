"""The certifiers that `explain` asks, each with what it needs."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, SupportsIndex

import numpy as np

from unmix.structure import Structure

from ..domains import certify_domains, sufficient_changes
from ..mechanisms import certify_mechanisms, finest_partition
from ..mixtures import certify_components, certify_mixture, certify_supports
from ..near import certify_decoder, certify_pair, softmax_diversity
from ..sparsity import between, certify, identify, nonlinearity, stability
from ._known import Known
from ._reading import Unused, resampled_structures

Sets = Mapping[str, Iterable[SupportsIndex]]
Groups = Iterable[Iterable[SupportsIndex]]
_LEARNED, _EXACT = 0.02, 1e-6  # tolerances of zeros in a learned Jacobian and in a given one


def structural_part(have: Known, shared: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Ask what the structure identifies, and what can be checked of the estimate."""
    if have.unused:
        yield "unused", Unused(have.unused)
    if have.structure is not None and not have.unused:
        yield "structure", certify(have.structure, **shared)
    if have.reading.certificates:
        yield "reading", have.reading
    if have.jacobians is not None and have.structure is not None:
        yield "nonlinearity", nonlinearity(have.jacobians, have.structure)


def sets_part(
    have: Known, a: Any, b: Any, ask: str | None, sets: Sets | None, shared: dict[str, Any]
) -> Iterator[tuple[str, Any]]:
    """Compare two sets, and judge a region."""
    if (a is None) != (b is None):
        raise ValueError("`a` and `b` must be given together, got only one of them. Name both sets.")
    if (ask is None) != (sets is None):
        raise ValueError("`ask` and `sets` must be given together, got only one of them. Give both.")
    if a is not None:
        yield "sets", between(have.need("structure", "a"), a, b, **shared)
    if ask is not None and sets is not None:
        yield "region", identify(have.need("structure", "ask"), ask, **shared, **_named(sets))


def _named(sets: Sets) -> dict[str, Any]:
    taken = sorted({"independent_latents", "groups"} & sets.keys())
    if taken:
        raise ValueError(f"`sets` must use other names than {taken[0]!r}, which is an option. Rename it.")
    return dict(sets)


def stable_part(
    have: Known, structures: Any, n_resamples: int, shared: dict[str, Any], random_state: int
) -> Iterator[tuple[str, Any]]:
    """Give verdicts a frequency: those on groups, where observed variables are grouped."""
    groups = shared["groups"]

    def grouped(found: Any) -> Any:
        return found.group(groups) if groups is not None and isinstance(found, Structure) else found

    given: dict[str, Any] = {
        "reference": grouped(have.structure),
        "independent_latents": shared["independent_latents"],
    }
    if structures is not None:
        yield "refits", stability(map(grouped, structures), **given)
    if n_resamples:
        drawn = resampled_structures(
            have.need("jacobians", "n_resamples"),
            n_resamples,
            latent_scale=have.latent_scale,
            random_state=random_state,
        )
        yield "resampling", stability(map(grouped, drawn), **given)


def domains_part(have: Known, domains: Any) -> Iterator[tuple[str, Any]]:
    """Ask what changes between domains add."""
    if domains is None:
        return
    structure = have.need("structure", "domains")
    if np.ndim(domains) == 0:
        yield "domains", certify_domains(structure, domains)
        return
    if have.z is None:
        yield "domains", certify_domains(structure, len(np.unique(np.asarray(domains))))
        return
    changes = sufficient_changes(structure, z=have.z, u=domains)
    yield "changes", changes
    yield "domains", certify_domains(structure, changes=changes)


def mixture_part(
    have: Known, mixture: Any, masks: Any, components: Any, random_state: int
) -> Iterator[tuple[str, Any]]:
    """Ask what a mixture identifies, from the most that is known of it."""
    given = [mixture is not None, components is not None]
    if all(given):
        raise ValueError("`components` must be given with codes only, got them and `mixture`. Drop one.")
    if mixture is not None:
        yield "mixture", certify_mixture(*mixture)
    elif components is not None:
        codes = have.need("z", "components")
        yield "mixture", certify_components(codes, components, masks=masks, random_state=random_state)
    elif masks is not None:
        yield "mixture", certify_supports(masks)
    elif hasattr(have.model, "covariances_") and not have.unused:
        n_samples = None if have.z is None else len(have.z)
        yield "mixture", certify_components(have.model, n_samples=n_samples, random_state=random_state)


def mechanisms_part(
    have: Known, partition: Any, tolerance: float | None, higher: tuple[Any, Any], convex: bool
) -> Iterator[tuple[str, Any]]:
    """Ask in which senses slots act independently."""
    if partition is None:
        if any(given is not None for given in higher):
            raise ValueError("`hessians` and `thirds` must be given with `partition`, got none. Name slots.")
        return
    samples = have.need("jacobians", "partition")
    zero = (_LEARNED if have.learned else _EXACT) if tolerance is None else tolerance
    slots = finest_partition(samples, tolerance=zero).partition if _is_finest(partition) else partition
    yield (
        "mechanisms",
        certify_mechanisms(
            samples, slots, hessians=higher[0], thirds=higher[1], tolerance=zero, convex_support=convex
        ),
    )


def _is_finest(partition: Any) -> bool:
    if isinstance(partition, str) and partition != "finest":
        raise ValueError(f"`partition` must be slots or 'finest', got {partition!r}. List every slot.")
    return isinstance(partition, str)


def decoder_part(have: Known) -> Iterator[tuple[str, Any]]:
    """Ask how near to an isometry the decoder is."""
    if have.jacobians is not None:
        yield "decoder", certify_decoder(have.jacobians, scale="free")


def runs_part(have: Known, second_run: Any, random_state: int) -> Iterator[tuple[str, Any]]:
    """Ask what two runs prove of each other."""
    if second_run is not None:
        first = have.need("z", "second_run")
        yield "pair", certify_pair(first, second_run, scale=True, random_state=random_state)


def head_part(head: Any) -> Iterator[tuple[str, Any]]:
    """Ask whether a softmax head spreads."""
    if head is not None:
        yield "head", softmax_diversity(head)


def listed(groups: Groups | None) -> list[list[Any]] | None:
    """Keep groups that may be an iterator for more than one use."""
    return None if groups is None else [list(group) for group in groups]
