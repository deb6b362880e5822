"""The theorems of mechanistic independence, as certificates for one generator and its slots."""

from collections.abc import Sequence

from .._certificate import Certificate
from ._types import Mechanism

FITS = "an estimated generator that fits, with as many slots"
POSITIVE = "a positive density of latents on their support"
EVERYWHERE = "points in between behave like the sampled ones"
NEEDS = {
    "H2": "Type H_2 was not checked: give `hessians`. It follows from Type D on an open set.",
    "H3": "Type H_3 was not checked: give `thirds`. It follows from Type H_2 on an open set.",
}
_THEOREM = {"D": 2, "M": 3, "S": 4, "H2": 5, "H3": 5}
_ESTIMATE = {
    "D": ("the estimated generator is of Type D too",),
    "M": (
        "the Jacobian of the estimate has at most as many non-zero entries at every point",
        "no cancellation: a sum of columns moves all that they move",
    ),
    "S": ("the Jacobian of the estimate has at most as many non-zero entries as the sparsest aligned basis",),
    "H2": ("the estimated generator is of Type H_2 too",),
    "H3": ("the estimated generator is of Type H_3 too",),
}


def locally(types: Sequence[Mechanism], conditions: Sequence[Certificate]) -> tuple[Certificate, ...]:
    """Return Theorems 2 to 5: which types identify the slots in a neighbourhood of every point."""
    return tuple(_local(found, conditions) for found in types)


def _local(found: Mechanism, conditions: Sequence[Certificate]) -> Certificate:
    asked = [found, *(condition for condition in conditions if _concerns(condition, found.kind))]
    failing = [condition for condition in asked if not condition]
    words = [f"{condition.theorem} fails" for condition in failing] or ["every condition checked holds"]
    grouping = found.kind == "S" and not any("Type S" in condition.theorem for condition in conditions)
    assumes = (
        FITS,
        *_ESTIMATE[found.kind],
        *(words for condition in asked for words in condition.assumes),
        *(("slots irreducible with respect to Type S",) if grouping else ()),
        POSITIVE,
        EVERYWHERE,
    )
    name = found.kind.replace("H", "H_")
    theorem = (
        f"Mechanistic independence, Theorem {_THEOREM[found.kind]} (Type {name} identifies slots locally)"
    )
    return Certificate(theorem, not failing, assumes, tuple(words))


def _concerns(condition: Certificate, kind: str) -> bool:
    name = kind.replace("H", "H_")
    general = condition.theorem.startswith("Local injectivity")
    own = f"Type {name}" in condition.theorem or condition.theorem == f"Separability of order {kind[1:]}"
    return general or own


def globally(local: Sequence[Certificate], injectivity: Certificate, convex_support: bool) -> Certificate:
    """Return Theorem 1: when local disentanglement is global. Topology can be stated, not measured."""
    topology = (
        "the latents' support is simply connected",
        "every part of it with one slot held fixed is path-connected",
    )
    assumes = (
        *(("the latents' support is open and convex (as stated)",) if convex_support else topology),
        "the generator is continuous",
        "the estimated generator is a covering map onto the data",
    )
    words = []
    if not any(local):
        words.append("no type identifies the slots locally")
    if not injectivity:
        words.append("the generator is not locally injective")
    if not convex_support:
        words.append(
            "the topology of the support was not stated: set `convex_support` if it is a box or a ball"
        )
    theorem = "Mechanistic independence, Theorem 1 (what is identified locally is identified globally)"
    return Certificate(theorem, not words, assumes, tuple(words or ["the support is convex"]))
