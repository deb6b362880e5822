"""What diverse dictionary learning says of a structure, straight from its definitions.

Plain sets and loops over all sets A, B of observed variables; nothing here asks the library. A structure is
the list `parents` of the sets I_k of latents that move x_k, and the number n of latents.

References: Zheng et al. (2026), Diverse dictionary learning, Definitions 4 and 5, Proposition 1 and
Assumption 2, arXiv:2604.17568.
"""

import itertools
from functools import cached_property
from math import factorial

import numpy as np

SHAPES = [(x, n) for x in range(1, 5) for n in range(1, 5)]
CLAUSES = (1, 2, 3)


def every_support(x, n):
    """All 0/1 matrices in which every latent has a child."""
    columns = [column for column in itertools.product([0, 1], repeat=x) if any(column)]
    for chosen in itertools.product(columns, repeat=n):
        yield np.array(chosen).T


def representatives(x, n):
    """One matrix for each class under relabelling of rows and columns, and the size of the class."""
    found = {}
    orders = [
        [sum((column >> i & 1) << order[i] for i in range(x)) for column in range(1 << x)]
        for order in itertools.permutations(range(x))
    ]
    for chosen in itertools.combinations_with_replacement(range(1, 1 << x), n):
        key = min(tuple(sorted(rename[column] for column in chosen)) for rename in orders)
        repeats = [factorial(chosen.count(column)) for column in set(chosen)]
        found[key] = found.get(key, 0) + factorial(n) // int(np.prod(repeats))
    for key, size in found.items():
        yield (np.array(key)[None, :] >> np.arange(x)[:, None]) & 1, size


def random_supports(count, rows=(4, 9), columns=(3, 7), densest=0.8, seed=0):
    """Matrices of random shape and density in which every latent has a child."""
    rng = np.random.default_rng(seed)
    while count:
        support = rng.random((rng.integers(*rows), rng.integers(*columns))) < rng.uniform(0.2, densest)
        if support.any(0).all():
            count -= 1
            yield support.astype(int)


def pairs_of(matrix):
    """The entries of a relation that hold, as a set of pairs."""
    return set(map(tuple, np.argwhere(matrix).tolist()))


class Defined:
    """The definitions, for one structure."""

    def __init__(self, support):
        self.n_observed, self.n = len(support), len(support[0])
        self.parents = [frozenset(j for j in range(self.n) if row[j]) for row in support]
        self.latents = frozenset(range(self.n))
        self.sets = [
            frozenset(a)
            for size in range(1, self.n_observed + 1)
            for a in itertools.combinations(range(self.n_observed), size)
        ]

    def union(self, a):
        """I_A, Definition 4."""
        return frozenset().union(*(self.parents[k] for k in a))

    def meet(self, a):
        """What moves every member of A; everything for no member."""
        return self.latents.intersection(*(self.parents[k] for k in a))

    @cached_property
    def cases(self):
        """Definition 5 as printed: the pairs (i, j) that some A, B separates, by case."""
        found = {"i": set(), "ii": set(), "iii": set()}
        index_sets = {self.union(a) for a in self.sets}
        for i_a, i_b in itertools.product(index_sets, index_sets):
            found["i"] |= set(itertools.product(i_a & i_b, i_a ^ i_b))
            found["ii"] |= set(itertools.product(i_a ^ i_b, i_a & i_b))
            found["iii"] |= set(itertools.product(i_a - i_b, i_b - i_a))
        return found

    @cached_property
    def stated(self):
        """The pairs that Definition 5 separates."""
        return self.cases["i"] | self.cases["ii"] | self.cases["iii"]

    def region(self, i):
        """The atomic region of z_i: latents that no two sets tell from it."""
        return frozenset(j for j in self.latents if (i, j) not in self.stated)

    @cached_property
    def freed(self):
        """The pairs separated if latents are independent: also those of a z_i that is a region of its own."""
        alone = [i for i in self.latents if self.region(i) == {i}]
        return self.cases["i"] | {(i, j) for i in alone for j in self.latents - {i}}

    def proved(self, independent):
        """The pairs that are separated: by case (i), and more if latents are independent."""
        return self.freed if independent else self.cases["i"]

    def level(self, i, independent):
        """Alone, alone if independent, or in a block."""
        if not self.mixed(frozenset({i}), independent):
            return "element"
        return "element if independent" if self.region(i) == {i} else "block"

    def meets(self, i, a, clause):
        """Assumption 2 as printed: is the set A a witness of the clause for z_i?"""
        if clause == 3:
            return self.meet(a) == {i}
        if self.union(a) != self.latents:
            return False
        one_sees_it = (self.parents[k] - self.union(a - {k}) == {i} for k in a)
        one_lacks_it = (self.meet(a - {k}) - self.parents[k] == {i} for k in a)
        return any(one_sees_it if clause == 1 else one_lacks_it)

    def clauses(self, i):
        """The clauses that some set A witnesses."""
        return frozenset(c for c in CLAUSES if any(self.meets(i, a, c) for a in self.sets))

    def guarantees(self, a, b):
        """Definition 5 and Proposition 1 for two sets: (targets, sources) that are to be kept apart."""
        i_a, i_b = self.union(a), self.union(b)
        return [
            (i_a & i_b, i_a ^ i_b),
            (i_a ^ i_b, i_a & i_b),
            (i_a - i_b, i_b - i_a),
            (i_b - i_a, i_a - i_b),
            (i_a, i_b - i_a),
            (i_b, i_a - i_b),
            (i_a - i_b, i_b),
            (i_b - i_a, i_a),
        ]

    def atoms(self, a, b):
        """The atomic regions of I_A and I_B: those of them that are not empty."""
        places = {(True, True): "A & B", (True, False): "A - B", (False, True): "B - A"}
        found = {}
        for j in self.latents:
            place = places.get((j in self.union(a), j in self.union(b)), "~(A | B)")
            found[place] = found.get(place, frozenset()) | {j}
        return found

    def mixed(self, region, independent):
        """The pairs (i within, j outside) that are not separated: a region is a block iff there is none."""
        outside = self.latents - region
        return [(i, j) for i in region for j in outside if (i, j) not in self.proved(independent)]
