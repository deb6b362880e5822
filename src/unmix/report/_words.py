"""Structures and scores in words: what may be said, under which condition, and what must not be said."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

CLEAR_MARGIN, WEAK_MARGIN = 3.0, 1.5  # smallest kept dependency over largest dropped one
POOR_FIT = 0.9  # share of the variance of x below which a model does not match the data
GIVEN = (
    "This follows from the structure as it was given, by exact set algebra, if the assumptions below hold. "
    "Whether a fit earns trust is another question, for unmix trust to answer."
)
TONES = ("good", "open", "care", "stop")


@dataclass(frozen=True)
class Verdict:
    """The answer at the top of the page: a tone (good, open, care, stop), a headline and a few sentences."""

    tone: str
    headline: str
    sentences: tuple[str, ...]

    def headed(self, headline: str) -> "Verdict":
        """Return the verdict under another headline."""
        return replace(self, headline=headline)

    def adding(self, tone: str, sentence: str) -> "Verdict":
        """Return the verdict with one more sentence and the graver of both tones."""
        graver = max(self.tone, tone, key=TONES.index)
        return replace(self, tone=graver, sentences=(*self.sentences, sentence))

    def with_remarks(self, *remarks: tuple[str, str]) -> "Verdict":
        """Return the verdict with every remark that says something, each a tone and a sentence."""
        return reduce(lambda said, remark: said.adding(*remark) if remark[1] else said, remarks, self)


def hat(j: int) -> str:
    """Name an estimated latent."""
    return f"ẑ{j}"


def listing(words: Iterable[str], *, empty: str = "nothing") -> str:
    """Join words as a person would.

    >>> listing(["a", "b", "c"])
    'a, b and c'
    """
    words = list(words)
    if len(words) < 2:
        return words[0] if words else empty
    return f"{', '.join(words[:-1])} and {words[-1]}"


def structure_answer(certificate: Any) -> Verdict:
    """Say what a structure would identify if it is right, for a page without a model to judge."""
    if not certificate.sparser_than_triangular:
        return Verdict("stop", "This structure can’t be singled out", (triangular_warning(certificate),))
    return Verdict("open", _headline(list(certificate.levels)), (GIVEN,))


def _headline(levels: list[str]) -> str:
    n, alone = len(levels), levels.count("element")
    if alone == n:
        which = "the latent" if n == 1 else f"all {n} latents"
    else:
        which = f"{alone} of {n} latents" if alone else "no latent"
    return f"If this structure is right, {which} would be identified alone"


def level_counts(certificate: Any) -> str:
    """Say of how many latents a structure promises what, under which conditions."""
    levels = list(certificate.levels)
    n, alone, conditional = len(levels), levels.count("element"), levels.count("element if independent")
    kinds = (
        (alone, "on its own, up to an invertible change of its scale"),
        (conditional, "on its own provided that the latents are independent"),
        (n - alone - conditional, "only as part of a block"),
    )
    found = [(count, text) for count, text in kinds if count]
    whom = (lambda count: "each latent") if len(found) == 1 else (lambda count: f"{count} of the latents")
    parts = "; ".join(f"{whom(count)} {text}" for count, text in found)
    return (
        "If this structure is right and the assumptions below hold, every equally good and sparse model "
        f"would recover {parts}. Order and signs are never known."
    )


def triangular_warning(certificate: Any) -> str:
    """Say that the structure is too dense for sparsity to single it out."""
    structure, bound = certificate.structure, certificate.alternative.edges
    if bound is None:
        return "There are fewer observed variables than latents, so sparsity can’t single out the truth."
    return (
        f"The structure has {structure.n_edges} dependencies. A triangular (Knothe–Rosenblatt) model "
        f"explains such data with at most {bound}, whatever the truth is. Sparsity can’t prefer "
        "one over the other, so a good score here can’t be taken as identification."
    )


def margin_sentence(margin: float | None) -> str:
    """Say how clear the cut between dependencies and zeros is."""
    if margin is None:
        return ""
    if np.isinf(margin):
        return "The cut is clean: every dependency that was dropped is exactly zero."
    ratio = f"the weakest dependency kept is {margin:.1f} times as strong as the strongest one dropped"
    if margin >= CLEAR_MARGIN:
        return f"The cut is clear: {ratio}."
    if margin >= WEAK_MARGIN:
        return f"The cut is visible but not wide: {ratio}."
    return f"The cut is weak: {ratio}. Take the structure, and all that follows from it, as tentative."


def truth_sentence(structure: Any, true_structure: Any) -> str:
    """Compare an estimated structure with the true one, where that is known."""
    if structure is None or true_structure is None or structure.shape != true_structure.shape:
        return ""
    wrong, total = true_structure.hamming(structure), int(np.prod(structure.shape))
    if not wrong:
        return "The estimated structure equals the true one, up to the order of the latents."
    return f"The estimated structure differs from the true one in {wrong} of {total} entries."


def nonlinearity_sentence(explanation: Any) -> str:
    """Say that the decoder bends too little for any conclusion from its structure."""
    checked = None if explanation is None else explanation.parts.get("nonlinearity")
    if checked is None or checked:
        return ""
    return (
        "The decoder bends too little for conclusions from its structure (sufficient nonlinearity, "
        f"Assumption 1, fails on it): {'; '.join(checked.reasons)}."
    )


def score_sentence(key: str, name: str, score: Any, *, identifying: bool, raw: str = "raw x") -> str:
    """Compare a score with raw x, or what stands for it, and with the rotation floor."""
    value = f"{name} is {score.value:.3f}"
    if not identifying:
        return f"{value}; for this structure that is no evidence of identification."
    if score.raw is None:
        return f"{value}, but {raw} was not scored, so there is nothing to hold it against."
    if key in ("r2", "infomec.explicitness"):
        kept = "this measures what was kept, not what was told apart"
        return f"{value}. A rotation of the truth gets {score.floor:.3f}: {kept}."
    behind = not_beaten(score, raw)
    if behind:
        return f"{value}, not clearly above {listing(behind)}: this fit did not recover the latents."
    return f"{value}, above {raw} ({score.raw:.3f}) and the rotation floor ({score.floor:.3f})."


def not_beaten(score: Any, raw: str = "raw x") -> list[str]:
    """List the marks that the lower end of a score's interval does not exceed; none without a score."""
    if score is None:
        return []
    marks = ((raw, score.raw), ("the rotation floor", score.floor))
    return [f"{name} ({mark:.3f})" for name, mark in marks if mark is not None and score.interval[0] <= mark]


LEVELS = {
    "element": "alone",
    "element if independent": "alone if independent",
    "block": "in a block",
}


def latent_meaning(level: str, others: Sequence[str]) -> str:
    """Say what one latent would be known up to; `others` share its block."""
    if level == "block" and others:
        return f"in a block with {listing(others)}"
    return LEVELS[level]
