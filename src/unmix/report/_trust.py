"""What the certificate says about each latent, and about the structure as a whole."""

from typing import Any

import numpy as np

from ._drawings import relations_agree
from ._material import Material
from ._words import LEVELS, hat, latent_meaning, listing, margin_sentence

TRUST = (
    "This follows from the {whose} structure alone, by exact set algebra, not from any score. It says what "
    "every model that explains the same data with an equally sparse structure must agree on."
)
SHADE = "Shade: strength of the dependency relative to the strongest in its row. Dot: counted as present."


def trust(material: Material) -> dict[str, Any]:
    """Return one card per latent, the reasoning and the assumptions."""
    certificate = material.certificate
    if certificate is None:
        nothing = dict.fromkeys(("latents", "reasons", "theorems", "assumptions", "answers"), ())
        return nothing | {"independent": False}
    whose = "estimated" if material.findings.structure is not None else "given"
    return {
        "latents": [_latent(material, j) for j in range(certificate.structure.n_latents)],
        "trust_intro": TRUST.format(whose=whose),
        "reasons": certificate.reasons,
        "answers": _answers(material.explanation),
        "theorems": material.explanation.certificates,
        "independent": bool(certificate.independent_latents),
        "assumptions": list(material.explanation.assumed),
    }


def _latent(material: Material, j: int) -> dict[str, str]:
    certificate, structure = material.certificate, material.certificate.structure
    tone, word = LEVELS[certificate.levels[j]] if material.identifying else ("stop", "not singled out")
    block = next(block for block in certificate.blocks if j in block)
    mixes = [k for k in map(int, np.flatnonzero(certificate.may_depend[j])) if k != j]
    observed = material.observed_names or [f"x{i}" for i in range(structure.n_observed)]
    return {
        "name": hat(j),
        "tone": tone,
        "level": word,
        "meaning": latent_meaning(certificate.levels[j], [hat(k) for k in sorted(block - {j})]),
        "truth": _counterpart(material, j),
        "reaches": _short([observed[i] for i in sorted(structure.influence(j))]),
        "mixes": _short([hat(k) for k in mixes]),
        "paper_only": _short([hat(k) for k in mixes if certificate.separated_in_paper[j, k]], empty=""),
        "clauses": listing(map(str, sorted(certificate.clauses[j])), empty="none"),
    }


def _counterpart(material: Material, j: int) -> str:
    """Name the true latent that an estimated one was matched to, where the truth is known."""
    matching = material.matching
    if matching is None or j not in matching.order:
        return ""
    true = matching.order.index(j)
    return f"z{true}, correlation {matching.correlation[true, j]:.3f}"


def _short(words: list[str], *, most: int = 12, empty: str = "nothing") -> str:
    return listing(words if len(words) <= most else [*words[:most], f"{len(words) - most} more"], empty=empty)


def _answers(explanation: Any) -> list[tuple[str, str]]:
    """List what each part of the explanation concludes, other than the structure, which has its cards."""
    named = zip(explanation.parts, explanation.titled, strict=True)
    return [answer for name, answer in named if name != "structure"]


def structure_words(material: Material) -> dict[str, Any]:
    """Return what is said beside the pictures of the structure."""
    structure = material.structure
    if structure is None:
        return {"structure_text": "", "structure_caption": "", "margin_text": "", "relations_agree": True}
    blocks = material.certificate.blocks
    together = [listing(map(hat, sorted(block))) for block in blocks if len(block) > 1]
    return {
        "structure_text": f"{structure.n_edges} of {structure.support.size} possible dependencies are there. "
        f"By their reach the latents fall into {len(blocks)} group{'s' if len(blocks) > 1 else ''}."
        + (f" Not told apart: {'; '.join(together)}." if together else ""),
        "structure_caption": SHADE
        if material.strength is not None
        else "Filled: the variable depends on the latent.",
        "margin_text": margin_sentence(structure.margin)[1],
        "relations_agree": relations_agree(material),
    }
