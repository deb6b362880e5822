"""Named and random structures keep what their names promise."""

import numpy as np
import pytest

from unmix.structure import (
    Structure,
    anchor,
    complement_identity,
    dense,
    diverse,
    random_structure,
    ring,
    triangular,
    triangular_edges,
)

SMALL = [(x, n, p) for n in range(1, 8) for x in range(n, 2 * n + 3) for p in range(1, max(n, 2))]


@pytest.mark.parametrize(("x", "n", "p"), SMALL)
def test_diverse_keeps_its_promises_wherever_they_can_be_kept(x, n, p):
    s = diverse(x, n, n_parents=p, random_state=x)
    sizes = s.support.sum(0)
    children = [s.influence(j) for j in range(n)]
    assert s.shape == (x, n) and (s.support.sum(1) == p).all()
    assert sizes.max() - sizes.min() <= 1
    assert not any(children[i] <= children[j] for i in range(n) for j in range(n) if i != j)
    assert all(s.common_parents(s.influence(j)) == {j} for j in range(n))
    assert s.is_injective()


@pytest.mark.parametrize(("x", "n", "p"), SMALL)
def test_the_circulant_that_chance_falls_back_on_also_keeps_them(monkeypatch, x, n, p):
    monkeypatch.setattr("unmix.structure._named._DRAWS", 0)
    s = diverse(x, n, n_parents=p, random_state=0)
    sizes = s.support.sum(0)
    assert (s.support.sum(1) == p).all() and sizes.max() - sizes.min() <= 1
    assert s.contained().sum() == n and s.is_injective()


def test_diverse_is_random_and_repeatable():
    drawn = [diverse(10, 5, random_state=seed) for seed in range(10)]
    assert drawn == [diverse(10, 5, random_state=seed) for seed in range(10)]
    assert len(set(drawn)) == 10
    rng = np.random.default_rng(0)
    assert diverse(10, 5, random_state=rng) != diverse(10, 5, random_state=rng)


def test_diverse_scales():
    s = diverse(150, 50, random_state=0)
    assert s.contained().sum() == 50 and s.is_injective()


@pytest.mark.parametrize(("x", "n", "p"), [(4, 5, 2), (5, 5, 5), (5, 5, 0), (2, 2, 2), (3, 1, 2), (0, 0, 1)])
def test_diverse_says_when_it_is_impossible(x, n, p):
    with pytest.raises(ValueError, match=r"`n_observed`|`n_parents`"):
        diverse(x, n, n_parents=p)


def test_ring_is_circulant_with_two_ones_per_row():
    s = ring(5, 10)
    assert [s.parents(i) for i in range(10)] == [{i % 5, (i + 1) % 5} for i in range(10)]
    assert ring(5) == Structure(s.support[:5])
    for arguments in [(2,), (5, 7), (5, 0)]:
        with pytest.raises(ValueError, match=r"`n_latents`|`n_observed`"):
            ring(*arguments)


def test_dense_and_complement_identity():
    assert dense(3, 2).support.all() and dense(3, 2).shape == (3, 2)
    assert ~complement_identity(4) == Structure(np.eye(4))
    with pytest.raises(ValueError, match="at least 1"):
        dense(0, 2)
    with pytest.raises(ValueError, match="at least 2"):
        complement_identity(1)


def test_anchors_are_the_first_rows():
    s = anchor(30, 4, density=0.25, random_state=0)
    assert [s.parents(j) for j in range(4)] == [{j} for j in range(4)]
    assert 0.1 < s.support[4:].mean() < 0.4
    assert anchor(6, 3, density=0.0).n_edges == 3 and anchor(6, 3, density=1.0).n_edges == 12
    with pytest.raises(ValueError, match="`density`"):
        anchor(4, 3, density=1.5)
    with pytest.raises(ValueError, match="`n_observed`"):
        anchor(2, 3)


@pytest.mark.parametrize(("x", "n"), [(1, 1), (3, 3), (5, 3), (10, 5)])
def test_triangular_edges_counts_the_triangular_structure(x, n):
    s = triangular(x, n)
    assert triangular_edges(x, n) == s.n_edges
    assert all(s.parents(i) == set(range(min(i + 1, n))) for i in range(x))


def test_triangular_needs_as_many_observed_variables_as_latents():
    for call in [triangular, triangular_edges]:
        with pytest.raises(ValueError, match="`n_observed` must be at least n_latents=3"):
            call(2, 3)


def test_random_structure_draws_until_the_wish_holds():
    def wish(s):
        return s.is_injective() and s.n_edges == 9

    s = random_structure(5, 4, density=0.4, such_that=wish, random_state=0)
    assert wish(s) and s == random_structure(5, 4, density=0.4, such_that=wish, random_state=0)
    assert random_structure(3, 2, density=1.0) == dense(3, 2)
    with pytest.raises(ValueError, match="got none in 7 draws"):
        random_structure(3, 2, density=0.5, such_that=lambda s: False, max_tries=7)
    with pytest.raises(ValueError, match="`density`"):
        random_structure(3, 2, density=-0.1)
