"""Types D, M, S and H_n against their definitions, their hierarchy, and the theorems that use them."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from unmix.theory import certify_mechanisms, finite_differences, tangent_factors
from unmix.theory.mechanisms._interactions import n_interaction_factors

PARTITIONS = ([{0}, {1}, {2}], [{0, 1}, {2}], [{0, 2}, {1}], [{0}, {1, 2}])


def different_slots(slots):
    slot = {latent: k for k, block in enumerate(slots) for latent in block}
    return [(a, b) for a, b in product(slot, repeat=2) if slot[a] != slot[b]]


def is_disjoint(jacobians, slots):
    return all((jacobians[:, :, a] * jacobians[:, :, b] == 0).all() for a, b in different_slots(slots))


def is_mutual(jacobians, slots):
    moved = [[set(np.flatnonzero(column)) for column in jacobian.T] for jacobian in jacobians]
    return all(not omega[a] <= omega[b] for omega in moved for a, b in different_slots(slots))


@st.composite
def sparse_jacobians(draw, rows=5, d=3):
    n = draw(st.integers(1, 3))
    entries = st.lists(st.sampled_from([-2.0, 0.0, 0.0, 1.0]), min_size=n * rows * d, max_size=n * rows * d)
    return np.array(draw(entries)).reshape(n, rows, d)


def random_disjoint(seed, dims=(2, 1, 3), rows=5, n=3):
    """Slots that move sets of rows of their own, in a random order; full rank."""
    rng = np.random.default_rng(seed)
    jacobians = np.zeros((n, rows * len(dims), sum(dims)))
    slots, start = [], 0
    for k, d in enumerate(dims):
        jacobians[:, rows * k : rows * (k + 1), start : start + d] = rng.normal(size=(n, rows, d))
        slots.append(set(range(start, start + d)))
        start += d
    return jacobians[:, rng.permutation(rows * len(dims))], slots


def ridge(z, w, a):
    """g_n(z) = sum_k w_nk sin(a_k z), with its first, second and third derivatives."""
    t = z @ a.T
    first = np.einsum("xk,nk,ki->nxi", w, np.cos(t), a)
    second = np.einsum("xk,nk,ki,kj->nxij", w, -np.sin(t), a, a)
    third = np.einsum("xk,nk,ki,kj,kl->nxijl", w, -np.cos(t), a, a, a)
    return first, second, third


def additive(seed=0, n=4, rows=48, slots=((0, 1), (2,), (3, 4)), per_slot=12, apart=False):
    rng = np.random.default_rng(seed)
    a = np.zeros((per_slot * len(slots), sum(map(len, slots))))
    for k, slot in enumerate(slots):
        a[per_slot * k : per_slot * (k + 1), list(slot)] = rng.normal(size=(per_slot, len(slot)))
    w = rng.normal(size=(rows, len(a)))
    if apart:  # rows of one slot each
        w = w * np.kron(np.eye(len(slots)), np.ones((rows // len(slots), per_slot)))
    return ridge(rng.normal(size=(n, a.shape[1])), w, a), slots


@given(sparse_jacobians(), st.sampled_from(PARTITIONS))
def test_disjoint_and_mutual_are_their_definitions(jacobians, slots):
    found = certify_mechanisms(jacobians, slots)
    assert bool(found["D"]) == is_disjoint(jacobians, slots)
    assert bool(found["M"]) == is_mutual(jacobians, slots)
    for kind, check in (("D", is_disjoint), ("M", is_mutual)):
        assert found[kind].points == pytest.approx(np.mean([check(j[None], slots) for j in jacobians]))
        assert found[kind].margin >= 0 if found[kind] else found[kind].margin <= 0


def test_margins_say_how_far():
    jacobian = np.array([[4.0, 0.0], [2.0, 1e-3], [0.0, 1.0], [0.0, 1.0]])
    found = certify_mechanisms(jacobian, 2)
    assert found["D"].margin == pytest.approx(-3) and found["D"].unit == "decades" and not found["D"]
    assert found["M"].margin == 1 and found["M"].unit == "rows"  # row 0 is all that z0 has for itself
    assert found.plateau == pytest.approx((0, 1e-3))
    learned = certify_mechanisms(jacobian, 2, tolerance=0.01)
    assert learned["D"].margin == pytest.approx(1) and learned["D"] and learned.plateau == (1e-3, 0.5)
    assert certify_mechanisms(np.eye(3), 3)["D"].margin == pytest.approx(10)  # sixteen decades less six


@pytest.mark.parametrize("seed", range(8))
def test_disjoint_implies_mutual_and_sparse(seed):
    jacobians, slots = random_disjoint(seed)
    found = certify_mechanisms(jacobians, slots)
    assert found["D"] and found["M"] and found["S"]
    for search in (0, 100_000):
        assert certify_mechanisms(jacobians[:1], slots, search=search)["S"]


@given(sparse_jacobians(rows=6), st.sampled_from(PARTITIONS))
def test_the_hierarchy_holds_wherever_columns_are_independent(jacobians, slots):
    assume(all(np.linalg.matrix_rank(jacobian) == 3 for jacobian in jacobians))
    found = certify_mechanisms(jacobians, slots)
    assert found["S"].reasons[0].startswith("undecided") is False
    if found["D"]:
        assert found["M"] and found["S"]


def test_the_converses_fail():
    shadows = np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 3.0], [0.0, 1.0], [0.0, 1.0]])
    found = certify_mechanisms(shadows, 2)
    assert not found["D"] and found["M"] and found["S"] and found["S"].margin == 1
    cancelling = np.array([[1, 0], [1, 1], [1, 1], [1, 1], [0, 1]], dtype=float)
    found = certify_mechanisms(cancelling, 2)
    assert found["M"] and not found["S"]  # no cancellation is what M needs and S counts
    nested = np.array([[1, 1], [0, 1], [0, 2], [0, 1]], dtype=float)
    found = certify_mechanisms(nested, 2)
    assert not found["M"] and not found["S"] and found["S"].margin == -1  # a lighter basis mixes them


@pytest.mark.parametrize("seed", range(3))
def test_additive_generators_are_h2_and_so_h3_and_not_disjoint(seed):
    (first, second, third), slots = additive(seed)
    found = certify_mechanisms(first, slots, hessians=second, thirds=third)
    assert found["H2"] and found["H3"] and not found["D"] and not found["M"]
    assert found["H2"].margin > 5 and found["H2"].points == 1
    assert "H2" in found.identifies and "H3" in found.identifies
    wrong = certify_mechanisms(first, [(0,), (1, 2), (3, 4)], hessians=second, thirds=third)
    assert not wrong["H2"] and not wrong["H3"] and wrong["H2"].margin < -3
    assert "z0, z1 of slots 0 and 1 interact" in str(wrong["H2"])


def test_h3_without_h2():
    z = np.random.default_rng(0).normal(size=(5, 2))
    g = lambda z: np.column_stack([z[:, 0] * z[:, 1], z[:, 0] ** 3, z[:, 1] ** 3])  # noqa: E731
    derivatives = [finite_differences(g, z, order) for order in (1, 2, 3)]
    found = certify_mechanisms(
        derivatives[0], 2, hessians=derivatives[1], thirds=derivatives[2], tolerance=1e-3
    )
    assert not found["H2"] and found["H3"]


def test_disjoint_on_an_open_set_implies_h2():
    (first, second, third), slots = additive(apart=True)
    found = certify_mechanisms(first, slots, hessians=second, thirds=third)
    assert found["D"] and found["H2"] and found["H3"] and all(found.theorems[:-1])


def test_a_linear_map_is_h2_vacuously_and_identifies_nothing_by_it():
    jacobians = np.random.default_rng(0).normal(size=(3, 6, 2))
    found = certify_mechanisms(jacobians, 2, hessians=np.zeros((3, 6, 2, 2)))
    assert found["H2"] and "vacuously" in str(found["H2"])
    assert "does not bend" in " ".join(found.missing) and not found


def test_separability_fails_where_slots_bend_along_each_other():
    z = np.random.default_rng(0).normal(size=(3, 2))
    directions = np.random.default_rng(1).normal(size=(6, 3))
    w = np.column_stack([directions[:, 0], directions[:, 0]])  # both slots bend along one direction
    first, second, _ = ridge(z, w, np.eye(2))
    first = first + directions[:, 1:]
    found = certify_mechanisms(first, 2, hessians=second)
    assert (
        found["H2"] and not found and any("Separability of order 2 fails" in words for words in found.missing)
    )
    w = directions[:, :2]
    first, second, _ = ridge(z, w, np.eye(2))
    exponential = certify_mechanisms(first, 2, hessians=second)  # sin bends along its own first derivative
    assert not exponential


@pytest.mark.parametrize("seed", range(20))
def test_factors_are_found_in_any_basis(seed):
    jacobians, slots = random_disjoint(seed, n=1)
    basis = np.random.default_rng(seed + 100).normal(size=(6, 6))
    factors = tangent_factors(jacobians[0] @ basis)
    assert sorted(factor.shape[1] for factor in factors) == [1, 2, 3]
    for factor in factors:  # in the old coordinates each lies in one slot
        sizes = np.abs(basis @ factor)
        touched = [k for k, slot in enumerate(slots) if sizes[sorted(slot)].max() > 1e-8 * sizes.max()]
        assert len(touched) == 1 and factor.shape[1] == len(slots[touched[0]])


@pytest.mark.parametrize("seed", range(10))
def test_interaction_factors_are_counted_in_any_linear_basis(seed):
    (_, second, third), _ = additive(seed, n=1)
    basis = np.random.default_rng(seed).normal(size=(5, 5))
    forms = np.einsum("xij,ia,jb->xab", second[0], basis, basis)
    assert n_interaction_factors(forms, 1e-8) == 3
    assert n_interaction_factors(np.einsum("xijk,ia,jb,kc->xabc", third[0], basis, basis, basis), 1e-8) == 3
    assert n_interaction_factors(second[0][:, :2, :2], 1e-8) == 1
    dense = np.random.default_rng(seed).normal(size=(6, 4, 4))
    assert n_interaction_factors(dense + dense.swapaxes(1, 2), 1e-8) == 1


def test_two_forms_with_complex_eigenvectors_do_not_split():
    forms = np.array([[[1.0, 0.0], [0.0, -1.0]], [[0.0, 1.0], [1.0, 0.0]]])  # Re and Im of z^2
    assert n_interaction_factors(forms, 1e-8) == 1
    assert n_interaction_factors(forms[:1], 1e-8) == 2


def test_reducible_slots_are_found_out():
    jacobians, slots = random_disjoint(0)
    merged = certify_mechanisms(jacobians, [slots[0] | slots[1], slots[2]])
    assert merged["D"] and not merged.theorems[0]
    assert any("slot 0 splits at 100% of points" in words for words in merged.missing)
    basis = np.eye(6)
    basis[:3, :3] = np.random.default_rng(3).normal(size=(3, 3))
    hidden = certify_mechanisms(jacobians @ basis, [slots[0] | slots[1], slots[2]])
    assert hidden["D"] and not hidden.theorems[0]  # whatever the basis within the slot


@given(sparse_jacobians(), st.sampled_from(PARTITIONS), st.permutations(range(5)), st.permutations(range(3)))
def test_relabelling_and_scaling_change_no_verdict(jacobians, slots, rows, latents):
    latents = list(latents)
    other = (jacobians * [7.0, -0.01, 2.0])[:, list(rows)][:, :, latents]
    moved = [{latents.index(latent) for latent in slot} for slot in reversed(slots)]
    here, there = certify_mechanisms(jacobians, slots), certify_mechanisms(other, moved)
    for kind in "DMS":
        assert bool(here[kind]) == bool(there[kind]) and here[kind].margin == pytest.approx(
            there[kind].margin
        )
    assert [bool(theorem) for theorem in here.theorems] == [bool(theorem) for theorem in there.theorems]


@given(sparse_jacobians(), st.integers(0, 5))
def test_type_d_does_not_see_the_basis_within_slots(jacobians, seed):
    basis = np.eye(3)
    basis[:2, :2] = np.linalg.qr(np.random.default_rng(seed).normal(size=(2, 2)))[0]
    slots = [{0, 1}, {2}]
    here, there = certify_mechanisms(jacobians, slots), certify_mechanisms(jacobians @ basis, slots)
    assert bool(here["D"]) == bool(there["D"])
    assert bool(here.theorems[0]) == bool(there.theorems[0])


def chain(overlap, bent, n=5, rows=20, slots=3, dim=3, seed=0):
    """Slots of 20 rows each, overlapping their neighbours; summed, then bent or not."""
    rng = np.random.default_rng(seed)
    step = round((1 - overlap) * rows)
    a, w = np.zeros((slots * 12, slots * dim)), np.zeros(((slots - 1) * step + rows, slots * 12))
    for k in range(slots):
        a[12 * k : 12 * k + 12, dim * k : dim * k + dim] = rng.normal(size=(12, dim))
        w[step * k : step * k + rows, 12 * k : 12 * k + 12] = rng.normal(size=(rows, 12))
    bend = (lambda t: t + 0.5 * np.tanh(t)) if bent else (lambda t: t)
    g = lambda z: bend(np.sin(z @ a.T) @ w.T)  # noqa: E731
    z = rng.normal(size=(n, slots * dim))
    return finite_differences(g, z), finite_differences(g, z, order=2)


@pytest.mark.parametrize("overlap", [0, 0.25, 0.5, 0.75])
@pytest.mark.parametrize("bent", [False, True])
def test_the_overlap_chain(overlap, bent):
    jacobians, hessians = chain(overlap, bent)
    found = certify_mechanisms(jacobians, 3, hessians=hessians, tolerance=1e-4, generic=True)
    assert bool(found["D"]) == (overlap == 0)
    assert found["S"] and found["M"]  # in general position up to 20 - step > 3 rows of one's own
    assert bool(found["H2"]) == (not bent or overlap == 0)
    assert found.theorems[0].holds == (overlap == 0)


def test_at_nine_tenths_overlap_no_general_position_helps():
    jacobians, _ = chain(0.9, bent=True)
    found = certify_mechanisms(jacobians, 3, tolerance=1e-4, generic=True)
    assert found["M"] and not found["S"]


def test_local_becomes_global_on_a_convex_support():
    jacobians, slots = random_disjoint(0)
    local = certify_mechanisms(jacobians, slots)
    assert local and "locally" in local.identifies and "topology" in str(local.theorems[-1])
    everywhere = certify_mechanisms(jacobians, slots, convex_support=True)
    assert everywhere.theorems[-1] and "globally" in everywhere.identifies
    assert any("covering map" in words for words in everywhere.theorems[-1].assumes)
    jacobians[1, :, 0] = jacobians[1, :, 1]
    folded = certify_mechanisms(jacobians, slots, convex_support=True)
    assert not folded and not folded.theorems[-1] and "not locally injective" in str(folded.theorems[-1])


def test_zero_rows_and_columns():
    jacobians, slots = random_disjoint(1)
    padded = np.pad(jacobians, ((0, 0), (0, 3), (0, 0)))
    here, there = certify_mechanisms(jacobians, slots), certify_mechanisms(padded, slots)
    assert [c.holds for c in here.certificates] == [c.holds for c in there.certificates]
    jacobians[:, :, 2] = 0
    dead = certify_mechanisms(jacobians, slots)
    assert dead["D"] and not dead["M"] and not dead["S"] and not dead
    assert "z2 move nothing" in str(dead)
    nothing = certify_mechanisms(np.zeros((2, 4, 2)), 2, hessians=np.zeros((2, 4, 2, 2)))
    assert nothing["D"] and not nothing["M"] and not nothing["S"] and not nothing


def test_one_slot_is_trivially_independent():
    found = certify_mechanisms(np.random.default_rng(0).normal(size=(2, 5, 2)), 1)
    assert found["D"] and found["M"] and found["S"] and found["S"].margin is None


def test_the_result_is_a_value_that_explains_itself():
    (first, second, _), slots = additive()
    found = certify_mechanisms(first, slots, hessians=second)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["partition"] == [[0, 1], [2], [3, 4]] and plain["n_points"] == 4
    assert {c["theorem"] for c in plain["certificates"]} == {c.theorem for c in found.certificates}
    assert [t["kind"] for t in plain["types"]] == ["D", "M", "S", "H2"]
    assert plain["identifies"] == found.identifies and plain["missing"] == list(found.missing)
    assert "Type H_3 was not checked" in " ".join(found.missing)
    assert "margin" in str(found) and found.identifies in str(found) and str(found) == repr(found)
    with pytest.raises(KeyError, match="H3"):
        found["H3"]


@pytest.mark.parametrize(
    ("partition", "words"),
    [
        ([[0, 1]], r"cover every latent \(missing \[2\]\)"),
        ([[0, 1], [1, 2]], r"not overlap \(latents \[1\] are listed twice\)"),
        ([[0, 1], [2, 3]], r"latents 0 to 2 only \(not \[3\]\)"),
        ([[0, 1, 2], []], "no empty slot"),
        (2, "divide n_latents=3"),
        (0, "divide n_latents=3"),
    ],
)
def test_bad_partitions_are_named(partition, words):
    with pytest.raises(ValueError, match=words):
        certify_mechanisms(np.ones((2, 4, 3)), partition)


@pytest.mark.parametrize(
    ("jacobians", "given", "words"),
    [
        (np.ones(3), {}, "`jacobians` must have shape"),
        (np.ones((0, 3, 2)), {}, "no empty axis"),
        (np.full((2, 3, 2), np.nan), {}, "`jacobians` must be finite"),
        (np.ones((2, 3, 2)), {"hessians": np.ones((2, 3, 2))}, r"`hessians` must have shape \(2, 3, 2, 2\)"),
        (
            np.ones((2, 3, 2)),
            {"thirds": np.ones((2, 3, 2, 2))},
            r"`thirds` must have shape \(2, 3, 2, 2, 2\)",
        ),
        (np.ones((1, 1, 2)), {"hessians": np.full((1, 1, 2, 2), np.inf)}, "`hessians` must be finite"),
        (np.ones((1, 1, 2)), {"hessians": [[[[0, 1], [2, 0]]]]}, "symmetric"),
        (np.ones((2, 3, 2)), {"tolerance": 0}, "`tolerance`"),
        (np.ones((2, 3, 2)), {"tolerance": 1}, "`tolerance`"),
    ],
)
def test_bad_input_is_named(jacobians, given, words):
    with pytest.raises(ValueError, match=words):
        certify_mechanisms(jacobians, 2, **given)


def test_bad_factors_are_named():
    with pytest.raises(ValueError, match="one matrix"):
        tangent_factors(np.ones((2, 3, 2)))
    with pytest.raises(ValueError, match="full column rank"):
        tangent_factors(np.ones((3, 2)))


def test_a_learned_tolerance_asks_no_more_of_the_rank():
    rng = np.random.default_rng(0)
    slanted = rng.normal(size=(3, 8, 1)) + 0.02 * rng.normal(size=(3, 8, 2))  # two nearly parallel columns
    jacobians = np.zeros((3, 12, 3))
    jacobians[:, :8, :2], jacobians[:, 8:, 2:] = slanted, 1.0
    jacobians += 1e-3 * rng.normal(size=jacobians.shape)  # no zeros, as learned
    found = certify_mechanisms(jacobians, [{0, 1}, {2}], tolerance=0.02)
    assert found["D"] and found.theorems[0] and "Local injectivity of the generator holds" in str(found)
    assert found.plateau[0] < 0.02 < found.plateau[1]


def test_third_derivatives_must_be_symmetric_in_all_axes():
    thirds = np.zeros((1, 1, 2, 2, 2))
    thirds[0, 0, 0] = [[0, 1], [1, 0]]  # symmetric in the last two only
    with pytest.raises(ValueError, match="symmetric"):
        certify_mechanisms(np.ones((1, 1, 2)), 2, thirds=thirds)


def test_without_second_derivatives_separability_of_third_order_is_partly_assumed():
    (first, second, third), slots = additive()
    with_second = certify_mechanisms(first, slots, hessians=second, thirds=third)
    without = certify_mechanisms(first, slots, thirds=third)
    words = "second derivatives do not meet the third ones"
    assert words in without.theorems[3].assumes and words not in with_second.theorems[4].assumes


def test_supports_pooled_over_points_are_reported_too():
    jacobians = np.array([[[1, 0], [1, 1], [0, 1.0]], [[0, 1], [1, 1], [1, 0.0]]])
    found = certify_mechanisms(jacobians, 2)
    assert found["M"].margin == 1 and "at least 0 with supports pooled" in str(found["M"])


def test_slots_that_split_under_type_s_are_found_out_in_any_basis():
    jacobians, slots = random_disjoint(0, dims=(1, 1, 2), n=2)
    merged = [slots[0] | slots[1], slots[2]]
    basis = np.eye(4)
    basis[:2, :2] = [[1.0, 2.0], [-1.0, 1.0]]
    for samples in (jacobians, jacobians @ basis):
        found = certify_mechanisms(samples, merged)
        assert found["S"] and not found.theorems[2]
        assert "slot 0 splits at 100% of points" in " ".join(found.missing)
    apart = certify_mechanisms(jacobians, slots)
    assert apart.theorems[2] and not any("irreducible" in words for words in apart.theorems[2].assumes)
    unsearched = certify_mechanisms(jacobians, merged, search=0)
    assert unsearched.theorems[2] and any("irreducible" in words for words in unsearched.theorems[2].assumes)


def test_stored_timings_meet_their_goal_and_are_the_ones_shown():
    root = Path(__file__).parents[2]
    stored = json.loads((root / "benchmarks/results/mechanisms.json").read_text(encoding="utf-8"))
    medians = [row["certify"]["median"] for row in stored["rows"] if row["shape"] == [1000, 200, 20]]
    goal = stored["goals"]["seconds"]
    assert goal["met"] and max(medians) <= goal["measured"] < goal["goal"] == 2
    page = (root / "docs/mechanisms.md").read_text(encoding="utf-8")
    assert f"200 x 20 took {min(medians):.1f} to {max(medians):.1f} s" in page
