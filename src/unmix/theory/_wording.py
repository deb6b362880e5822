"""Certificates of structures in words."""

from collections import Counter
from typing import Any

import numpy as np

from unmix.structure import triangular_edges

from ._certificate import assumed, names
from ._theorems import assumptions


def latent_reasons(certificate: Any) -> tuple[str, ...]:
    """Write one sentence per latent."""
    block_of = {latent: block for block in certificate.blocks for latent in block}
    return tuple(_reason(certificate, latent, block_of[latent]) for latent in range(len(certificate.levels)))


def _reason(certificate: Any, latent: int, block: frozenset[int]) -> str:
    above = frozenset(np.flatnonzero(certificate.may_depend[latent]).tolist()) - block
    if certificate.levels[latent] == "element":
        return f"z{latent} is identified alone: {_why_alone(certificate, latent)}."
    if certificate.levels[latent] == "element if independent":
        return (
            f"z{latent} may be mixed with {names(above)} (moving all that it moves); "
            "it is identified alone if latents are independent."
        )
    rest = f", and may be mixed with {names(above)} (moving all that they move)" if above else ""
    return f"z{latent} is identified only within {{{names(block)}}}, which have the same children{rest}."


def _why_alone(certificate: Any, latent: int) -> str:
    if 3 in certificate.clauses[latent]:
        children = names(certificate.structure.influence(latent), "x")
        return f"no other latent moves all of {children} (clause 3)"
    return "its children differ from every other latent's, and latents are independent"


def notes(certificate: Any) -> tuple[str, ...]:
    """Write what concerns the structure as a whole: injectivity, the triangular alternative, the margin."""
    return _injectivity(certificate.structure) + _triangular(certificate) + _margin(certificate.structure)


def _injectivity(structure: Any) -> tuple[str, ...]:
    if structure.is_injective():
        return ()
    return (
        "Not every latent can be given an observed variable of its own: the mixing is injective only if "
        "observed variables stand for groups of numbers (views, patches).",
    )


def _triangular(certificate: Any) -> tuple[str, ...]:
    if certificate.sparser_than_triangular:
        return ()
    x, n = certificate.structure.shape
    if x < n:
        count = "With fewer observed variables than latents the triangular alternative cannot be counted"
    else:
        count = (
            f"A triangular (Knothe-Rosenblatt) model fits any data with at most "
            f"{triangular_edges(x, n)} edges, and this structure has {certificate.structure.n_edges}"
        )
    return (
        f"{count}: sparsity alone may not single out the truth. Every guarantee rests on the faithfulness "
        "assumption that excludes such models (Assumption 1, second half).",
    )


def _margin(structure: Any) -> tuple[str, ...]:
    if structure.margin is None or structure.margin >= 2:
        return ()
    return (
        f"The structure was read off a Jacobian with a margin of {structure.margin:.2f}: the smallest edge "
        "kept is hardly larger than the largest dropped, so another structure is nearly as likely.",
    )


def summary(certificate: Any) -> str:
    """Write a report: counts, one line per latent, notes, theorems."""
    x, n = certificate.structure.shape
    counts = Counter(certificate.levels)
    found = ", ".join(f"{counts[level]} {words}" for level, words in _LEVELS.items() if counts[level])
    head = f"{n} latents, {x} observed variables, {certificate.structure.n_edges} edges: {found}."
    reasons = [f"- {reason}" for reason in certificate.reasons]
    theorems = [f"- {theorem.verdict}" for theorem in certificate.certificates]
    return "\n".join([head, *reasons, "Theorems:", *theorems, assumed(assumptions(certificate))])


_LEVELS = {
    "element": "identified alone",
    "element if independent": "identified alone if latents are independent",
    "block": "identified only as part of a block",
}
