"""Whether a region of latents, written as a set expression over observed variables, is identified."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, SupportsIndex

import numpy as np

from unmix.structure import Structure

from .._certificate import ANSWER, Certificate, assumed, attributes, names
from ._between import members_of
from ._certify import StructureCertificate, certify
from ._expression import evaluate, is_monotone, names_in, parse
from ._theorems import assumptions, mixing


@dataclass(frozen=True)
class Region:
    """A set of latents given by an expression, and whether it is identified as a block; see `identify`.

    Truthy iff it is: then z of the region is a function of the estimates of the region alone.

    Attributes
    ----------
    expression : str
    sets : dict of str to frozenset of int
        The observed variables (or groups) of each name.
    latents : frozenset of int
        The members of the region.
    holds : bool
    argument : str
        By which argument it is identified, or why it is not.
    witness : tuple of int, or None
        A pair (i, j), i within and j outside, such that z_i may depend on the estimate of z_j.
    missing : tuple of str
        What would identify the region.
    assumes : tuple of str
    """

    expression: str
    sets: Mapping[str, frozenset[int]]
    latents: frozenset[int]
    holds: bool
    argument: str
    witness: tuple[int, int] | None
    missing: tuple[str, ...]
    assumes: tuple[str, ...]

    def __bool__(self) -> bool:
        return self.holds

    @property
    def identifies(self) -> str:
        """One sentence: what is identified, up to what."""
        held = f"{{{names(self.latents)}}}"
        if self.holds:
            return f"{held} is identified as a block, up to an invertible map of the block."
        return f"{held} is not identified as a block: it may be mixed with latents outside."

    @property
    def reasons(self) -> tuple[str, ...]:
        """The argument."""
        return (self.argument,)

    @cached_property
    def certificates(self) -> tuple[Certificate, ...]:
        """One certificate: the region is separated from the rest."""
        theorem = f"Identification of {self.expression} = {{{names(self.latents)}}} as a block"
        return (Certificate(theorem, self.holds, self.assumes, self.reasons),)

    def __str__(self) -> str:
        sets = "; ".join(f"{name} = {{{names(rows, 'x')}}}" for name, rows in self.sets.items())
        more = [f"For more: {'; '.join(self.missing)}."] if self.missing else []
        return "\n".join([f"{sets}.", self.certificates[0].verdict, *more, assumed(self.assumes)])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return attributes(self, "expression", "sets", "latents", "holds", "witness", *ANSWER)


def identify(
    structure: Structure,
    expression: str,
    /,
    *,
    independent_latents: bool = False,
    groups: Iterable[Iterable[SupportsIndex]] | None = None,
    **sets: Iterable[SupportsIndex],
) -> Region:
    """Say whether a region such as `(A & B) - C` is identified as a block, and by which argument.

    A name stands for the latents that move a set of observed variables. Regions made of intersections and
    unions are always identified; others if no latent outside moves all that a latent inside moves, or, with
    independent latents, if every latent for which that fails has children of its own.

    Parameters
    ----------
    structure : Structure
    expression : str
        Over the names of the sets, with `&`, `|`, `-`, `^`, `~` (all other latents) and parentheses.
    independent_latents : bool
        Take latents to be mutually independent, in truth and in the estimated model.
    groups : iterable of iterables of int, optional
        A partition of the observed variables; sets then hold numbers of groups.
    **sets : iterables of int
        Observed variables behind each name.

    Returns
    -------
    Region

    Examples
    --------
    >>> s = Structure([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]])
    >>> found = identify(s, "(A & B) - C", A=[0], B=[1], C=[2])
    >>> sorted(found.latents), bool(found)
    ([1], True)
    >>> print(identify(s, "A - B", A=[0], B=[1]).identifies)
    {z0} is not identified as a block: it may be mixed with latents outside.
    >>> bool(identify(s, "A - B", A=[0], B=[1], independent_latents=True))
    True

    References
    ----------
    Zheng et al. (2026), Diverse dictionary learning, Theorem 1, Definition 5 and the atomic regions of
    appendix A, arXiv:2604.17568.
    """
    certificate = certify(structure, independent_latents=independent_latents, groups=groups)
    rows = {name: members_of(members, name) for name, members in sets.items()}
    index_sets = {name: certificate.structure.latents(members) for name, members in rows.items()}
    tree = parse(expression)
    latents = evaluate(expression, index_sets, frozenset(range(structure.n_latents)))
    _check_used(rows, names_in(tree))
    mixed = _mixed(certificate, latents)
    return Region(
        expression,
        rows,
        latents,
        holds=not mixed,
        argument=_why_not(certificate, *mixed[0]) if mixed else _why(certificate, latents, is_monotone(tree)),
        witness=mixed[0] if mixed else None,
        missing=_missing(certificate, latents, mixed),
        assumes=assumptions(certificate),
    )


def _mixed(certificate: StructureCertificate, latents: frozenset[int]) -> list[tuple[int, int]]:
    """Return the pairs (i within, j outside) that are not separated."""
    inside = np.isin(np.arange(len(certificate.levels)), sorted(latents))
    pairs = np.argwhere(certificate.may_depend & inside[:, None] & ~inside[None, :])
    return [(i, j) for i, j in pairs.tolist()]


def _why(certificate: StructureCertificate, latents: frozenset[int], monotone: bool) -> str:
    if not latents:
        return "the region is empty, so nothing is claimed"
    if monotone:
        return (
            "index sets, their intersections and unions hold with a latent all that move the same variables "
            "(Theorem 1, case i)"
        )
    inside = np.isin(np.arange(len(certificate.levels)), sorted(latents))
    if not (certificate.structure.contained() & inside[:, None] & ~inside).any():
        return "no latent outside moves all that a latent inside moves (Theorem 1, cases i and iii)"
    return (
        "latents are independent, and those that a latent outside covers have children unlike any other's, "
        "so that each is a monotone function of its own estimate (Theorem 1, case ii, for single latents)"
    )


def _why_not(certificate: StructureCertificate, i: int, j: int) -> str:
    stated = "Definition 5 states the separation (case ii), but it does not follow"
    return f"{stated}: {mixing(certificate, i, j)}"


def _missing(
    certificate: StructureCertificate, latents: frozenset[int], mixed: list[tuple[int, int]]
) -> tuple[str, ...]:
    if not mixed:
        return ()
    alone = all(certificate.levels[i] == "element if independent" for i, _ in mixed)
    independent = ("independent latents, in truth and in the estimated model",) if alone else ()
    i, j = mixed[0]
    return (
        *independent,
        f"an observed variable that z{i} moves and z{j} does not, and so for every such pair",
    )


def _check_used(sets: Mapping[str, frozenset[int]], used: frozenset[str]) -> None:
    unused = sorted(set(sets) - used)
    if unused:
        raise ValueError(f"`expression` must use every set, got {', '.join(unused)} unused. Drop the set.")
