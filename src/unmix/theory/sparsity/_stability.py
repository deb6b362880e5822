"""How often each edge, and so each verdict, comes back when a structure is estimated again."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unmix.structure import Structure

from .._certificate import ANSWER, Certificate, attributes, names
from ._certify import certify

LEVELS = ("element", "element if independent", "block", "none")
_CANDIDATES = 20  # structures tried as the first reference


@dataclass(frozen=True, eq=False, repr=False)
class Stability:
    """Frequencies of edges and verdicts over structures of one and the same data; see `stability`.

    Truthy iff every edge is there, or missing, in at least `threshold` of them.

    Attributes
    ----------
    structure : Structure
        The edges found in more than half of the structures, or the reference that was given.
    frequencies : ndarray of shape (n_observed, n_latents)
        Of each edge, after matching latents.
    separated : ndarray of shape (n_latents, n_latents)
        Entry (i, j): how often z_i is separated from the estimate of z_j; zero on the diagonal.
    level_frequencies : dict of str to tuple of float
        How often each latent has each level; "none" where it has no child or nothing is known about it.
    orders : tuple of tuple of int
        Latent `orders[k][j]` of structure k plays the part of latent j.
    independent_latents : bool
    threshold : float
    """

    structure: Structure
    frequencies: np.ndarray
    separated: np.ndarray
    level_frequencies: dict[str, tuple[float, ...]]
    orders: tuple[tuple[int, ...], ...]
    independent_latents: bool
    threshold: float

    def __bool__(self) -> bool:
        return not len(self.undecided)

    @cached_property
    def undecided(self) -> tuple[tuple[int, int], ...]:
        """Edges (observed, latent) that are neither there nor missing often enough."""
        clear = np.maximum(self.frequencies, 1 - self.frequencies) >= self.threshold
        return tuple((i, j) for i, j in np.argwhere(~clear).tolist())

    @cached_property
    def levels(self) -> tuple[str, ...]:
        """The level of each latent in `structure`."""
        return _verdict(self.structure, self.independent_latents)[1]

    @cached_property
    def support(self) -> tuple[float, ...]:
        """For each latent, how often its level is at least as good as in `structure`."""
        table = np.cumsum([self.level_frequencies[level] for level in LEVELS], axis=0)
        return tuple(float(table[LEVELS.index(level), j]) for j, level in enumerate(self.levels))

    def stable(self, threshold: float | None = None) -> Structure:
        """Return the edges whose frequency is at least the threshold: stability selection."""
        return Structure(self.frequencies >= (self.threshold if threshold is None else threshold))

    def expected_false_edges(self, threshold: float | None = None) -> float:
        """Bound the expected number of wrong edges in `stable(threshold)`: q^2 / ((2 t - 1) p).

        Here q is the mean number of edges and p the number of pairs. The bound is for refits on random halves
        of the data, and assumes that wrong edges are exchangeable and no estimate is worse than guessing.

        References
        ----------
        Meinshausen and Bühlmann (2010), Stability selection, Theorem 1, arXiv:0809.2932.
        """
        chosen = self.threshold if threshold is None else threshold
        if not 0.5 < chosen <= 1:
            raise ValueError(f"`threshold` must be above 0.5 and at most 1, got {chosen}.")
        return float(self.frequencies.sum() ** 2 / ((2 * chosen - 1) * self.frequencies.size))

    @property
    def identifies(self) -> str:
        """One sentence: how stable what is identified is."""
        alone = [share for share, level in zip(self.support, self.levels, strict=True) if level == "element"]
        lowest = f", each in at least {min(alone):.0%} of the structures" if alone else ""
        return f"{len(alone)} of {len(self.levels)} latents are identified alone by the structure{lowest}."

    @property
    def reasons(self) -> tuple[str, ...]:
        """One sentence per latent, and one about edges."""
        latents = tuple(
            f"z{j} has the level {level!r} or a better one in {share:.0%} of the structures"
            for j, (level, share) in enumerate(zip(self.levels, self.support, strict=True))
        )
        shown = ", ".join(f"z{j} to x{i} ({self.frequencies[i, j]:.0%})" for i, j in self.undecided[:6])
        more = f" and {len(self.undecided) - 6} more" if len(self.undecided) > 6 else ""
        edges = f"undecided edges: {shown}{more}" if shown else "every edge is decided"
        return (*latents, edges)

    @cached_property
    def certificates(self) -> tuple[Certificate, ...]:
        """Two certificates: stable edges, and stable levels."""
        shaky = [j for j, share in enumerate(self.support) if share < self.threshold]
        levels = f"{names(shaky)} less often" if shaky else "that or more for every latent"
        often = f"in at least {self.threshold:.0%} of the structures"
        return (
            Certificate(f"Stability of edges {often}", bool(self), (), self.reasons[-1:]),
            Certificate(f"Stability of levels {often}", not shaky, (), (levels,)),
        )

    @property
    def missing(self) -> tuple[str, ...]:
        """What would make the answer more stable."""
        return () if self else ("more data, or a wider margin between edges and zeros",)

    def __str__(self) -> str:
        head = f"{len(self.orders)} structures. {self.identifies}"
        return "\n".join([head, *(f"- {reason}." for reason in self.reasons)])

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        counted = ("threshold", "independent_latents", "frequencies", "separated", "levels", "support")
        head = attributes(self, "structure") | {"n_structures": len(self.orders)}
        return head | attributes(self, *counted, "level_frequencies", *ANSWER)


def stability(
    structures: Iterable[Structure],
    *,
    reference: Structure | None = None,
    independent_latents: bool = False,
    threshold: float = 0.9,
) -> Stability:
    """Give each edge, and so each verdict, a frequency over structures estimated again and again.

    Structures may come from refits on resampled data, from restarts, or from one Jacobian cut at several
    thresholds. Latents carry no names, so that each structure is relabelled to fit the reference first.

    Parameters
    ----------
    structures : iterable of Structure
        At least two, all of the same shape.
    reference : Structure, optional
        The structure in question, such as the fit to all data. By default the edges found in most structures.
    independent_latents : bool
        Take latents to be mutually independent, in truth and in the estimated model.
    threshold : float
        How often an edge must be there, or missing, to count as decided.

    Returns
    -------
    Stability

    Examples
    --------
    >>> one, other = Structure([[1, 0], [1, 1], [0, 1]]), Structure([[1, 1], [1, 1], [0, 1]])
    >>> found = stability([one, one.permute([1, 0]), one, other])
    >>> found.frequencies
    array([[1.  , 0.25],
           [1.  , 1.  ],
           [0.  , 1.  ]])
    >>> found.support
    (0.75, 1.0)
    >>> J = [[1.0, 0.3], [0.0, 1.0]]
    >>> stability([Structure.from_jacobian(J, cut) for cut in (0.1, 0.2, 0.4)]).undecided
    ((0, 1),)

    References
    ----------
    Meinshausen and Bühlmann (2010), Stability selection, arXiv:0809.2932.
    """
    found = _checked(list(structures), reference, threshold)
    centre = _centre(found) if reference is None else reference
    orders = tuple(centre.match(each).order for each in found)
    matched = [each.permute(order) for each, order in zip(found, orders, strict=True)]
    verdicts = [_verdict(each, independent_latents) for each in matched]
    return Stability(
        structure=centre,
        frequencies=np.mean([each.support for each in matched], axis=0),
        separated=np.mean([~may_depend for may_depend, _ in verdicts], axis=0),
        level_frequencies={level: _share(level, [levels for _, levels in verdicts]) for level in LEVELS},
        orders=orders,
        independent_latents=independent_latents,
        threshold=threshold,
    )


def _verdict(structure: Structure, independent: bool) -> tuple[np.ndarray, tuple[str, ...]]:
    """Certify the latents that have children; nothing is known about the others."""
    kept = np.flatnonzero(structure.support.any(0))
    may_depend = np.ones((structure.n_latents, structure.n_latents), dtype=bool)
    levels = np.full(structure.n_latents, "none", dtype=object)
    if len(kept):
        certificate = certify(Structure(structure.support[:, kept]), independent_latents=independent)
        may_depend[np.ix_(kept, kept)] = certificate.may_depend
        levels[kept] = certificate.levels
        levels[kept[sorted(certificate.unidentified)]] = "none"
    return may_depend, tuple(levels.tolist())


def _share(level: str, runs: list[tuple[str, ...]]) -> tuple[float, ...]:
    return tuple(np.mean([[each == level for each in levels] for levels in runs], axis=0).tolist())


def _centre(structures: list[Structure]) -> Structure:
    """Start from the structure nearest to all others, then let the majority decide until it stays."""
    candidates = structures[:_CANDIDATES]
    centre = min(candidates, key=lambda each: sum(each.hamming(other) for other in candidates))
    for _ in range(10):
        matched = [each.permute(centre.match(each).order).support for each in structures]
        majority = Structure(np.mean(matched, axis=0) > 0.5)
        if majority == centre:
            break
        centre = majority
    return centre


def _checked(structures: list[Structure], reference: Structure | None, threshold: float) -> list[Structure]:
    every = structures if reference is None else [*structures, reference]
    for each in every:
        if not isinstance(each, Structure):
            raise TypeError(f"`structures` must hold Structure objects, got {type(each).__name__}.")
    if len(structures) < 2:
        raise ValueError(
            f"`structures` must hold at least two, got {len(structures)}. Fit again, or resample."
        )
    shapes = sorted({each.shape for each in every})
    if len(shapes) > 1:
        raise ValueError(f"`structures` must have one shape, got {shapes}. Compare fits of the same size.")
    if not 0.5 < threshold <= 1:
        raise ValueError(f"`threshold` must be above 0.5 and at most 1, got {threshold}. It is a frequency.")
    return structures
