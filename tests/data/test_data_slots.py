import numpy as np
import pytest

from families import SLOTS, every
from unmix.data import slots
from unmix.theory import certify_mechanisms, sparsity_gap


@every(SLOTS)
def test_partition_names_every_latent_once_and_slots_move_the_same_rows(member):
    data = member(50, random_state=0)
    assert sorted(j for slot in data.partition for j in slot) == list(range(data.structure.n_latents))
    for k, slot in enumerate(data.partition):
        for j in slot:
            assert data.structure.influence(j) == frozenset(np.flatnonzero(data.mixing.supports[:, k]))


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        ("chain", [range(0, 8), range(6, 14), range(12, 20)]),
        ("cyclic", [range(0, 8), range(6, 14), [*range(12, 18), 0, 1]]),
        ("nested", [range(0, 8), range(0, 14), range(0, 20)]),
    ],
)
def test_layouts_are_those_of_the_definition(profile, expected):
    data = slots(20, 3, 2, n_rows=8, overlap=0.25, profile=profile, random_state=0)
    rows = [sorted(data.structure.influence(slot[0])) for slot in data.partition]
    assert rows == [sorted(each) for each in expected]


def test_given_supports_and_sizes_are_those_of_the_slots():
    given = [[0, 1, 2, 3], [3, 4, 5], [5, 0]]
    data = slots(20, supports=given, sizes=(2, 1, 1), random_state=0)
    assert [sorted(data.structure.influence(slot[0])) for slot in data.partition] == [*given[:2], [0, 5]]
    assert [len(slot) for slot in data.partition] == [2, 1, 1]
    moved = (np.abs(data.mixing.jacobian(data.z)) > 0).any(0)
    np.testing.assert_array_equal(moved, data.structure.support)


def second_differences(mixing, across):
    """How the Jacobian of slot 0 changes as slot 1 moves: by nothing, at a constant rate, or otherwise."""
    data = slots(30, 2, 2, n_rows=8, overlap=0.5, mixing=mixing, random_state=0)
    step = np.where(np.isin(np.arange(4), data.partition[1]), 0.5, 0.0)
    J = [data.mixing.jacobian(data.z + t * step)[:, :, list(data.partition[0])] for t in (0, 1, 2)]
    return np.abs(J[1] - J[0]).max() if across == 1 else np.abs(J[2] - 2 * J[1] + J[0]).max()


def test_slots_interact_as_far_as_their_kind_says():
    assert second_differences("additive", 1) < 1e-12  # Type H_2
    assert second_differences("interacting", 1) > 0.05 and second_differences("interacting", 2) < 1e-12  # H_3
    assert second_differences("bent", 2) > 0.01


def test_the_mixing_does_not_depend_on_the_law_of_the_latents():
    z = np.random.default_rng(0).normal(size=(20, 4))
    made = [
        slots(40, 2, 2, n_rows=6, overlap=0.5, latents=law, random_state=5)
        for law in ("normal", "laplace", "dependent", "reweighted")
    ]
    for data in made[1:]:
        np.testing.assert_array_equal(data.mixing(z), made[0].mixing(z))
        assert not np.array_equal(data.z, made[0].z)


def test_the_guarantee_does_not_depend_on_the_density():
    for overlap, expected in ((0.0, [True, True, True]), (0.5, [False, True, True])):
        for law in ("normal", "dependent", "reweighted"):
            data = slots(30, 2, 2, n_rows=8, overlap=overlap, latents=law, random_state=1)
            found = certify_mechanisms(data.mixing.jacobian(data.z), data.partition)
            assert [bool(found[kind]) for kind in "DMS"] == expected


def test_slots_that_share_too_much_or_lie_inside_others_have_no_sparsity_gap():
    def gap(**layout):
        data = slots(3, 2, 2, n_rows=8, random_state=0, **layout)
        return sparsity_gap(data.mixing.jacobian(data.z), data.partition).lower

    assert gap(overlap=0.5) > 0  # four rows of its own, more than two latents
    assert gap(overlap=0.75) <= 0 and gap(overlap=0.5, profile="nested") <= 0


def test_reweighted_latents_are_skewed_and_dependent():
    z = slots(20_000, 2, 1, n_rows=4, latents="reweighted", random_state=0).z
    values, vectors = np.linalg.eigh(np.cov(z.T))
    thinned = z @ vectors[:, 0]  # the projection that was thinned out has the least variance
    assert abs(np.corrcoef(z.T)[0, 1]) > 0.05 and values[0] < 0.9
    assert abs(((thinned - thinned.mean()) ** 3).mean()) / thinned.std() ** 3 > 0.05


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_samples": 1}, "`n_samples` must be"),
        ({"n_slots": 0}, "`n_slots` must be"),
        ({"n_rows": 2.5}, "`n_rows` must be"),
        ({"overlap": 0.95}, "`overlap` must be"),
        ({"overlap": float("nan")}, "`overlap` must be"),
        ({"noise": -1.0}, "`noise` must be"),
        ({"nonlinearity": "much"}, "`nonlinearity` must be"),
        ({"profile": "tree"}, "`profile` must be one of"),
        ({"mixing": "cubic"}, "`mixing` must be one of"),
        ({"latents": "cauchy"}, "`latents` must be one of"),
        ({"sizes": (1, 2)}, "`sizes` must be an integer of at least 1, or one for each of 3"),
        ({"sizes": 0}, "`sizes` must be"),
        ({"sizes": 9, "n_rows": 8}, "`sizes` must be at most"),
        ({"n_rows": 4, "overlap": 0.9}, "`n_rows` must leave at least"),
        ({"supports": [[0, 1], [3]]}, "`supports` must name every"),
    ],
    ids=str,
)
def test_bad_arguments_are_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        slots(**{"n_samples": 20, "random_state": 0} | wrong)
