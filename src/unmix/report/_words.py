"""Certificates and scores in words: what may be said, how firmly, and what must not be said."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

CLEAR_MARGIN, WEAK_MARGIN = 3.0, 1.5  # smallest kept dependency over largest dropped one
POOR_FIT = 0.9  # share of the variance of x below which a model does not match the data
TONES = ("good", "care", "stop")


@dataclass(frozen=True)
class Verdict:
    """The answer at the top of the page: a tone (good, care, stop), a headline and a few sentences."""

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


def verdict(certificate: Any, unused: Sequence[int] = ()) -> Verdict:
    """Say what a certificate allows to be claimed; `unused` latents reach no observed variable."""
    if unused:
        sentence = f"{listing(map(hat, unused))} reach no observed variable, so no data can tell about them. "
        return Verdict("stop", "Some latents are not used", (sentence + "Fit again with fewer components.",))
    if certificate is None:
        return Verdict(
            "care", "Scores without a certificate", ("No structure was given: nothing is certified.",)
        )
    if not certificate.sparser_than_triangular:
        return Verdict("stop", "The latents can’t be taken as identified", (triangular_warning(certificate),))
    levels = list(certificate.levels)
    n, alone, conditional = len(levels), levels.count("element"), levels.count("element if independent")
    return Verdict(*_headline(n, alone, conditional), (_counts(n, alone, conditional),))


def _headline(n: int, alone: int, conditional: int) -> tuple[str, str]:
    if alone == n:
        return "good", "The latent is identified" if n == 1 else f"All {n} latents are identified"
    if alone:
        return "care", f"{alone} of {n} latents {'is' if alone == 1 else 'are'} identified without reserve"
    if conditional:
        return "care", "Identified only if the latents are independent"
    return "stop", "No latent is identified on its own"


def _counts(n: int, alone: int, conditional: int) -> str:
    kinds = (
        (alone, "on its own, up to an invertible change of its scale"),
        (conditional, "on its own provided that the latents are independent"),
        (n - alone - conditional, "only as part of a block"),
    )
    found = [(count, text) for count, text in kinds if count]
    whom = (lambda count: "each latent") if len(found) == 1 else (lambda count: f"{count} of the latents")
    parts = "; ".join(f"{whom(count)} {text}" for count, text in found)
    return (
        "If the structure is right and the assumptions below hold, every equally good and sparse model "
        f"recovers {parts}. Order and signs are never known."
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


def margin_sentence(margin: float | None) -> tuple[str, str]:
    """Say how clear the cut between dependencies and zeros is; the tone comes first."""
    if margin is None:
        return "good", ""
    if np.isinf(margin):
        return "good", "The cut is clean: every dependency that was dropped is exactly zero."
    ratio = f"the weakest dependency kept is {margin:.1f} times as strong as the strongest one dropped"
    if margin >= CLEAR_MARGIN:
        return "good", f"The cut is clear: {ratio}."
    if margin >= WEAK_MARGIN:
        return "care", f"The cut is visible but not wide: {ratio}."
    return (
        "care",
        f"The cut is weak: {ratio}. Take the structure, and all that follows from it, as tentative.",
    )


def truth_sentence(structure: Any, true_structure: Any) -> tuple[str, str]:
    """Compare an estimated structure with the true one; the tone comes first."""
    if structure is None or true_structure is None or structure.shape != true_structure.shape:
        return "good", ""
    wrong, total = true_structure.hamming(structure), int(np.prod(structure.shape))
    if not wrong:
        return "good", "The estimated structure equals the true one, up to the order of the latents."
    return "care", (
        f"The estimated structure differs from the true one in {wrong} of {total} entries, so what follows "
        "is about a structure that is not quite right."
    )


def nonlinearity_sentence(explanation: Any) -> tuple[str, str]:
    """Say that the decoder bends too little for any conclusion from its structure; the tone comes first."""
    checked = None if explanation is None else explanation.parts.get("nonlinearity")
    if checked is None or checked:
        return "good", ""
    return "stop", (
        "The decoder bends too little for conclusions from its structure (sufficient nonlinearity, "
        f"Assumption 1, fails on it): {'; '.join(checked.reasons)}."
    )


def fit_sentence(explained: float | None) -> tuple[str, str]:
    """Warn when the model does not explain the data, which every theorem assumes; the tone comes first."""
    if explained is None or explained >= POOR_FIT:
        return "good", ""
    return "care", (
        f"The model explains only {max(explained, 0.0):.0%} of the variance of x, while the theory speaks "
        "about models that match the data. Train longer, or allow more latents."
    )


def score_sentence(key: str, name: str, score: Any, *, identifying: bool) -> tuple[str, str]:
    """Compare a score with raw x and with the rotation floor; the tone comes first."""
    value = f"{name} is {score.value:.3f}"
    if not identifying:
        return "stop", f"{value}; for this structure that is no evidence of identification."
    if score.raw is None:
        return "care", f"{value}, but raw x was not scored, so there is nothing to hold it against."
    if key == "r2":
        kept = "this measures what was kept, not what was told apart"
        return "good", f"{value}. A rotation of the truth gets {score.floor:.3f}: {kept}."
    if not_beaten(score):
        return (
            "care",
            f"{value}, not clearly above {listing(not_beaten(score))}: the fit shows no gain there.",
        )
    return "good", f"{value}, above raw x ({score.raw:.3f}) and the rotation floor ({score.floor:.3f})."


def not_beaten(score: Any) -> list[str]:
    """List the marks that the lower end of a score's interval does not exceed; none without a score."""
    if score is None:
        return []
    marks = (("raw x", score.raw), ("the rotation floor", score.floor))
    return [f"{name} ({mark:.3f})" for name, mark in marks if mark is not None and score.interval[0] <= mark]


LEVELS = {
    "element": ("good", "identified"),
    "element if independent": ("care", "if independent"),
    "block": ("stop", "block only"),
}


def latent_meaning(level: str, others: Sequence[str]) -> str:
    """Say what the level of one latent means; `others` share its block."""
    if level == "element":
        return "Recovered on its own, up to an invertible change of its scale."
    if level == "element if independent":
        return "Recovered on its own if the latents are independent. Otherwise others may be mixed into it."
    if others:
        return f"Only the block with {listing(others)} is recovered; within it, anything may be mixed."
    return "Not recovered on its own."
