"""The theorems on sufficient changes with sparse mixing, as certificates, and plans in words."""

from collections.abc import Sequence
from typing import Any

from unmix.structure import Structure

from .._certificate import Certificate, names
from ..sparsity import INDEPENDENT as ALWAYS_INDEPENDENT
from ..sparsity import POSITIVE, assumptions, certify
from ._changes import FIRST, INDEPENDENT, SECOND

ESTIMATE = "an estimate with one decoder for all domains, and latents independent within each domain too"
CHANGING = "domains that change in as many directions as their number allows"


def theorems(structure: Structure, plan: Sequence[Any], changes: Any) -> tuple[Certificate, ...]:
    """Return Theorems 1 and 2, with the count of the paper and with ours, for one structure."""
    left = [latent.latent for latent in plan if latent.level == "subspace"]
    left_in_paper = [latent.latent for latent in plan if latent.level_in_paper == "subspace"]
    believed = _assumptions(structure)
    in_paper = (*believed, *_changing(changes, [latent.needed_in_paper for latent in plan]))
    by_blocks = (*believed, *_changing(changes, [latent.needed for latent in plan]))
    return (
        Certificate(
            "CG Theorem 1 (each latent is identified within its subspace)",
            True,
            believed,
            ("z_i is a function of the estimates of those latents only that move all that it moves",),
        ),
        Certificate(
            "CG Theorem 2 (every latent alone, with 2a + 1 domains)", *_left(left_in_paper, in_paper)
        ),
        Certificate("CG Theorem 2 by blocks (every latent alone, with 2b + 1)", *_left(left, by_blocks)),
    )


def counted(structure: Structure, n_domains: int, changes: Any) -> tuple[Certificate, ...]:
    """Return A3 and A5: checked where changes are known, otherwise by the number of domains."""
    if changes is not None:
        return changes.certificates
    parents = int(structure.support.sum(1).max())
    subspace = int(structure.contained().sum(1).max())
    return (
        _count(FIRST, parents + 1, n_domains, f"an observed variable has {parents} parents"),
        _count(SECOND, 2 * subspace + 1, n_domains, f"a subspace has {subspace} latents"),
    )


def sentence(latent: Any) -> str:
    """Say what is known of a latent, and what it would take."""
    name = f"z{latent.latent}"
    if latent.level == "subspace":
        above = latent.neighbours - latent.block
        rest = f", mixed with {names(above)} too" if above else ""
        return (
            f"{name} is identified only within {{{names(latent.block)}}}, which have the same children"
            f"{rest}: {domains(latent.more)} would do."
        )
    if len(latent.block) > 1:
        return f"{name} is identified alone by changes over {latent.needed} domains."
    if not latent.neighbours:
        return f"{name} is identified alone by sparse mixing: no other latent moves all that it moves."
    return (
        f"{name} is identified alone: all that it moves is moved by {names(latent.neighbours)} too, but "
        f"latents are independent within a domain (Theorem 2 counts {latent.needed_in_paper} domains for it)."
    )


def domains(more: int) -> str:
    """Write a number of further domains."""
    return f"{more} more domain{'s' if more > 1 else ''}"


def _assumptions(structure: Structure) -> tuple[str, ...]:
    sparsity = assumptions(certify(structure, independent_latents=True))
    return (INDEPENDENT, ESTIMATE, *(a for a in sparsity if a not in (POSITIVE, ALWAYS_INDEPENDENT)))


def _changing(changes: Any, needed: list[int]) -> tuple[str, ...]:
    """Return what is believed of changes, where some latent is identified by them."""
    if max(needed) == 1:
        return ()
    if changes is None:
        return (CHANGING,)
    return tuple(word for word in changes.certificates[1].assumes if word != INDEPENDENT)


def _left(left: list[int], believed: tuple[str, ...]) -> tuple[bool, tuple[str, ...], tuple[str, ...]]:
    reason = (
        f"{names(left)} stay within their subspaces" if left else "no latent is left in a larger subspace"
    )
    return not left, believed, (reason,)


def _count(theorem: str, wanted: int, n_domains: int, why: str) -> Certificate:
    reason = f"{why}, which asks for {wanted} domains, and there are {n_domains}"
    return Certificate(theorem, n_domains >= wanted, (INDEPENDENT, CHANGING), (reason,))
