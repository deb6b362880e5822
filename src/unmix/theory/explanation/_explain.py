"""One answer from what the user has."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unmix._fitted import Fitted
from unmix.structure import Structure

from .._certificate import Certificate
from ..domains import INDEPENDENT
from ..mechanisms import FITS
from ..mixtures import MODEL, StandardBasis
from ..sparsity import NONLINEAR, POSITIVE, SPARSE, SPARSE_GROUPS
from ._explanation import Explanation
from ._facts import Facts
from ._known import known
from ._parts import PARTS
from ._pixels import fitted_to
from ._reading import FITTING

_FIT = (SPARSE, SPARSE_GROUPS, FITS, MODEL[1])  # what a model that does not fit breaks
_DENSITY = (POSITIVE, INDEPENDENT)
_REST = "in some component of the mixture latents rest, so that they have no density"


def explain(
    structure: Structure | None = None, *, model: Any = None, x: ArrayLike | None = None, **facts: Any
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
    x : array-like of shape (n_samples, n_observed) or (n_samples, height, width, channels), optional
        The data that the model was fitted to; of images each pixel and colour is an observed variable.
    **facts
        What else is known, by name; an unknown name is a TypeError.

    Other Parameters
    ----------------
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
        Number of resamples of the points of the Jacobians to read the structure off; 0 for none.
    random_state : int

    Returns
    -------
    Explanation

    Examples
    --------
    >>> print(explain(Structure([[1, 0], [1, 1], [0, 1]])))
    If this structure is right, its latents are known as follows (2 latents, ...): 2 identified alone.
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
    if x is not None and model is None:
        raise ValueError("`x` must be given with a model, got no model. Pass codes as z=... instead.")
    rows = np.asarray(x) if isinstance(x, list | tuple) else x  # a data frame stays one: it has names
    return explained(fitted_to(model, rows), Facts.read(facts), structure)


def explained(fitted: Fitted, facts: Facts, structure: Structure | None = None) -> Explanation:
    """Explain what a model made of its data, without asking the model again for what is known."""
    have = known(structure, fitted, facts)
    parts = dict(named for part in PARTS for named in part(have, facts))
    if not parts:
        raise ValueError(
            "`explain` must be given something to judge, got nothing that is enough for a certificate. "
            "Give a structure, a fitted model, Jacobians, masks or two runs."
        )
    return Explanation(parts, settled=_settled(parts, facts.masks))


def _settled(parts: Mapping[str, Any], masks: ArrayLike | None) -> dict[str, Certificate]:
    """Return assumptions of some part that another has checked; a good fit alone proves none."""
    settled = {NONLINEAR: parts["nonlinearity"]} if "nonlinearity" in parts else {}
    reading = parts.get("reading")
    if reading is not None and reading.explained is not None and reading.explained < FITTING:
        settled |= dict.fromkeys(_FIT, reading.certificates[-1])
    if _resting(parts.get("mixture"), masks):
        settled |= dict.fromkeys(_DENSITY, Certificate("A positive density", False, (), (_REST,)))
    return settled


def _resting(mixture: Any, masks: ArrayLike | None) -> bool:
    """Say whether some component of the mixture is degenerate, so that latents have no density."""
    if masks is not None and not np.all(masks):
        return True
    found = () if mixture is None else mixture.certificates
    return any(isinstance(each, StandardBasis) and not (each and np.all(each.masks)) for each in found)
