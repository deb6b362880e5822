"""Latents that rest in some components of a mixture: what a report says about them."""

from typing import Any

import numpy as np

from .._findings import Findings, ability
from ._data import Data
from ._words import Verdict

MAX_CERTIFIED = 32  # components; genericity compares every way in which supports meet, which takes long
WOULD = {
    "permutation and scaling": "the latents would be identified",
    "blocks": "the latents would be identified in blocks",
    "affine": "the latents would be known up to one affine map",
    "affine within components": "the latents would be known up to an affine map within each component",
    "none": "no theorem would identify the latents",
}
_RESTING = (
    "The latents fall into {count} component{s}: in each of them some latents vary, and the others rest at "
    "one value. On average {active:.1f} of {n} are active at a time."
)
_SUPPORTS_ONLY = (
    "There are too many components to compare them all here, so only their index sets were judged; what else "
    "the theorems ask for is taken for granted. Pass `certificate=unmix.theory.certify_components(model)` "
    "for the rest."
)


def mixture_certificate(findings: Findings) -> Any:
    """Judge the components of a model, all conditions where there are few, else their index sets alone."""
    from ..theory import certify_components, certify_supports

    masks = _masks(findings)
    if not masks.any(0).all():
        return None
    return certify_components(findings) if len(masks) <= MAX_CERTIFIED else certify_supports(masks)


def mixture_answer(found: Any) -> Verdict:
    """Say what components would identify if they are right, for a page without a model to judge."""
    generic = " and in general position" if _narrow(found) else ""
    headline = f"If these components are right{generic}, {WOULD[found.level]}"
    return Verdict("open", headline, (found.identifies, *([_SUPPORTS_ONLY] if generic else [])))


def _masks(findings: Findings) -> np.ndarray:
    return np.asarray(None if findings.mixture is None else findings.mixture.masks)


def mixture_words(material: Any) -> dict[str, Any] | None:
    """Return what is said beside the pictures of the components, None where there are none."""
    resting = material.findings.degenerate
    if resting is None:
        return None
    masks, weights = np.asarray(resting.masks), np.asarray(resting.weights)
    found = material.mixture
    count = len(masks)
    text = _RESTING.format(
        count=count, s="s" * (count > 1), active=float(weights @ masks.sum(1)), n=masks.shape[1]
    )
    return {
        "text": text,
        "patterns": pattern_sentence(material.model, material.data),
        "would": "" if found is None else f"If these components are right, {WOULD[found.level]}.",
        "identifies": "" if found is None else found.identifies,
        "note": _SUPPORTS_ONLY if count > MAX_CERTIFIED and found is not None and _narrow(found) else "",
        "theorems": () if found is None else found.certificates,
        "missing": () if found is None else found.missing,
        "assumptions": ()
        if found is None
        else tuple(dict.fromkeys(a for c in found.certificates for a in c.assumes)),
    }


def _narrow(certificate: Any) -> bool:
    """Whether genericity was not among the conditions judged."""
    return not any("3.4" in part.theorem for part in certificate.certificates)


def pattern_sentence(model: Any, data: Data) -> str:
    """Compare the activity patterns of a model with the true ones, where these are known."""
    from ..metrics import support_f1

    true, told = data.active, ability(model, "activity")
    if true is None or told is None:
        return ""
    score, all_active = support_f1(true, told(data.rows)), support_f1(true, np.ones_like(true))
    return (
        f"Which latents are active in which sample was found with an F1 of {score:.3f}; calling all of them "
        f"active everywhere would score {all_active:.3f}."
    )
