"""What a structure would identify if it is right, latent by latent, and what it looks like as a whole."""

from typing import Any

import numpy as np

from ._drawings import relations_agree
from ._material import Material
from ._words import (
    hat,
    latent_meaning,
    level_counts,
    listing,
    margin_sentence,
    nonlinearity_sentence,
    triangular_warning,
    truth_sentence,
)

WHAT = (
    "This is about the estimated structure, by exact set algebra, and not about the fit: whether that "
    "structure is right is part of what the verdict above measures."
)
SHADE = "Shade: strength of the dependency relative to the strongest in its row. Dot: counted as present."


def certificate_words(material: Material) -> dict[str, Any]:
    """Return one row per latent, the reasoning, what speaks against the premises, and the assumptions."""
    certificate = material.certificate
    if certificate is None:
        nothing = dict.fromkeys(("latents", "reasons", "theorems", "assumptions", "answers", "doubts"), ())
        return nothing | {"independent": False}
    return {
        "latents": [_latent(material, j) for j in range(certificate.structure.n_latents)],
        "certificate_intro": level_counts(certificate) + (f" {WHAT}" if material.trust is not None else ""),
        "doubts": _doubts(material),
        "reasons": certificate.reasons,
        "answers": _answers(material.explanation),
        "theorems": material.explanation.certificates,
        "independent": bool(certificate.independent_latents),
        "assumptions": list(material.explanation.assumed),
    }


def _doubts(material: Material) -> list[str]:
    """List what was found to speak against the premises."""
    dense = "" if material.identifying else triangular_warning(material.certificate)
    return [words for words in (dense, nonlinearity_sentence(material.explanation)) if words]


def _latent(material: Material, j: int) -> dict[str, str]:
    certificate, structure = material.certificate, material.certificate.structure
    block = next(block for block in certificate.blocks if j in block)
    others = [hat(k) for k in sorted(block - {j})]
    mixes = [k for k in map(int, np.flatnonzero(certificate.may_depend[j])) if k != j]
    observed = material.observed_names or [f"x{i}" for i in range(structure.n_observed)]
    return {
        "name": hat(j),
        "level": latent_meaning(certificate.levels[j], others) if material.identifying else "not singled out",
        "reaches": _short([observed[i] for i in _by_strength(material, structure, j)]),
        "mixes": _short([hat(k) for k in mixes]),
        "paper_only": _short([hat(k) for k in mixes if certificate.separated_in_paper[j, k]], empty=""),
        "clauses": listing(map(str, sorted(certificate.clauses[j])), empty="none"),
    }


def _by_strength(material: Material, structure: Any, j: int) -> list[int]:
    """Return what a latent reaches, the strongest first: in column order many latents look alike."""
    found = None if material.fitted.x is None else material.fitted.loadings
    if found is None or found.values.shape != structure.shape:
        return sorted(structure.influence(j))
    return sorted(structure.influence(j), key=lambda i: -abs(found.values[i, j]))


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
        return {
            "structure_text": "",
            "structure_truth": "",
            "structure_caption": "",
            "margin_text": "",
            "relations_agree": True,
        }
    blocks = material.certificate.blocks
    together = [listing(map(hat, sorted(block))) for block in blocks if len(block) > 1]
    return {
        "structure_text": f"{structure.n_edges} of {structure.support.size} possible dependencies are there. "
        f"By their reach the latents fall into {len(blocks)} group{'s' if len(blocks) > 1 else ''}."
        + (f" Not told apart: {'; '.join(together)}." if together else ""),
        "structure_truth": truth_sentence(structure, material.data.structure),
        "structure_caption": SHADE
        if material.strength is not None
        else "Filled: the variable depends on the latent.",
        "margin_text": margin_sentence(structure.margin),
        "relations_agree": relations_agree(material),
    }
