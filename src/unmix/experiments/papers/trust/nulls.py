"""Is nothing trusted where nothing can be known? Null worlds for every estimator, and the verdict on them.

Each run draws a world of a null family, fits, and asks `unmix.trust` at full effort, with the coefficients
that the package stores. The worlds are new. Two estimators have no null family in the calibration: iVAE gets
those of domains, and the labelled autoencoder latents without rest, or that rest together, beside labels that
say nothing. Any latent that is trusted is trusted falsely. For what calibrated means see Guo et al. (2017),
arXiv:1706.04599.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from unmix import evidence
from unmix.data import LatentDataset
from unmix.estimators import IVAE, LabelledSparseAutoencoder

from ...engine import Cell
from ._family import Family
from .calibration import FAMILIES, QUICKLY, SMALL

VERDICT, CLEAN, LARGEST = "the verdict", "share without a trusted latent", "largest probability"
EFFORT, N_LABELS = "full", 4
_SPREAD = 100_000  # as in the calibration, whose seeds are others


def _of_its_own(estimator: Any, data: LatentDataset, seed: int) -> Any:
    return estimator(data.z.shape[1], random_state=seed)


def _labelled(family: Family, n_samples: int, seed: int) -> LatentDataset:
    """Draw a world of a family, and beside it labels that have nothing to do with it."""
    labels = np.random.default_rng((seed, 29)).integers(N_LABELS, size=n_samples)
    return replace(family.draw(n_samples, seed), u=labels)


def _with_labels(name: str) -> Family:
    family, model = FAMILIES[name], partial(_of_its_own, LabelledSparseAutoencoder)
    return replace(family, model=model, draw=partial(_labelled, family), labelled=True)


def _nulls(*beginnings: str) -> tuple[Family, ...]:
    return tuple(each for each in FAMILIES.values() if each.null and each.name.startswith(beginnings))


WORLDS: dict[str, tuple[Family, ...]] = {
    "iVAE": tuple(replace(each, model=partial(_of_its_own, IVAE)) for each in _nulls("domains")),
    "labelled autoencoder": tuple(map(_with_labels, ("mixture.shapeless", "mixture.together"))),
    "FastICA": _nulls("linear"),
    "SparseBasis": _nulls("basis"),
    "slots": _nulls("slots"),
    "CG-VAE": _nulls("domains"),
    "PDGMM": _nulls("mixture"),
    "diverse dictionary": _nulls("null: "),
}

CELLS = tuple(
    Cell(VERDICT, name, value=value, better=better, settings={"estimator": name})
    for name in WORLDS
    for value, better in ((CLEAN, "higher"), (LARGEST, "lower"))
)


def run(cell: Cell, seed: int, budget: str) -> dict[str, Any]:
    """Draw a world of the estimator's families, one after the other by the seed; fit, and ask."""
    families, smoke = WORLDS[cell.settings["estimator"]], budget == "smoke"
    family = families[seed % len(families)]
    data = family.draw(SMALL if smoke else family.n_samples, _SPREAD * seed)
    model = family.model(data, seed)
    if smoke:
        own = model.get_params(deep=False).keys()
        model.set_params(**{name: value for name, value in QUICKLY.items() if name in own})
    labels = data.u if family.labelled else None
    model = model.fit(data.x) if labels is None else model.fit(data.x, labels)
    verdict = evidence.trust(model, data.x, domains=labels, effort=EFFORT, verbose=False)
    return {CLEAN: float(not verdict.trusted.any()), LARGEST: float(verdict.probability.max())}
