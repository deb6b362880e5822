from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch

import unmix
from unmix.data import slots
from unmix.metrics import slot_identifiability
from unmix.nn import jacobian, mlp, residual_mlp
from unmix.objectives._slot import SlotObjective
from unmix.objectives._vae import Objective
from unmix.penalties import compositional_contrast, dependency_sparsity
from unmix.solvers.slots._starts import find_slots, rebase_slots, start_in_unions
from unmix.training._ensemble import Ensemble

MODULE = "unmix.estimators._slot_autoencoder"
SMALL = partial(mlp, hidden=(8,))
STEPS = {"batch_size": 100, "n_restarts": 1, "random_state": 0}


@pytest.fixture(scope="module")
def shared():
    """Two slots of two latents that share half of their ten rows."""
    return slots(1500, 2, 2, n_rows=10, overlap=0.5, random_state=0)


@pytest.fixture(scope="module")
def fitted(shared):
    return unmix.SlotAutoencoder(4, slots=2, max_iter=30, **STEPS).fit(shared.x)


def test_changing_slots_leaves_the_reconstruction_alone(shared):
    torch.manual_seed(0)
    member = SlotObjective(residual_mlp(15, 4, zero_init=False), residual_mlp(4, 15, zero_init=False), 4)
    ensemble, x = Ensemble([member] * 2, {}), torch.tensor(shared.x[:300], dtype=torch.float32)
    generator = torch.Generator().manual_seed(0)

    def decoded(member, batch):
        return member.decoder(member.encode(batch))

    before = ensemble.each(decoded, x)
    rebase_slots(ensemble, (x,), generator, [[0, 2], [1, 3]])
    assert torch.allclose(ensemble.each(decoded, x), before, atol=1e-3)
    white = torch.cov(ensemble.each(Objective.encode, x)[0][:, [0, 2]].T, correction=0)
    assert torch.allclose(white, torch.eye(2), atol=1e-2)


@pytest.mark.slow
def test_slots_that_share_half_their_rows_are_found_where_contrast_fails(shared, fitted):
    contrast = unmix.SlotAutoencoder(
        4, slots=2, penalty=compositional_contrast, search=False, max_iter=30, **STEPS
    )
    found = slot_identifiability(shared.z, fitted.transform(shared.x), n_slots=2)
    other = slot_identifiability(shared.z, contrast.fit_transform(shared.x), n_slots=2)
    assert found > 0.9 and found > other + 0.15
    assert fitted.partition_ == ((0, 1), (2, 3)) and fitted.score(shared.x) > 0.95


@pytest.mark.slow
def test_slots_are_counted_and_put_where_they_are_asked_for(shared):
    apart = slots(1500, 2, 2, n_rows=12, overlap=0.2, random_state=0)
    model = unmix.SlotAutoencoder(4, max_iter=20, **STEPS).fit(apart.x)
    assert sorted(map(len, model.partition_)) == [2, 2]
    assert sorted(j for slot in model.partition_ for j in slot) == [0, 1, 2, 3]
    listed = unmix.SlotAutoencoder(4, slots=[[3, 0], [2, 1]], max_iter=20, **STEPS).fit(shared.x)
    assert listed.partition_ == ((0, 3), (1, 2))
    codes = listed.transform(shared.x)[:, [0, 3, 1, 2]]
    assert slot_identifiability(shared.z, codes, n_slots=2) > 0.9


def test_an_additive_decoder_has_no_cross_derivatives_and_comes_back_from_its_file(tmp_path):
    data = slots(1500, 2, 2, n_rows=8, overlap=0.5, mixing="additive", random_state=0)
    model = unmix.SlotAutoencoder(4, slots=2, additive=True, max_iter=16, **STEPS).fit(data.x)
    assert slot_identifiability(data.z, model.transform(data.x), n_slots=2) > 0.85
    z = torch.randn(10, 4).double()
    moved = z + torch.tensor([0.0, 0.0, 1.0, -1.0]).double()
    J, after = (jacobian(model.decoder_, codes)[:, :, :2] for codes in (z, moved))
    assert torch.allclose(J, after) and not torch.allclose(J[0], J[1])
    loaded = unmix.load(model.save(tmp_path / "model"))
    np.testing.assert_array_equal(loaded.transform(data.x), model.transform(data.x))
    assert loaded.partition_ == model.partition_


@pytest.mark.parametrize(
    "penalty",
    [dependency_sparsity, partial(compositional_contrast, slots=[[0], [1, 2, 3]])],
    ids=["plain", "fixed"],
)
def test_any_penalty_is_taken(penalty, shared):
    small = partial(mlp, hidden=(8,))
    model = unmix.SlotAutoencoder(4, slots=2, penalty=penalty, encoder=small, decoder=small, max_iter=2)
    assert np.isfinite(model.fit(shared.x).history_.terms["penalty"]).all()


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"slots": 3}, ValueError, "`slots` must divide n_components=4, got 3"),
        ({"slots": 0}, ValueError, "`slots` must divide"),
        ({"slots": [[0, 1], [1, 2, 3]]}, ValueError, "`slots` must hold each of 4 latents once"),
        ({"slots": [[0, 1, 2, 3], []]}, ValueError, "`slots` must hold"),
        ({"slots": 2.0}, TypeError, "`slots` must be None, 'unions'"),
        ({"slots": True}, TypeError, "`slots` must be None, 'unions'"),
        ({"additive": "yes"}, ValueError, "`additive` must be True or False"),
        ({"search": 1}, ValueError, "`search` must be True or False"),
        ({"weight": -1.0}, ValueError, "`weight` must be"),
    ],
    ids=str,
)
def test_bad_settings_are_named(wrong, error, message, shared):
    with pytest.raises(error, match=message):
        unmix.SlotAutoencoder(4).set_params(**wrong).fit(shared.x)


@pytest.fixture(scope="module")
def unequal():
    return slots(900, 2, (1, 3), n_rows=8, random_state=0)


def uneven(data, **settings):
    given = {"slots": [[0], [1, 2, 3]], "max_iter": 4, **STEPS, **settings}
    return unmix.SlotAutoencoder(4, **given).fit(data.x)


def test_told_slots_of_unequal_size_keep_the_better_of_two_starts(unequal):
    one, two = uneven(unequal, effort="plain"), uneven(unequal, effort="thorough")
    assert len(one.restarts_) == 1 and len(two.restarts_) == 2
    assert two.restarts_[0] == one.restarts_[0]  # the first start has the same bits
    same = np.array_equal(one.transform(unequal.x), two.transform(unequal.x))
    assert same == (two.restarts_[0] <= two.restarts_[1])


def test_a_second_start_is_for_many_rows_and_sizes_that_differ(unequal, monkeypatch):
    assert len(uneven(unequal).restarts_) == 1
    monkeypatch.setattr(f"{MODULE}._MANY_ROWS", 899)
    assert len(uneven(unequal).restarts_) == 2
    assert len(uneven(unequal, slots=2).restarts_) == 1
    with pytest.raises(ValueError, match="`effort` must be one of"):
        uneven(unequal, effort="more")


def test_slots_that_are_not_told_are_counted_by_unions_with_many_rows(unequal, monkeypatch):
    calls = []

    def watched(*given, **settings):
        calls.append((settings["unions"], settings.get("n_slots")))
        return find_slots(*given, **settings)

    monkeypatch.setattr(f"{MODULE}.find_slots", watched)
    uneven(unequal, slots=None)
    monkeypatch.setattr(f"{MODULE}._MANY_ROWS", 899)
    uneven(unequal, slots=None, effort="plain")
    assert calls == [(False, None), (False, None)]
    n_slots = len(uneven(unequal, slots=None).partition_)
    assert calls[2:] == [(True, None), (True, n_slots)]


@pytest.mark.parametrize(
    "changes", [{"search": False}, {"encoder": SMALL, "decoder": SMALL}], ids=["as told", "mlp"]
)
def test_unions_are_counted_without_a_search_as_well(unequal, changes):
    model = uneven(unequal, slots="unions", n_restarts=2, **changes)
    assert sorted(j for slot in model.partition_ for j in slot) == [0, 1, 2, 3] and len(model.restarts_) == 2
    assert len(uneven(unequal, slots="unions", n_restarts=2).restarts_) == 1


@pytest.mark.parametrize("better", [0, 1])
def test_of_two_counts_the_one_with_the_lower_objective_is_kept(unequal, monkeypatch, better):
    counts = ((0, 1), (2, 3)), ((0,), (1, 2, 3))
    found, ends = iter(counts), iter([1.0, (2.0, 0.5)[better]])
    monkeypatch.setattr(f"{MODULE}.find_slots", lambda *a, **k: (next(found), find_slots(*a, **k)[1]))
    slotted, trained = unmix.SlotAutoencoder._slotted, []

    def judged(*given):
        trained.append(replace(slotted(*given), scores=(next(ends),)))
        return trained[-1]

    monkeypatch.setattr(unmix.SlotAutoencoder, "_slotted", judged)
    model = uneven(unequal, slots=None, effort="thorough")
    assert model.partition_ == counts[better] and len(model.restarts_) == 2
    kept = trained[better].objective.encoder.state_dict()
    assert all(torch.equal(value, kept[name]) for name, value in model.encoder_.state_dict().items())


def test_the_second_start_is_taken_where_its_objective_is_lower(unequal, monkeypatch):
    lower = unmix.estimators._slot_autoencoder._lower
    monkeypatch.setattr(
        f"{MODULE}._lower",
        lambda one, other: lower(replace(one, scores=(9.0,)), other),
    )
    found = uneven(unequal, effort="thorough")
    assert found.restarts_[0] == 9.0
    assert not np.array_equal(
        found.transform(unequal.x), uneven(unequal, effort="plain").transform(unequal.x)
    )


@pytest.mark.parametrize("as_told", [True, False])
def test_a_code_whose_groups_have_other_sizes_is_left_for_one_that_began_at_random(
    unequal, monkeypatch, as_told
):
    seen = []

    def grouped(objective, *others):
        seen.append(objective)
        return start_in_unions(objective, *others)[0], as_told

    monkeypatch.setattr(f"{MODULE}.start_in_unions", grouped)
    assert len(uneven(unequal, effort="thorough").restarts_) == 2
    assert len(seen) == (1 if as_told else 2) and len({id(objective) for objective in seen}) == len(seen)
