"""What evidence scores on Gaussian data with the covariance of x, beside the nulls that it has.

Each run draws a world that respects the assumptions of an estimator, fits it, and takes every link at full
effort: what was measured, its null, and the surrogate that a verdict shows, which is a linear model. Then the
estimator itself is fitted to Gaussian data of the same covariance, and the same links are taken there. Means
over latents. Where the last number is no worse than the first, a link tells nothing that a covariance does
not. For what calibrated means see Guo et al. (2017), arXiv:1706.04599, and for surrogate data Theiler et al.
(1992), Testing for nonlinearity in time series.
"""

from typing import Any

import numpy as np

from unmix.data import LatentDataset
from unmix.evidence import Case, Link, argument_for
from unmix.evidence._surrogate import gaussian_like, surrogates

from ...engine import Cell
from ._family import Family
from .calibration import FAMILIES, QUICKLY, SMALL

MEASURED, NULL, SHOWN, REFITTED = "measured on x", "its null", "surrogate, as shown", "surrogate, fitted"
KINDS = (MEASURED, NULL, SHOWN, REFITTED)
WORLDS = {
    "diverse dictionary": "sparse: networks",
    "SparseBasis": "basis.resting",
    "PDGMM": "mixture.resting",
    "CG-VAE": "domains, sparse",
    "slots": "slots.disjoint",
    "FastICA": "linear.noisy",
}
_AGAIN = ("comes back from one half", "fit on rows not used")
_MIXTURE = (
    "rests while others vary",
    "sharpness of rest",
    "one value of rest",
    "no sparser coordinates",
    "rest on rows not used",
    "comes back with one latent more",
)
LINKS = {
    "diverse dictionary": (
        "zeros beyond generic ones",
        "independence",
        "number of latents",
        "comes back from the other half",
        "survives one latent more",
        *_AGAIN,
    ),
    "SparseBasis": (*(each for each in _MIXTURE if each != "no sparser coordinates"), *_AGAIN),
    "PDGMM": (*_MIXTURE, *_AGAIN),
    "CG-VAE": (
        "changes between domains",
        "told apart from the others",
        "independent within domains",
        "cleaner than if turned",
        "bends that changes pin down",
        "moves what is observed",
        "told apart on rows not used",
        "comes back from the other half",
        "stays with one latent more",
        *_AGAIN,
    ),
    "slots": (
        "variables of its own beyond copies",
        "one slot and not two",
        "several variables for each direction",
        "a function of its own variables",
        "its own variables told by it alone",
        "comes back from one half",
        "comes back from the other half",
        "stays beside one latent more",
    ),
    "FastICA": (
        "a rotation would show",
        "independent of the others",
        "uncorrelated of itself",
        "error of sampling",
        "free of noise",
        "no latent left out",
        "comes back from one half",
        "no other optimum",
        "comes back beside one component more",
    ),
}

CELLS = tuple(
    Cell(value, f"{name}: {each}", value=f"{each}|{value}", always=False, settings={"estimator": name})
    for name, links in LINKS.items()
    for each in links
    for value in KINDS
)


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Draw a world, fit the estimator to it and to Gaussian data of its covariance, and take every link."""
    family, smoke = FAMILIES[WORLDS[cell.settings["estimator"]]], budget == "smoke"
    data = family.draw(SMALL if smoke else family.n_samples, seed)
    case = _fitted(family, data, data.x, seed, smoke)
    argument = argument_for(case.model)
    links = tuple(argument.links(case))
    drawn = gaussian_like(data.x, np.random.default_rng((seed, 43)))
    again = argument.links(_fitted(family, data, drawn, seed, smoke))
    found = {MEASURED: _means(links, "measured"), NULL: _means(links, "null")}
    found |= {SHOWN: surrogates(case, argument, links), REFITTED: _means(again, "measured")}
    names = LINKS[cell.settings["estimator"]]
    return {f"{name}|{value}": found[value].get(name, np.nan) for name in names for value in KINDS}


def _fitted(family: Family, data: LatentDataset, x: np.ndarray, seed: int, smoke: bool) -> Case:
    """Put an estimator on trial, fitted to some rows."""
    model, labels = family.model(data, seed), data.u if family.labelled else None
    if smoke:
        own = model.get_params(deep=False).keys()
        model.set_params(**{name: value for name, value in QUICKLY.items() if name in own})
    model = model.fit(x) if labels is None else model.fit(x, labels)
    return Case(model, x, domains=labels, effort="full", random_state=seed)


def _means(links: Any, part: str) -> dict[str, float]:
    """Return the mean over latents of what links have of them, where they have something."""
    found: dict[str, float] = {}
    for each in links:
        assert isinstance(each, Link)
        values = getattr(each, part)
        if np.isfinite(values).any():
            found[each.name] = float(np.mean(values[np.isfinite(values)]))
    return found
