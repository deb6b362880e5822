"""The content of the page, section by section, as plain values for the template."""

from typing import Any

import numpy as np

from ._bars import restarts, scores
from ._drawings import MAX_TRAVERSALS, drawings
from ._material import Material, gather
from ._mixture import is_mixture, mixture_verdict, mixture_words
from ._trust import structure_words, trust
from ._words import (
    Verdict,
    fit_sentence,
    margin_sentence,
    nonlinearity_sentence,
    not_beaten,
    score_sentence,
    triangular_warning,
    truth_sentence,
    verdict,
)


def page(*, model: Any, data: Any, evaluation: Any, certificate: Any, graph: Any = None) -> dict[str, Any]:
    """Return every variable of the template."""
    material = gather(model, data, evaluation, certificate, graph)
    figures = drawings(material)
    n_drawn = len(figures["traversals"])
    return {
        "verdict": _verdict(material),
        "subtitle": _subtitle(material),
        "facts": _facts(material),
        "identifying": material.identifying,
        "triangular_warning": "" if material.identifying else triangular_warning(material.certificate),
        "scores": scores(material),
        **trust(material),
        **structure_words(material),
        "mixture": mixture_words(material),
        "graph": material.graph_words,
        **restarts(model),
        **_reproduce(model),
        "figures": figures,
        "traversals_left_out": model.structure_.n_latents - n_drawn if n_drawn == MAX_TRAVERSALS else 0,
    }


def _verdict(material: Material) -> Verdict:
    """Start from the certificate, then let truth, margin, fit and scores lower the tone."""
    if material.certificate is None and is_mixture(material.model):
        return mixture_verdict(material)
    margin = None if material.structure is None else material.structure.margin
    wrong = truth_sentence(material.structure, material.true_structure)
    answer = verdict(material.certificate, material.unused if material.certificate is None else ())
    for tone, sentence in (
        nonlinearity_sentence(material.explanation),
        wrong,
        margin_sentence(margin),
        fit_sentence(material.explained),
        _score(material),
    ):
        answer = answer.adding(tone, sentence) if sentence else answer
    if material.certificate is None or not material.identifying:
        return answer
    if nonlinearity_sentence(material.explanation)[1]:
        return answer.headed("The latents can’t be taken as identified")
    if material.mcc is not None and not_beaten(material.mcc):
        return answer.headed("This fit did not recover the latents")
    return (
        answer.headed("Recovered with a structure that is not quite right") if wrong[0] == "care" else answer
    )


def _score(material: Material) -> tuple[str, str]:
    if material.mcc is not None:
        return score_sentence("mcc", "MCC", material.mcc, identifying=material.identifying)
    without = "No truth was given to compare with: trust rests on the structure and its assumptions."
    return "good", without if material.certificate is not None else ""


def _subtitle(material: Material) -> str:
    """Say what was fitted to what."""
    data = "" if material.x is None else f"{len(material.x):,} samples of {material.x.shape[1]} variables"
    described = material.description.rstrip(".") or data
    by = "" if material.model is None else f"fitted by {_spaced(type(material.model).__name__)}"
    sentence = ", ".join(part for part in (described, by) if part)
    return f"{sentence[:1].upper()}{sentence[1:]}." if sentence else ""


def _facts(material: Material) -> list[dict[str, str]]:
    facts = [
        *(
            []
            if material.x is None
            else [("Samples", f"{len(material.x):,}", f"of {material.x.shape[1]} variables")]
        ),
        *([] if material.structure is None else _structure_facts(material.structure, material.certificate)),
        *(
            []
            if material.explained is None
            else [("Explained", f"{material.explained:.1%}", "of the variance of x")]
        ),
    ]
    return [{"label": label, "value": value, "detail": detail} for label, value, detail in facts]


def _structure_facts(structure: Any, certificate: Any) -> list[tuple[str, str, str]]:
    rival = _rival(certificate)
    facts = [("Latents", str(structure.n_latents), ""), ("Dependencies", str(structure.n_edges), rival)]
    if structure.margin is not None:
        facts.append(
            ("Margin", "∞" if np.isinf(structure.margin) else f"{structure.margin:.1f}×", "kept over dropped")
        )
    return facts


def _rival(certificate: Any) -> str:
    """Say how few edges a triangular model of such data needs, where that is known."""
    counted = getattr(certificate, "alternative", None)
    if counted is None or counted.edges is None:
        return ""
    return f"a triangular model needs {'' if counted.exact else 'at most '}{counted.edges}"


def _spaced(name: str) -> str:
    """Split a class name into words, so that it may wrap.

    >>> _spaced("DiverseDictionaryLearning"), _spaced("BetaVAE")
    ('Diverse Dictionary Learning', 'Beta VAE')
    """
    starts = [k for k in range(1, len(name)) if name[k].isupper() and name[k - 1].islower()]
    return " ".join(name[a:b] for a, b in zip([0, *starts], [*starts, len(name)], strict=True))


def _reproduce(model: Any) -> dict[str, Any]:
    if model is None or not hasattr(model, "get_params"):
        return {"code": "", "parameters": []}
    parameters = sorted((name, repr(value)) for name, value in model.get_params(deep=False).items())
    code = f"import unmix\n\nmodel = unmix.{model!r}.fit(x)\nz_hat = model.transform(x)"
    return {"code": code, "parameters": parameters}
