"""One answer from what the user has."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from unmix.structure import Structure

from ._between import between
from ._certificate import Certificate
from ._certify import certify
from ._certify_decoder import certify_decoder
from ._certify_pair import certify_pair
from ._changes import sufficient_changes
from ._components import certify_components
from ._domains import certify_domains
from ._explanation import Explanation
from ._finest import finest_partition
from ._identify import identify
from ._known import Known, known
from ._mechanism_theorems import FITS
from ._mechanisms import certify_mechanisms
from ._mixture import certify_mixture, certify_supports
from ._mixture_theorems import MODEL
from ._nonlinearity import nonlinearity
from ._reading import FITTING, Unused, resampled_structures
from ._softmax import softmax_diversity
from ._stability import stability
from ._theorems import NONLINEAR, SPARSE

Sets = Mapping[str, Iterable[SupportsIndex]]
Groups = Iterable[Iterable[SupportsIndex]]
_FIT = (SPARSE, FITS, MODEL[1])  # what a model that does not fit breaks
_LEARNED, _EXACT = 0.02, 1e-6  # tolerances of zeros in a learned Jacobian and in a given one


def explain(
    structure: Structure | None = None,
    *,
    model: Any = None,
    x: ArrayLike | None = None,
    jacobians: ArrayLike | None = None,
    z: ArrayLike | None = None,
    independent_latents: bool = False,
    groups: Groups | None = None,
    a: Iterable[SupportsIndex] | None = None,
    b: Iterable[SupportsIndex] | None = None,
    ask: str | None = None,
    sets: Sets | None = None,
    domains: int | ArrayLike | None = None,
    mixture: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
    masks: ArrayLike | None = None,
    components: ArrayLike | None = None,
    partition: int | str | Groups | None = None,
    hessians: ArrayLike | None = None,
    thirds: ArrayLike | None = None,
    convex_support: bool = False,
    tolerance: float | None = None,
    second_run: ArrayLike | None = None,
    head: ArrayLike | None = None,
    structures: Iterable[Structure] | None = None,
    n_resamples: int = 0,
    random_state: int = 0,
) -> Explanation:
    """Say from all that is known which theorems apply, what is identified up to what, and what is missing.

    Give what you have; every certifier that it suffices for is asked, and one report is made of the answers.
    A condition that one part assumes and another has checked counts as checked, and if it was found to fail,
    so do the theorems that rest on it.

    Parameters
    ----------
    structure : Structure, optional
        Which latent moves which observed variable. By default `model.structure_`, or what the Jacobians show.
    model : fitted estimator, optional
        With any of `structure_`, `transform`, `inverse_transform`, `jacobian`, `restarts_` and, for a
        mixture, `weights_`, `means_`, `covariances_` and `masks_`.
    x : array-like of shape (n_samples, n_observed), optional
        The data that the model was fitted to.
    jacobians : array-like of shape (n, n_observed, n_latents), optional
        Samples of the decoder's Jacobian. By default those of the model at up to 1000 rows of x, with x in
        units of its standard deviations.
    z : array-like of shape (n_samples, n_latents), optional
        Codes. By default `model.transform(x)`.
    independent_latents : bool
        Take latents to be mutually independent, in truth and in the estimated model.
    groups : iterable of iterables of int, optional
        A partition of the observed variables; each group (a patch, a view, a modality) counts as one.
    a, b : iterables of int, optional
        Two sets of observed variables to compare; both or neither.
    ask, sets : str and mapping of str to iterables of int, optional
        A region such as "(A & B) - C", and the observed variables behind its names.
    domains : int or array-like of shape (n_samples,), optional
        Number of domains, or the domain of each code.
    mixture : tuple of (weights, means, covariances), optional
        Parameters of a Gaussian mixture of latents.
    masks : array-like of shape (n_components, n_latents), optional
        Which latents vary in each component of a mixture.
    components : array-like of shape (n_samples,), optional
        The mixture component of each code.
    partition : int, iterable of iterables of int, or "finest", optional
        Slots of latents, for mechanistic independence: a number of equal ones, the latents of each, or the
        finest that move disjoint sets of observed variables. Needs Jacobians.
    hessians, thirds, convex_support
        For mechanistic independence, see `certify_mechanisms`.
    tolerance : float, optional
        What counts as zero there, see `certify_mechanisms`; 1e-6 by default, 0.02 for a model.
    second_run : array-like of shape (n_samples, n_codes), optional
        Codes of the same inputs in another run.
    head : array-like of shape (n_classes, n_features), optional
        Weights of a softmax on top of the representation.
    structures : iterable of Structure, optional
        Of refits to resampled data, of restarts or of other thresholds.
    n_resamples : int
        Read the structure so often off resampled points of the Jacobians; 0 for not at all.
    random_state : int

    Returns
    -------
    Explanation

    Examples
    --------
    >>> print(explain(Structure([[1, 0], [1, 1], [0, 1]])))
    2 latents, 3 observed variables, 4 edges: 2 identified alone.
    Every latent is identified alone, up to order and an invertible function of each.
    - z0 is identified alone: no other latent moves all of x0, x1 (clause 3).
    - z1 is identified alone: no other latent moves all of x1, x2 (clause 3).
    ...
    >>> nested = Structure([[1, 1], [1, 1], [0, 1]])
    >>> found = explain(nested, domains=3, ask="A - B", sets={"A": [0], "B": [2]})
    >>> found.latents[0]
    {'latent': 0, 'structure': 'element if independent', 'domains': 'component'}
    >>> print(found.conclusions["region"])
    {z0} is not identified as a block: it may be mixed with latents outside.

    References
    ----------
    Zheng et al. (2026), Diverse dictionary learning, arXiv:2604.17568; Xu, Lachapelle, Magliacane (2026),
    arXiv:2604.13218; Li et al. (2025), arXiv:2503.00639; Matthes, Han and Shen (2026), arXiv:2509.22196;
    Nelson et al. (2026), arXiv:2603.11970.
    """
    have = known(structure, model, x, jacobians, z)
    shared = {"independent_latents": independent_latents, "groups": _listed(groups)}
    parts = dict(
        [
            *_structural(have, shared),
            *_sets(have, a, b, ask, sets, shared),
            *_stable(have, structures, n_resamples, independent_latents, random_state),
            *_domains(have, domains),
            *_mixture(have, mixture, masks, components, random_state),
            *_mechanisms(have, partition, tolerance, (hessians, thirds), convex_support),
            *_decoder(have),
            *_runs(have, second_run, random_state),
            *_head(head),
        ]
    )
    if not parts:
        raise ValueError(
            "`explain` must be given something to judge, got nothing that is enough for a certificate. "
            "Give a structure, a fitted model, Jacobians, masks or two runs."
        )
    return Explanation(parts, settled=_settled(parts))


def _settled(parts: Mapping[str, Any]) -> dict[str, Certificate]:
    """Return assumptions of some part that another has checked; a good fit alone proves none."""
    settled = {NONLINEAR: parts["nonlinearity"]} if "nonlinearity" in parts else {}
    reading = parts.get("reading")
    if reading is not None and reading.explained is not None and reading.explained < FITTING:
        settled |= dict.fromkeys(_FIT, reading.certificates[-1])
    return settled


def _structural(have: Known, shared: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    if have.unused:
        yield "unused", Unused(have.unused)
    if have.structure is not None and not have.unused:
        yield "structure", certify(have.structure, **shared)
    if have.reading.certificates:
        yield "reading", have.reading
    if have.jacobians is not None and have.structure is not None:
        yield "nonlinearity", nonlinearity(have.jacobians, have.structure)


def _sets(
    have: Known, a: Any, b: Any, ask: str | None, sets: Sets | None, shared: dict[str, Any]
) -> Iterator[tuple[str, Any]]:
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


def _stable(
    have: Known, structures: Any, n_resamples: int, independent: bool, random_state: int
) -> Iterator[tuple[str, Any]]:
    given: dict[str, Any] = {"reference": have.structure, "independent_latents": independent}
    if structures is not None:
        yield "refits", stability(structures, **given)
    if n_resamples:
        drawn = resampled_structures(
            have.need("jacobians", "n_resamples"),
            n_resamples,
            latent_scale=have.latent_scale,
            random_state=random_state,
        )
        yield "resampling", stability(drawn, **given)


def _domains(have: Known, domains: Any) -> Iterator[tuple[str, Any]]:
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


def _mixture(
    have: Known, mixture: Any, masks: Any, components: Any, random_state: int
) -> Iterator[tuple[str, Any]]:
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


def _mechanisms(
    have: Known, partition: Any, tolerance: float | None, higher: tuple[Any, Any], convex: bool
) -> Iterator[tuple[str, Any]]:
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


def _decoder(have: Known) -> Iterator[tuple[str, Any]]:
    if have.jacobians is not None:
        yield "decoder", certify_decoder(have.jacobians, scale="free")


def _runs(have: Known, second_run: Any, random_state: int) -> Iterator[tuple[str, Any]]:
    if second_run is not None:
        first = have.need("z", "second_run")
        yield "pair", certify_pair(first, second_run, scale=True, random_state=random_state)


def _head(head: Any) -> Iterator[tuple[str, Any]]:
    if head is not None:
        yield "head", softmax_diversity(head)


def _listed(groups: Groups | None) -> list[list[Any]] | None:
    """Keep groups that may be an iterator for more than one use."""
    return None if groups is None else [list(group) for group in groups]
