"""What a structure and a number of domains identify together (CG), and how many more domains would do."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from unmix._html import told
from unmix.structure import Structure

from .._certificate import ANSWER, Certificate, assumed, attributes, names, plain, positions
from ..mixtures import blocks_of
from ..sparsity import check_children
from ._changes import SufficientChanges
from ._theorems import counted, domains, sentence, theorems


@dataclass(frozen=True)
class LatentPlan:
    """What is known of a latent, and what it would take to know it alone.

    Attributes
    ----------
    latent : int
    level : str
        "component" (identified alone) or "subspace".
    level_in_paper : str
        The same by the counts of Theorem 2 alone.
    neighbours : frozenset of int
        Other latents that move all that it moves.
    block : frozenset of int
        Latents with the same children, itself included.
    needed : int
        Domains with which it is identified alone.
    needed_in_paper : int
        Domains that Theorem 2 asks for.
    more : int
        How many domains are missing, each with a change of its own; 0 if it is identified alone.
    """

    latent: int
    level: str
    level_in_paper: str
    neighbours: frozenset[int]
    block: frozenset[int]
    needed: int
    needed_in_paper: int
    more: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return plain(asdict(self))


@dataclass(frozen=True, eq=False, repr=False)
class DomainCertificate:
    """What sparse mixing and changes between domains identify together; see `certify_domains`.

    Truthy iff every latent is identified alone. `str()` is a report.

    Attributes
    ----------
    structure : Structure
    n_domains : int
    plan : tuple of LatentPlan
        One per latent.
    may_depend : ndarray of bool, shape (n_latents, n_latents)
        Entry (i, l): z_i may still depend on the estimate of z_l. What is False is guaranteed. The diagonal
        is True.
    blocks : tuple of frozenset of int
        Groups of latents that are not told apart.
    first_order, second_order : int
        Domains for all conditions of the kind: U_1, the largest number of parents; U_2 = 1 + 2 max |I_jl|,
        with I_jl the latents whose children z_j and z_l share.
    certificates : tuple of Certificate
    """

    structure: Structure
    n_domains: int
    plan: tuple[LatentPlan, ...]
    may_depend: np.ndarray
    blocks: tuple[frozenset[int], ...]
    first_order: int
    second_order: int
    certificates: tuple[Certificate, ...]

    def __bool__(self) -> bool:
        return set(self.levels) == {"component"}

    @property
    def levels(self) -> tuple[str, ...]:
        """For each latent "component" or "subspace"."""
        return tuple(latent.level for latent in self.plan)

    @property
    def more_domains(self) -> int:
        """How many more domains would identify every latent alone."""
        return max(latent.more for latent in self.plan)

    @property
    def identifies(self) -> str:
        """What is identified, up to which indeterminacy, in a sentence."""
        left = [block for block in self.blocks if len(block) > 1]
        if not left:
            return "Every latent is identified alone, up to an invertible map of its own."
        listed = ", ".join(f"{{{names(block)}}}" for block in left)
        return f"Latents are identified alone, except within {listed}, known only as part of a subspace."

    @property
    def reasons(self) -> tuple[str, ...]:
        """One sentence per latent."""
        return tuple(sentence(latent) for latent in self.plan)

    @property
    def missing(self) -> tuple[str, ...]:
        """What would have to hold for more."""
        short = {latent.block: latent.more for latent in self.plan if latent.more}
        return tuple(f"{domains(more)} for {{{names(block)}}}" for block, more in short.items())

    def __str__(self) -> str:
        x, n = self.structure.shape
        head = f"{n} latents, {x} observed variables, {self.n_domains} domains. {self.identifies}"
        reasons = [f"- {reason}" for reason in self.reasons]
        verdicts = [f"- {certificate.verdict}" for certificate in self.certificates]
        believed = assumed(dict.fromkeys(a for c in self.certificates for a in c.assumes))
        return "\n".join([head, *reasons, "Conditions and theorems:", *verdicts, believed])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return told(str(self), bool(self))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        counted = ("structure", "n_domains", "plan", "levels", "may_depend", "blocks")
        needed = ("first_order", "second_order", "more_domains")
        return attributes(self, *counted, *needed, *ANSWER)


def certify_domains(
    structure: Structure, n_domains: int | None = None, *, changes: SufficientChanges | None = None
) -> DomainCertificate:
    """Say which latents sparse mixing and changes between domains identify, and how many domains are missing.

    Sparse mixing leaves z_i a function of its subspace: the estimates of the latents that move all that
    z_i moves (Theorem 1). Within it, the estimate is as independent in each domain as the truth. That alone
    fixes a latent whose children are nobody else's. A block of b latents with the same children needs
    domains whose first and second derivatives of log-densities span 2b directions, 2b + 1 of them at least.
    Theorem 2 counts the whole subspace instead of the block, 2a + 1: `level_in_paper`, `needed_in_paper`.

    Parameters
    ----------
    structure : Structure
        Every latent must have a child.
    n_domains : int, optional
        Domains at hand, taken to change in as many directions as they can. Needed without `changes`.
    changes : SufficientChanges, optional
        Of the same latents: directions of change are then counted instead of taken for granted.

    Returns
    -------
    DomainCertificate

    Examples
    --------
    >>> twins = Structure([[1, 1, 0], [1, 1, 1]])
    >>> certificate = certify_domains(twins, 3)
    >>> certificate.levels, certificate.more_domains
    (('subspace', 'subspace', 'component'), 2)
    >>> [latent.needed_in_paper for latent in certificate.plan]
    [5, 5, 7]

    References
    ----------
    Li et al. (2025), Synergy Between Sufficient Changes and Sparse Mixing Procedure, Theorems 1 and 2,
    arXiv:2503.00639, of which only a summary was at hand: the conditions are a reconstruction.
    """
    check_children(structure)
    at_hand = _checked_domains(structure, n_domains, changes)
    contained = structure.contained()
    plan = tuple(_plan(contained, i, at_hand, changes) for i in range(structure.n_latents))
    alone = np.array([latent.level == "component" for latent in plan])
    mixed = np.where(alone[:, None], np.eye(len(alone), dtype=bool), contained)
    mixed.flags.writeable = False
    return DomainCertificate(
        structure=structure,
        n_domains=at_hand,
        plan=plan,
        may_depend=mixed,
        blocks=blocks_of(mixed),
        first_order=int(structure.support.sum(1).max()),
        second_order=1 + 2 * _largest_shared(contained),
        certificates=(*counted(structure, at_hand, changes), *theorems(structure, plan, changes)),
    )


def _plan(contained: np.ndarray, i: int, n_domains: int, changes: SufficientChanges | None) -> LatentPlan:
    subspace = frozenset(np.flatnonzero(contained[i]).tolist())
    block = frozenset(np.flatnonzero(contained[i] & contained[:, i]).tolist())
    short = 0 if len(block) == 1 else _short(block, n_domains, changes)
    short_in_paper = 0 if len(subspace) == 1 else _short(subspace, n_domains, changes)
    return LatentPlan(
        latent=i,
        level="subspace" if short else "component",
        level_in_paper="subspace" if short_in_paper else "component",
        neighbours=subspace - {i},
        block=block,
        needed=1 if len(block) == 1 else 2 * len(block) + 1,
        needed_in_paper=1 if len(subspace) == 1 else 2 * len(subspace) + 1,
        more=short,
    )


def _short(latents: frozenset[int], n_domains: int, changes: SufficientChanges | None) -> int:
    """How many directions of change are missing for A5 over some latents; a domain brings one at most."""
    if changes is not None:
        check = changes.second_order(latents)
        return check.wanted - check.rank
    return max(0, 2 * len(latents) - (n_domains - 1))


def _largest_shared(contained: np.ndarray) -> int:
    """Return max |I_jl| over j != l, with I_jl = {i : ch(i) is part of ch(j) and ch(l)}.

    These are the latents that enter d2 log p / dẑ_j dẑ_l = 0, once Theorem 1 has restricted the Jacobian.
    """
    counts = contained.astype(np.float32).T @ contained.astype(np.float32)
    np.fill_diagonal(counts, 0)
    return int(counts.max(initial=0))


def _checked_domains(structure: Structure, n_domains: int | None, changes: SufficientChanges | None) -> int:
    if changes is None:
        (count,) = positions([0 if n_domains is None else n_domains], "n_domains")
        if count < 1:
            raise ValueError(f"`n_domains` must be at least 1, got {n_domains}. Count the domains at hand.")
        return count
    if n_domains not in (None, changes.n_domains):
        raise ValueError(
            f"`n_domains` must agree with `changes`, got {n_domains} and {changes.n_domains}. Leave it out."
        )
    if changes.derivatives.first.shape[2] != structure.n_latents:
        raise ValueError(
            f"`changes` must be of the {structure.n_latents} latents of the structure, got "
            f"{changes.derivatives.first.shape[2]}. Compute them for the same latents."
        )
    return changes.n_domains
