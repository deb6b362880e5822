"""Structures with a name, and random ones with a wanted property."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ._structure import Structure

_DRAWS = 200


def dense(n_observed: int, n_latents: int) -> Structure:
    """Every latent moves every observed variable: nothing can be told apart by structure.

    Examples
    --------
    >>> dense(2, 3).n_edges
    6
    """
    return Structure(np.ones(_sizes(n_observed, n_latents), dtype=bool))


def triangular(n_observed: int, n_latents: int) -> Structure:
    """Observed variable i depends on latents 0 to i, and later ones on all: columns form a chain.

    Examples
    --------
    >>> triangular(3, 2)
    Structure(3 observed x 2 latents, 5 edges)
    #.
    ##
    ##

    References
    ----------
    Knothe (1957) and Rosenblatt (1952): every density on R^n is the image of independent normals under a map
    with this structure.
    """
    return Structure(np.tri(*_tall(n_observed, n_latents), dtype=bool))


def triangular_edges(n_observed: int, n_latents: int) -> int:
    """Count the edges of the triangular (Knothe-Rosenblatt) alternative, n(n + 1)/2 + (n_observed - n) n.

    Whatever the truth, a triangular model with independent latents fits the data. Sparsity can single out the
    truth only if it has fewer edges than this number.

    Examples
    --------
    >>> triangular_edges(3, 3), triangular_edges(10, 5)
    (6, 40)
    """
    x, n = _tall(n_observed, n_latents)
    return n * (n + 1) // 2 + (x - n) * n


def ring(n_latents: int, n_observed: int | None = None) -> Structure:
    """Observed variable i depends on latents i and i + 1, around a ring (circulant, two ones per row).

    Parameters
    ----------
    n_latents : int
        At least 3; on a ring of two, both latents would have the same children.
    n_observed : int, optional
        A multiple of `n_latents` (the ring is repeated); once around by default.

    Examples
    --------
    >>> ring(3)
    Structure(3 observed x 3 latents, 6 edges)
    ##.
    .##
    #.#
    """
    x = n_latents if n_observed is None else n_observed
    if n_latents < 3:
        raise ValueError(
            f"`n_latents` must be at least 3, got {n_latents}. Smaller rings have equal columns."
        )
    if x < 1 or x % n_latents:
        raise ValueError(
            f"`n_observed` must be a multiple of n_latents={n_latents}, got {x}. Go around in full."
        )
    once = np.eye(n_latents, dtype=bool) | np.roll(np.eye(n_latents, dtype=bool), 1, axis=1)
    return Structure(np.tile(once, (x // n_latents, 1)))


def complement_identity(n: int) -> Structure:
    """Observed variable i depends on every latent but i: nearly dense, and yet as diverse as can be.

    Examples
    --------
    >>> complement_identity(3)
    Structure(3 observed x 3 latents, 6 edges)
    .##
    #.#
    ##.
    """
    if n < 2:
        raise ValueError(f"`n` must be at least 2, got {n}. With one variable the complement is empty.")
    return Structure(~np.eye(n, dtype=bool))


def anchor(n_observed: int, n_latents: int, *, density: float = 0.5, random_state: Any = None) -> Structure:
    """Each latent has an observed variable of its own, the first rows; the rest are random.

    Parameters
    ----------
    n_observed, n_latents : int
        At least as many observed variables as latents.
    density : float in [0, 1]
        Chance of an edge in the rows that are no anchors.
    random_state : int, numpy.random.Generator or None

    Examples
    --------
    >>> sorted(anchor(6, 3, random_state=0).parents(2))
    [2]
    """
    x, n = _tall(n_observed, n_latents)
    others = np.random.default_rng(random_state).random((x - n, n)) < _probability(density)
    return Structure(np.vstack([np.eye(n, dtype=bool), others]))


def random_structure(
    n_observed: int,
    n_latents: int,
    *,
    density: float,
    such_that: Callable[[Structure], Any] | None = None,
    max_tries: int = 1000,
    random_state: Any = None,
) -> Structure:
    """Draw each edge by a coin, again and again until the structure has the wanted property.

    Parameters
    ----------
    n_observed, n_latents : int
    density : float in [0, 1]
        Chance of an edge.
    such_that : callable, optional
        The wanted property, `Structure -> bool`, for example `Structure.is_injective`.
    max_tries : int
        Draws before giving up with an error.
    random_state : int, numpy.random.Generator or None

    Examples
    --------
    >>> random_structure(4, 3, density=0.5, such_that=Structure.is_injective, random_state=0).is_injective()
    True
    """
    shape, chance = _sizes(n_observed, n_latents), _probability(density)
    rng = np.random.default_rng(random_state)
    for _ in range(max_tries):
        drawn = Structure(rng.random(shape) < chance)
        if such_that is None or such_that(drawn):
            return drawn
    raise ValueError(
        f"`such_that` must hold for some structure of shape {shape} and density {density}, got none in "
        f"{max_tries} draws. Change the density or raise `max_tries`."
    )


def diverse(n_observed: int, n_latents: int, *, n_parents: int = 2, random_state: Any = None) -> Structure:
    """Draw a random structure in which no latent's children are contained in another's.

    Every observed variable has `n_parents` parents, latents have as equal numbers of children as possible,
    and the structure is injective. So each latent is the only common parent of its children: it meets clause
    3 of sufficient diversity, the one that needs nothing else.

    Parameters
    ----------
    n_observed, n_latents : int
        At least as many observed variables as latents.
    n_parents : int
        At least 1 and below `n_latents` (with all latents as parents every column is full).
    random_state : int, numpy.random.Generator or None

    Examples
    --------
    >>> diverse(5, 5, random_state=0)
    Structure(5 observed x 5 latents, 10 edges)
    ..##.
    ##...
    .#..#
    #..#.
    ..#.#

    References
    ----------
    Zheng et al. (2022), On the identifiability of nonlinear ICA: sparsity and beyond, Theorem 1,
    arXiv:2206.07751. Zheng et al. (2026), Diverse dictionary learning, Assumption 2, arXiv:2604.17568.
    """
    x, n = _tall(n_observed, n_latents)
    if not 1 <= n_parents <= max(n - 1, 1):
        raise ValueError(
            f"`n_parents` must be between 1 and n_latents - 1 = {n - 1}, got {n_parents}. "
            "With every latent as a parent all columns are equal."
        )
    rng = np.random.default_rng(random_state)
    for _ in range(_DRAWS):
        drawn = Structure(_balanced_rows(x, n, n_parents, rng))
        if _no_column_in_another(drawn) and drawn.is_injective():
            return drawn
    return Structure(_circulant_rows(x, n, n_parents)[:, rng.permutation(n)][rng.permutation(x)])


def _balanced_rows(x: int, n: int, n_parents: int, rng: np.random.Generator) -> np.ndarray:
    """Give each row the latents that have the fewest children so far, ties broken by chance."""
    rows, children = np.zeros((x, n), dtype=bool), np.zeros(n)
    for row in rows:
        chosen = np.argsort(children + rng.random(n))[:n_parents]
        row[chosen], children[chosen] = True, children[chosen] + 1
    return rows


def _circulant_rows(x: int, n: int, n_parents: int) -> np.ndarray:
    """Return a solution that always exists: once around in steps of one, then balanced steps of `n_parents`.

    Chance finds one of these with ease, except where hardly any other exists.
    """
    start = np.concatenate([np.arange(n), n_parents * np.arange(x - n)])
    latents = (start[:, None] + np.arange(n_parents)) % n
    return np.isin(np.arange(n)[None, :] + n * np.arange(x)[:, None], latents + n * np.arange(x)[:, None])


def _no_column_in_another(structure: Structure) -> bool:
    return int(structure.contained().sum()) == structure.n_latents


def _sizes(n_observed: int, n_latents: int) -> tuple[int, int]:
    if n_observed < 1 or n_latents < 1:
        raise ValueError(
            f"`n_observed` and `n_latents` must be at least 1, got {n_observed} and {n_latents}."
        )
    return n_observed, n_latents


def _tall(n_observed: int, n_latents: int) -> tuple[int, int]:
    if n_observed < n_latents:
        raise ValueError(
            f"`n_observed` must be at least n_latents={n_latents}, got {n_observed}. "
            "Fewer observed variables than latents cannot determine them."
        )
    return _sizes(n_observed, n_latents)


def _probability(density: float) -> float:
    if not 0 <= density <= 1:
        raise ValueError(f"`density` must be between 0 and 1, got {density}. It is the chance of an edge.")
    return density
