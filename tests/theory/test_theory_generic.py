"""Zeros beyond generic ones: against counting by sets, laws, nulls, and the plan made beforehand."""

import json
from dataclasses import replace
from itertools import chain, combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from pytest import approx

from unmix.structure import diverse
from unmix.theory import generic_sparsity, resolution, variables_needed
from unmix.theory.sparsity._generic import FINE, luck, zeros

SEEDS = st.integers(0, 10_000)


def drawn(seed, *, dense=False, n_samples=6):
    """Draw Jacobians of a world whose rows all differ."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 6))
    d = int(rng.integers(2 * n, 3 * n))
    support = np.ones((d, n)) if dense else diverse(d, n, n_parents=2, random_state=seed).support
    sizes = rng.uniform(0.5, 1, (d, n)) * rng.choice([-1, 1], (d, n))
    return support * (sizes + 0.4 * rng.normal(size=(n_samples, d, n)))


def by_sets(support):
    """Count by the definition: the least over sets of the mean excess of the others."""
    rows = np.unique(support[support.any(1)], axis=0)
    n = rows.shape[1]
    found = np.full(n, np.inf)
    for chosen in chain.from_iterable(combinations(range(n), size) for size in range(2, n + 1)):
        touched = [row for row in rows if any(row[j] for j in chosen)]
        beyond = {j: sum(not row[j] for row in touched) - (len(chosen) - 1) for j in chosen}
        for k in chosen:
            found[k] = min(found[k], np.mean([beyond[j] for j in chosen if j != k]))
    return np.clip(found, -3, 3)


@given(hnp.arrays(bool, st.tuples(st.integers(1, 12), st.integers(2, 5))))
def test_excess_is_what_counting_over_all_sets_gives(support):
    found = generic_sparsity(support[None].astype(float))
    assert found.excess == approx(by_sets(support))
    assert found.n_rows == len(np.unique(support[support.any(1)], axis=0))


@given(SEEDS)
def test_lead_of_two_latents_is_over_the_sparsest_direction_that_mixes_them(seed):
    rows = np.random.default_rng(seed).normal(size=(7, 2)) * (np.arange(7)[:, None] % 3 != np.arange(2))
    rows = rows[np.argsort(-np.linalg.norm(rows, axis=1))]  # of rows that are alike the largest stays
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    kept: list[np.ndarray] = []
    for row in unit:
        kept += [row] * all(abs(row @ other) < 1 - 0.1**2 / 2 for other in kept)
    unit = np.array(kept)
    across = [np.array([-b, a]) for a, b in unit if min(abs(a), abs(b)) > 0.35]
    best = max((zeros(np.abs(unit @ r), FINE).sum() for r in across), default=None)
    own = zeros(np.abs(unit), FINE).sum(0)
    expected = [0, 0] if best is None else own[::-1] - best  # what keeps the other from mixing this one in
    assert generic_sparsity(rows[None]).lead == approx(np.clip(expected, -3, 3))


@pytest.mark.parametrize("dense", [False, True])
@given(SEEDS)
def test_rows_and_latents_have_no_order(dense, seed):
    samples, rng = drawn(seed, dense=dense), np.random.default_rng(seed)
    found = generic_sparsity(samples)
    rows, order = rng.permutation(samples.shape[1]), rng.permutation(samples.shape[2])
    other = generic_sparsity(samples[:, rows][:, :, order])
    assert other.excess == approx(found.excess[order])
    assert other.lead == approx(found.lead[order], abs=1e-6)


@given(SEEDS)
def test_signs_and_units_of_rows_and_latents_do_not_count(seed):
    samples, rng = drawn(seed), np.random.default_rng(seed)
    found = generic_sparsity(samples)
    signs, units = rng.choice([-1, 1], samples.shape[1:]), rng.uniform(0.1, 10, samples.shape[2])
    per_row = signs[:, :1] * rng.uniform(0.1, 10, (samples.shape[1], 1))
    other = generic_sparsity(samples * per_row * signs[0] * units, latent_scale=1 / units)
    assert other.excess == approx(found.excess)
    assert other.lead == approx(found.lead, abs=1e-6)


@given(SEEDS, st.floats(0.1, 10))
def test_copies_of_rows_and_of_samples_and_rows_of_zeros_add_nothing(seed, factor):
    samples = drawn(seed)
    found = generic_sparsity(samples)
    copies = np.concatenate([samples, factor * samples, np.zeros_like(samples)], axis=1)
    for other in (generic_sparsity(copies), generic_sparsity(np.concatenate([samples, samples]))):
        assert other.n_rows == found.n_rows
        assert other.excess == approx(found.excess) and other.lead == approx(found.lead, abs=1e-6)


def test_the_sparsest_coordinates_of_dense_data_show_little_and_two_parents_more():
    """Coordinates that copy n variables have n(n - 1) zeros in any data."""
    rng = np.random.default_rng(0)
    copied, sparse = [], []
    for seed in range(20):
        n, d = 4, 15
        dense = rng.normal(size=(d, n))
        copied.append(generic_sparsity((dense @ np.linalg.inv(dense[:n]))[None]))
        support = diverse(d, n, n_parents=2, random_state=seed).support
        sparse.append(generic_sparsity((support * rng.normal(size=(d, n)))[None]))
    assert np.mean([found.excess for found in copied]) < 0.5 < 1.0 < np.mean([f.excess for f in sparse])
    assert np.mean([(found.excess > 1).mean() for found in copied]) < 0.1
    assert np.mean([(found.lead > 0.5).mean() for found in copied]) < 0.1
    assert np.mean([found.lead for found in sparse]) > 1


def test_one_latent_alone_has_nothing_to_be_told_from():
    found = generic_sparsity(np.ones((2, 5, 1)))
    assert found.excess.tolist() == found.lead.tolist() == [0.0]
    assert json.loads(json.dumps(found.to_dict()))["n_rows"] == 1


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"jacobians": np.ones((3, 2))}, "jacobians"),
        ({"jacobians": np.ones((0, 3, 2))}, "jacobians"),
        ({"jacobians": np.full((1, 3, 2), np.nan)}, "jacobians"),
        ({"jacobians": np.ones((1, 3, 2)), "latent_scale": [1.0]}, "latent_scale"),
        ({"jacobians": np.ones((1, 3, 2)), "latent_scale": [1.0, -1.0]}, "latent_scale"),
        ({"jacobians": np.ones((1, 3, 2)), "latent_scale": [1.0, np.inf]}, "latent_scale"),
    ],
)
def test_what_no_count_can_use_is_refused_by_name(settings, name):
    with pytest.raises(ValueError, match=f"`{name}` must"):
        generic_sparsity(**settings)


SETTINGS = st.tuples(st.integers(2, 7), st.integers(1, 6)).filter(lambda pair: pair[1] < pair[0])


def bound(n, parents, d, e):
    """Write the union bound of `variables_needed` out."""
    beyond = d * (n - parents) // n - (n - 1)
    return comb(d, n - 1) * comb(d - n + 1, beyond) * e**beyond if beyond > 0 else 1.0


@given(SETTINGS, st.sampled_from([0.002, 0.01, 0.05]), st.sampled_from([0.01, 0.05]))
def test_a_plan_is_the_least_number_from_which_on_the_bound_is_kept(pair, e, level):
    n, parents = pair
    found = variables_needed(n, parents, resolution=e, level=level)
    kept = [bound(n, parents, d, e) <= level for d in range(n, 301)]
    wrong = [d for d, fine in zip(range(n, 301), kept, strict=True) if not fine]
    if found.n_observed is not None and found.n_observed < 300:
        assert found.n_observed == max(wrong, default=n - 1) + 1
        assert found.zeros == found.n_observed * (n - parents) // n and found.free == n - 1
    else:
        assert not kept[-1] or found.n_observed is not None


@given(SETTINGS, st.sampled_from([0.01, 0.03]), st.floats(0.1, 1), st.floats(0.1, 1))
def test_finer_entries_and_a_laxer_level_never_need_more(pair, e, finer, stricter):
    needs = [
        variables_needed(*pair, resolution=at, level=level).n_observed or np.inf
        for at, level in ((finer * e, 0.05), (e, 0.05), (e, 0.05 * stricter))
    ]
    assert needs == sorted(needs)


def test_fewer_parents_never_need_more():
    needs = [variables_needed(7, parents, resolution=0.01).n_observed or np.inf for parents in range(1, 7)]
    assert needs == sorted(needs) and needs[0] < needs[-2]


def test_luck_is_the_bound_in_powers_of_ten_and_at_most_all():
    assert 10 ** luck(4, 20, 10, 0.03) == approx(comb(20, 3) * comb(17, 7) * 0.03**7)
    assert luck(4, 20, 5, 0.03) == luck(4, 20, 3, 0.03) == 0


@given(st.integers(2, 10**6), st.floats(0, 2))
def test_more_rows_and_less_noise_resolve_more(n_samples, noise):
    assert (
        resolution(4 * n_samples, noise) <= resolution(n_samples, noise) <= resolution(n_samples, 2 * noise)
    )
    if resolution(4 * n_samples, noise) > 1e-4:
        assert resolution(n_samples, noise) == approx(2 * resolution(4 * n_samples, noise))


def test_a_plan_speaks_also_where_there_is_none():
    found = variables_needed(5, 2, resolution=0.01)
    assert str(found).startswith(f"{found.n_observed} variables or more")
    assert "No number of variables" in str(replace(found, n_observed=None))
    assert variables_needed(5, 4, resolution=0.9).n_observed is None


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"n_latents": 3, "n_parents": 3}, "n_parents"),
        ({"n_latents": 3, "n_parents": 0}, "n_parents"),
        ({"n_latents": 3, "resolution": 0.0}, "resolution"),
        ({"n_latents": 3, "resolution": 1.0}, "resolution"),
        ({"n_latents": 3, "level": 0.0}, "level"),
        ({"n_latents": 3, "level": 1.0}, "level"),
    ],
)
def test_a_plan_refuses_what_is_none(settings, name):
    with pytest.raises(ValueError, match=f"`{name}` must"):
        variables_needed(**settings)


@pytest.mark.parametrize("wrong", [(1, 0.1), (100, -0.1)])
def test_a_resolution_needs_rows_and_noise(wrong):
    with pytest.raises(ValueError, match="must"):
        resolution(*wrong)
