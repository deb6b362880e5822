"""Mechanistic independence: what samples of a generator's derivatives say about its slots."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unmix._html import told

from .._certificate import ANSWER, Certificate, assumed, attributes, with_margin
from ._conditions import (
    injective,
    irreducible_disjoint,
    irreducible_interactions,
    irreducible_mutual,
    irreducible_sparse,
    separable,
)
from ._derivatives import Partition, Slots, blocks, higher, jacobian_samples, relative
from ._factors import Samples
from ._sparsity_gap import SparsityGap
from ._theorems import NEEDS, globally, locally
from ._types import Mechanism, disjoint, mutual, non_interacting, sparse


@dataclass(frozen=True, eq=False, repr=False)
class MechanismCertificate:
    """What the mechanisms of a generator identify; see `certify_mechanisms`.

    Truthy iff some theorem identifies the slots, at least locally. `str()` is a report; `found["D"]` is the
    certificate of one type.

    Attributes
    ----------
    partition : tuple of frozenset of int
        The slots.
    types : tuple of Mechanism
        D, M and S; H_2 and H_3 where their derivatives were given.
    conditions : tuple of Certificate
        Injectivity, irreducibility and separability.
    theorems : tuple of Certificate
        For each type, whether the slots are identified locally; last, whether local becomes global.
    gap : SparsityGap
        Evidence for Type S.
    plateau : tuple of float
        The largest relative size that counted as zero and the smallest that did not: every tolerance between
        them finds the same supports.
    n_points : int
    tolerance : float
    """

    partition: Partition
    types: tuple[Mechanism, ...]
    conditions: tuple[Certificate, ...]
    theorems: tuple[Certificate, ...]
    gap: SparsityGap
    plateau: tuple[float, float]
    n_points: int
    tolerance: float

    def __bool__(self) -> bool:
        return any(self.theorems)

    def __getitem__(self, kind: str) -> Mechanism:
        """Return the certificate of a type."""
        for found in self.types:
            if found.kind == kind:
                return found
        known = [found.kind for found in self.types]
        raise KeyError(f"`kind` must be one of {known}, got {kind!r}. H2 and H3 need their derivatives.")

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """Every condition and every theorem, each on its own."""
        return (*self.types, *self.conditions, *self.theorems)

    @property
    def identifies(self) -> str:
        """What is identified, up to what."""
        if len(self.partition) == 1:
            return "There is one slot only, so that nothing is told apart."
        local = [kind for kind, theorem in zip(self._kinds, self.theorems, strict=False) if theorem]
        if not local:
            return "No theorem of mechanistic independence identifies these slots."
        where = "globally" if self.theorems[-1] else "locally"
        how = f"Type{'s' * (len(local) > 1)} {', '.join(local)}"
        return (
            f"Each slot, {where}, up to a reparametrisation of its own and relabelling of slots (by {how})."
        )

    @property
    def _kinds(self) -> list[str]:
        return [found.kind for found in self.types]

    @property
    def missing(self) -> tuple[str, ...]:
        """What would have to hold for more."""
        failing = [condition.verdict for condition in (*self.types, *self.conditions) if not condition]
        unasked = [words for kind, words in NEEDS.items() if kind not in self._kinds]
        return (*failing, *unasked)

    @property
    def reasons(self) -> tuple[str, ...]:
        """One sentence per type and condition."""
        return tuple(condition.verdict for condition in (*self.types, *self.conditions))

    def __str__(self) -> str:
        head = (
            f"{len(self.partition)} slots, {sum(map(len, self.partition))} latents, {self.n_points} points."
        )
        low, high = self.plateau
        supports = f"The same supports for every tolerance from {low:.2g} to {high:.2g}."
        held = [f"- {with_margin(found)}" for found in self.types]
        rest = [f"- {condition.verdict}" for condition in self.conditions]
        theorems = [f"- {theorem.verdict}" for theorem in self.theorems]
        assumes = dict.fromkeys(words for theorem in self.theorems if theorem for words in theorem.assumes)
        lines = [
            f"{head} {self.identifies}",
            *held,
            *rest,
            supports,
            "Theorems:",
            *theorems,
            assumed(assumes),
        ]
        return "\n".join(filter(None, lines))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return told(str(self), bool(self))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        gap = attributes(self.gap, "lower", "upper", "exact", "method", "aligned", "point")
        own = attributes(self, "partition", "n_points", "tolerance", "plateau", "types")
        return own | {"sparsity_gap": gap} | attributes(self, *ANSWER)


def certify_mechanisms(
    jacobians: ArrayLike,
    partition: Slots,
    *,
    hessians: ArrayLike | None = None,
    thirds: ArrayLike | None = None,
    tolerance: float = 1e-6,
    generic: bool = False,
    convex_support: bool = False,
    search: int = 20_000,
) -> MechanismCertificate:
    """Say in which senses the slots of a generator act independently, and what that identifies.

    Type D: no observed variable is moved by two slots. Type M: no latent moves only what a latent of another
    slot moves. Type S: directions that mix slots move more. Type H_n: no derivative of order n touches two
    slots. D implies M and S; on an open set D implies H_2, which implies H_3.

    Parameters
    ----------
    jacobians : array-like of shape (n, n_observed, n_latents)
        At sampled points, generic ones: a type must hold at each.
    partition : int or iterable of iterables of int
        Number of equal consecutive slots, or the latents of each.
    hessians : array-like of shape (n, n_observed, n_latents, n_latents), optional
        For H_2; see `finite_differences` and `unmix.nn.hessian`. Not of piecewise linear networks, whose
        second derivatives vanish and say nothing.
    thirds : array-like of shape (n, n_observed, n_latents, n_latents, n_latents), optional
        For H_3.
    tolerance : float
        Entries below this share of the largest in their column count as zero: 1e-6 for an exact generator,
        0.01 to 0.05 for a learned one. Look at `plateau`.
    generic : bool
        Let Type S assume entries in general position where it cannot be decided otherwise.
    convex_support : bool
        Say that latents live on an open convex set, so that the topology Theorem 1 asks for is given.
    search : int
        How many row subsets the exact search of Type S may look at.

    Returns
    -------
    MechanismCertificate

    Examples
    --------
    >>> two_objects = [[[1, 2, 0], [2, 1, 0], [1, 1, 0], [0, 0, 3]]]
    >>> found = certify_mechanisms(two_objects, [[0, 1], [2]])
    >>> bool(found["D"]), bool(found["M"]), bool(found["S"])
    (True, True, True)
    >>> print(found.identifies)
    Each slot, locally, up to a reparametrisation of its own and relabelling of slots (by Types D, M, S).
    >>> print(certify_mechanisms(two_objects, [[0], [1, 2]])["D"])
    Type D (slots move disjoint sets of observed variables) fails: x0 is moved by slots 0 and 1 ...

    References
    ----------
    Matthes, Han and Shen (2026), Mechanistic independence: a principle for identifiable disentangled
    representations, Theorems 1 to 5, arXiv:2509.22196.
    """
    samples = Samples(jacobian_samples(jacobians), relative(tolerance))
    slots = blocks(partition, samples.jacobians.shape[2])
    second = higher(hessians, samples.jacobians, "hessians", 2)
    third = higher(thirds, samples.jacobians, "thirds", 3)
    orders = [given for given in (second, third) if given is not None]
    s, gap = sparse(samples, slots, generic, search)
    interactions = (non_interacting(given, samples, slots) for given in orders)
    types = (disjoint(samples, slots), mutual(samples, slots), s, *interactions)
    conditions = _conditions(samples, slots, search, second, orders)
    local = locally(types, conditions)
    return MechanismCertificate(
        slots,
        types,
        conditions,
        (*local, globally(local, conditions[0], convex_support)),
        gap,
        _plateau(samples),
        len(samples.jacobians),
        samples.tolerance,
    )


def _conditions(
    samples: Samples, slots: Partition, search: int, second: np.ndarray | None, orders: list[np.ndarray]
) -> tuple[Certificate, ...]:
    """Check what the theorems ask for beside a type; injectivity comes first."""
    found = [
        injective(samples),
        irreducible_disjoint(samples, slots),
        irreducible_mutual(samples, slots),
        irreducible_sparse(samples, slots, search),
    ]
    for given in orders:
        found.append(irreducible_interactions(given, slots, samples.tolerance))
        found.append(separable(samples, second, given, slots))
    return tuple(condition for condition in found if condition is not None)


def _plateau(samples: Samples) -> tuple[float, float]:
    """Return the largest size dropped and the smallest kept."""
    low = float(samples.sizes.max(where=~samples.supports, initial=0.0))
    return low, float(samples.sizes.min(where=samples.supports, initial=1.0))
