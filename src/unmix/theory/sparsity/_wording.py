"""Certificates of structures in words."""

from collections import Counter
from collections.abc import Collection
from typing import Any

import numpy as np

from .._certificate import assumed, names
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
    if latent in certificate.unidentified:
        return f"z{latent} is not identified at all: every latent moves all that it moves."
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
    alternative = certificate.alternative
    if alternative:
        return ()
    counts = "; ".join(alternative.reasons)
    unless = "Unless none is as sparse, every" if alternative.as_sparse is None else "Every"
    return (
        f"{counts[0].upper()}{counts[1:]}. {unless} guarantee rests on the faithfulness assumption that "
        "excludes such models (Assumption 1, second half).",
    )


def _margin(structure: Any) -> tuple[str, ...]:
    if structure.margin is None or structure.margin >= 2:
        return ()
    return (
        f"The structure was read off a Jacobian with a margin of {structure.margin:.2f}: the smallest edge "
        "kept is hardly larger than the largest dropped, so another structure is nearly as likely.",
    )


def identified(certificate: Any) -> str:
    """Say in one sentence what is identified, up to what."""
    alone = [i for i, level in enumerate(certificate.levels) if level == "element"]
    n = len(certificate.levels)
    if len(alone) == n:
        return "Every latent is identified alone, up to order and an invertible function of each."
    rest = sorted(set(range(n)) - set(alone) - certificate.unidentified)
    parts = (
        (alone, "alone, up to order and an invertible function of each"),
        (rest, "up to a mixing with those latents that move all that they move"),
    )
    known = "; ".join(f"{names(which)} {_is(which)} identified {how}" for which, how in parts if which)
    nothing = certificate.unidentified
    unknown = f"{names(nothing)} {_is(nothing)} not identified at all" if nothing else ""
    return f"{'; '.join(part for part in (known, unknown) if part)}."


def _is(latents: Collection[int]) -> str:
    return "is" if len(latents) == 1 else "are"


def wanted(certificate: Any) -> tuple[str, ...]:
    """Say what would have to hold for more to be identified."""
    levels = np.array(certificate.levels)
    if_independent = np.flatnonzero(levels == "element if independent").tolist()
    unclear = np.flatnonzero(levels == "block").tolist()
    return (
        *_independence(if_independent),
        *_more_variables(certificate, [*if_independent, *unclear]),
        *(() if certificate.alternative else certificate.alternative.missing),
    )


def _independence(latents: list[int]) -> tuple[str, ...]:
    if not latents:
        return ()
    return (
        f"independent latents, in truth and in the estimated model, would identify {names(latents)} alone",
    )


def _more_variables(certificate: Any, latents: list[int], most: int = 3) -> tuple[str, ...]:
    """Name new variables: one with z_i and without z_j as parents separates z_i from the estimate of z_j."""
    others = {
        i: set(np.flatnonzero(certificate.may_depend[i]).tolist()) - {i} for i in sorted(latents)[:most]
    }
    return tuple(
        f"observed variables that z{i} moves, and {names(mixed)} {'does' if len(mixed) == 1 else 'do'} not, "
        f"would identify z{i} alone"
        for i, mixed in others.items()
    )


def headline(certificate: Any) -> str:
    """Count latents by level, in a sentence: of the structure, since nothing here has looked at data."""
    x, n = certificate.structure.shape
    counts = Counter(certificate.levels)
    counts["block"] -= len(certificate.unidentified)
    counts["none"] = len(certificate.unidentified)
    found = ", ".join(f"{counts[level]} {words}" for level, words in _LEVELS.items() if counts[level])
    size = f"{n} latents, {x} observed variables, {certificate.structure.n_edges} edges"
    return f"If this structure is right, its latents are known as follows ({size}): {found}."


def summary(certificate: Any) -> str:
    """Write a report: counts, one line per latent, notes, theorems."""
    reasons = [f"- {reason}" for reason in certificate.reasons]
    theorems = [f"- {theorem.verdict}" for theorem in certificate.certificates]
    missing = [f"- {what}." for what in certificate.missing]
    more = ["For more:", *missing] if missing else []
    assumes = assumed(assumptions(certificate))
    head = headline(certificate)
    return "\n".join([head, certificate.identifies, *reasons, "Theorems:", *theorems, *more, assumes])


_LEVELS = {
    "element": "identified alone",
    "element if independent": "identified alone if latents are independent",
    "block": "identified only as part of a block",
    "none": "not identified at all",
}
