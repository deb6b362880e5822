"""What the tables about images share: trainings by weight decay, choices among them, and scores of codes.

Nelson et al. (2026), arXiv:2603.11970, Section 4.3, in the protocol of Hsu et al. (2023), arXiv:2305.18378.
"""

from typing import Any

import numpy as np

from unmix.metrics import align, mcc

from ...engine import Cell, Place
from .._pictures.codes import Learned, learned
from .._pictures.models import AE, QUANTISED, make
from .._pictures.scores import (
    MORE,
    PARTS,
    REFERENCES,
    independent,
    information,
    levels,
    reference_codes,
    scores,
    told_by_pixels,
)
from .._pictures.twins import pictures
from .._references import rotated

ICA = "AE + ICA"
OF_ICA, BY_FACTORS, BY_FACTORS_ICA = " of ICA", " of the choice by factors", " of ICA, chosen by factors"
OF_PART, OF_LEVELS, COMPONENTS = " of the linear part", " of levels of the linear part", "components"
VALUES = (*PARTS, *MORE)
MAPS = ("permutation", "rigid", "linear", "ica", "efficiency")
BETWEEN, BETWEEN_ICA = "MCC between runs", "MCC between runs of ICA"
# trainings of the plain autoencoder, the only model whose weight decay the paper varies
DECAYS = {"smoke": (1e-3,), "laptop": (1e-3, 1e-1), "gpu": (1e-3, 1e-1)}
LARGE_DECAYS = (1e-2,)  # of the published networks, which take five times as long
LENGTHS: tuple[dict[str, float], ...] = ({}, {"share": 0.5})  # the choice by factors is among both
WITHIN, FILTER = 1.0, 3.0  # decibels below the best reconstruction


def run(cell: Cell, seed: int, budget: str, place: Place) -> dict[str, Any]:
    """Train what a cell names, and score its codes or see how far two trainings agree."""
    given = cell.settings
    if given["task"] == "agreement":
        return _agreement(given, seed, budget, place)
    seen = pictures(given["twin"], budget)
    if given["model"] in REFERENCES:
        codes = reference_codes(given["model"], seen, 2 * len(seen.data.sizes), seed, place)
        return scores(seen, codes, budget) | _linear(seen, codes, seed, budget, place)
    if given["model"] != AE:
        found = learned(make, _training(given), seed, budget, place)
        quantised = given["model"] in QUANTISED
        return _told(found) | scores(seen, found.codes, budget, discrete=quantised)
    return _autoencoders(seen, given, seed, budget, place)


def _autoencoders(seen: Any, given: Any, seed: int, budget: str, place: Place) -> dict[str, Any]:
    """Score the plain autoencoder and its independent components, each with both ways to choose one."""
    decays = LARGE_DECAYS if "networks" in given else DECAYS[budget]
    found = [
        learned(make, _training(given, decay) | length, seed, budget, place)
        for length in LENGTHS
        for decay in decays
    ]
    turned = [independent(one.codes, seed, place.device) for one in found]
    ours = chosen(found[: len(decays)])  # of the longest
    plain, ica = ([information(seen, codes) for codes in all_] for all_ in ([f.codes for f in found], turned))
    return (
        _told(found[ours])
        | {"log10 weight decay": float(np.log10(decays[ours]))}
        | scores(seen, found[ours].codes, budget)
        | _named(OF_ICA, scores(seen, turned[ours], budget))
        | _linear(seen, found[ours].codes, seed, budget, place)
        | _named(BY_FACTORS, plain[by_factors(found, plain)])
        | _named(BY_FACTORS_ICA, ica[by_factors(found, ica)])
    )


def _linear(seen: Any, codes: np.ndarray, seed: int, budget: str, place: Place) -> dict[str, float]:
    """Score components of what pixels tell linearly of the codes, and the same in ten values each."""
    components = independent(told_by_pixels(seen, codes, place), seed, place.device)
    return (
        {COMPONENTS + OF_PART: float(components.shape[1])}
        | _named(OF_PART, scores(seen, components, budget))
        | _named(OF_LEVELS, scores(seen, levels(components), budget, discrete=True))
    )


def chosen(found: list[Learned]) -> int:
    """Choose without factors: the largest weight decay whose reconstruction is within 1 dB of the best."""
    best = max(one.psnr for one in found)
    return max(k for k, one in enumerate(found) if one.psnr >= best - WITHIN)


def by_factors(found: list[Learned], scored: list[dict[str, float]]) -> int:
    """Choose weight decay and length as the paper does, by InfoM, of what is within 3 dB of the best."""
    best = max(one.psnr for one in found)
    allowed = [k for k, one in enumerate(found) if one.psnr >= best - FILTER]
    return max(allowed, key=lambda k: scored[k]["InfoM"])


def _agreement(given: Any, seed: int, budget: str, place: Place) -> dict[str, Any]:
    """Align two trainings that differ in their seed, or one with a rotation of itself."""
    seen, row = pictures(given["twin"], budget), given["model"]
    if row in REFERENCES:
        codes = reference_codes(row, seen, 2 * len(seen.data.sizes), seed, place)
        pair = [codes[seen.scored], rotated(codes[seen.scored], seed)]
        turned = pair
    else:
        trainings = [_training(given, _decay(given, budget))] * 2
        both = [learned(make, one, seed + k, budget, place).codes for k, one in enumerate(trainings)]
        pair = [codes[seen.scored] for codes in both]
        turned = [independent(codes, seed, place.device)[seen.scored] for codes in both]
    found = align(*(np.asarray(codes, float) for codes in pair))
    between = {BETWEEN: mcc(*pair), BETWEEN_ICA: mcc(*turned)}
    return {name: getattr(found, name) for name in MAPS} | between


def _decay(given: Any, budget: str) -> float | None:
    return DECAYS[budget][-1] if given["model"] == AE else None


def _training(given: Any, decay: float | None = None) -> dict[str, Any]:
    """Return the settings of a training, the same for every table that asks for it."""
    plain = {name: given[name] for name in ("model", "twin", "networks") if name in given}
    return plain if decay is None else plain | {"weight_decay": decay}


def _told(found: Learned) -> dict[str, float]:
    return {"PSNR": found.psnr, "seconds of training": found.seconds}


def _named(suffix: str, found: dict[str, float]) -> dict[str, float]:
    return {name + suffix: value for name, value in found.items()}
