"""The content of the page, section by section, as plain values for the template."""

import re
from typing import Any

import numpy as np

from .._findings import ability
from ._bars import restarts, scores
from ._certificate import certificate_words, structure_words
from ._drawings import MAX_TRAVERSALS, drawings
from ._graph import graph_words
from ._material import Material, gather
from ._mixture import mixture_words
from ._names import name_words
from ._trust import trust_words
from ._verdict import verdict


def page(*, model: Any, graph: Any = None, **given: Any) -> dict[str, Any]:
    """Return every variable of the template."""
    material = gather(model, graph=graph, **given)
    figures = drawings(material)
    return {
        "verdict": verdict(material),
        "subtitle": _subtitle(material),
        "facts": _facts(material),
        **trust_words(material),
        **name_words(material),
        "identifying": material.identifying,
        "scores": scores(material),
        **certificate_words(material),
        **structure_words(material),
        "mixture": mixture_words(material),
        "graph": graph_words(material.graph, material.data, material.matching),
        **restarts(material.findings),
        **reproduce(model),
        "figures": figures,
        "traversals_left_out": _not_drawn(material, len(figures["traversals"])),
    }


def _not_drawn(material: Material, n_drawn: int) -> int:
    codes = material.fitted.codes
    return 0 if codes is None or n_drawn < MAX_TRAVERSALS else codes.shape[1] - n_drawn


def _subtitle(material: Material) -> str:
    """Say what was fitted to what."""
    x = material.data.x
    size = "" if x is None else f"{len(x):,} samples of {x.shape[1]:,} variables"
    described = material.data.description.rstrip(".") or size
    by = "" if material.model is None else f"fitted by {spaced(type(material.model).__name__)}"
    sentence = ", ".join(part for part in (described, by) if part)
    return f"{sentence[:1].upper()}{sentence[1:]}." if sentence else ""


def _facts(material: Material) -> list[dict[str, str]]:
    facts, x = [], material.data.x
    if x is not None:
        facts.append(("Samples", f"{len(x):,}", f"of {x.shape[1]:,} variables"))
    if material.structure is not None:
        facts += _structure_facts(material.structure, material.certificate)
    elif material.codes is not None:
        facts.append(("Latents", str(material.codes.shape[1]), _kinds(material.findings)))
    if material.fitted.explained is not None:
        facts.append(("Explained", f"{material.fitted.explained:.1%}", "of the variance of x"))
    return [{"label": label, "value": value, "detail": detail} for label, value, detail in facts]


def _kinds(findings: Any) -> str:
    """Say how many latents are what their method looks for."""
    if findings.components is not None and findings.components.gaussian is not None:
        return f"{int(np.sum(~np.asarray(findings.components.gaussian)))} not Gaussian"
    if findings.resting is not None and findings.resting.found is not None:
        return f"{int(np.sum(findings.resting.found))} with a clear value of rest"
    return ""


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
    counted = certificate.alternative
    if counted.edges is None:
        return ""
    return f"a triangular model needs {'' if counted.exact else 'at most '}{counted.edges}"


def spaced(name: str) -> str:
    """Split a class name into words, so that it may wrap.

    >>> spaced("DiverseDictionaryLearning"), spaced("BetaVAE")
    ('Diverse Dictionary Learning', 'Beta VAE')
    """
    starts = [k for k in range(1, len(name)) if name[k].isupper() and name[k - 1].islower()]
    return " ".join(name[a:b] for a, b in zip([0, *starts], [*starts, len(name)], strict=True))


def reproduce(model: Any, data: str = "x") -> dict[str, Any]:
    """Return the lines that fit the model again, and its settings."""
    settings = ability(model, "get_params")
    if settings is None:
        return {"code": "", "parameters": []}
    parameters = sorted((name, _written(value)) for name, value in settings(deep=False).items())
    maker = _written(model) if hasattr(model, "steps") else f"unmix.{_written(model)}"
    told = f"{data}, domains=domains" if getattr(model, "needs_domains", False) else data
    code = f"import unmix\n\nmodel = {maker}.fit({told})\nz_hat = model.transform({data})"
    return {"code": code, "parameters": parameters}


def _written(value: Any) -> str:
    """Write a value as code; functions by their names, which stay, and not by their places in memory.

    >>> _written([_written]) == "[_written]"
    True
    """
    return re.sub(r"<function (?:\w+\.)*(\w+) at 0x[0-9a-f]+>", r"\1", repr(value))
