"""Latents that rest in some components of a mixture: what a report says about them."""

from typing import Any

import numpy as np

from .._findings import Findings, ability
from ._data import Data
from ._words import Verdict, fit_sentence, listing, not_beaten, score_sentence

MAX_CERTIFIED = 32  # components; genericity compares every way in which supports meet, which takes long
HEADLINES = {
    "permutation and scaling": ("good", "The latents are identified"),
    "blocks": ("care", "The latents are identified in blocks"),
    "affine": ("care", "Known up to one affine map"),
    "affine within components": ("care", "Known up to an affine map within each component"),
    "none": ("stop", "No theorem identifies these latents"),
}
_RESTING = (
    "The latents fall into {count} component{s}: in each of them some latents vary, and the others rest at "
    "one value. On average {active:.1f} of {n} are active at a time."
)
_IF_GENERIC = "What the components identify, if they are in general position"
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


def mixture_verdict(material: Any) -> Verdict:
    """Say what the mixture allows to be claimed, then let flags, fit and scores lower the tone."""
    found = material.mixture
    if found is None:
        never = [f"ẑ{j}" for j in np.flatnonzero(~_masks(material.findings).any(0))]
        answer = Verdict("stop", "Some latents never vary", (f"{listing(never)}: ask for fewer latents.",))
    else:
        answer = Verdict(*HEADLINES[found.level], (found.identifies,))
        if _narrow(found):
            answer = answer.adding("care", _SUPPORTS_ONLY).headed(_IF_GENERIC)
    flags = [("care", flag) for flag in material.findings.flags or ()]
    answer = answer.with_remarks(*flags, fit_sentence(material.fitted.explained), _score(material))
    return answer.headed("This fit did not recover the latents") if not_beaten(material.mcc) else answer


def _masks(findings: Findings) -> np.ndarray:
    return np.asarray(None if findings.mixture is None else findings.mixture.masks)


def _score(material: Any) -> tuple[str, str]:
    if material.mcc is None:
        return "good", "No truth was given to compare with: trust rests on the components and on assumptions."
    return score_sentence("mcc", "MCC", material.mcc, identifying=True)


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
