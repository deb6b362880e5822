from functools import partial

import numpy as np
import pytest
import torch

import unmix
from unmix.data import slots
from unmix.metrics import slot_identifiability
from unmix.nn import jacobian, mlp, residual_mlp
from unmix.objectives._slot import AdditiveDecoder, SlotObjective
from unmix.objectives._vae import Objective
from unmix.penalties import compositional_contrast, dependency_sparsity
from unmix.solvers.slots._graph import slots_of
from unmix.solvers.slots._search import influences, sparsest_slots
from unmix.solvers.slots._starts import rebase_slots
from unmix.training._ensemble import Ensemble

STEPS = {"batch_size": 100, "n_restarts": 1, "random_state": 0}


@pytest.fixture(scope="module")
def shared():
    """Two slots of two latents that share half of their ten rows."""
    return slots(1500, 2, 2, n_rows=10, overlap=0.5, random_state=0)


@pytest.fixture(scope="module")
def fitted(shared):
    return unmix.SlotAutoencoder(4, slots=2, max_iter=30, **STEPS).fit(shared.x)


def slot_jacobians(sizes, rows, seed, n=40):
    """Jacobians of slots that bend: random on the rows of each slot, in an unknown basis of the latents."""
    generator = torch.Generator().manual_seed(seed)
    owner = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))
    support = torch.tensor([[i in rows[k] for k in owner.tolist()] for i in range(max(map(max, rows)) + 1)])
    J = torch.randn(n, *support.shape, generator=generator).double() * support
    mix = torch.randn(len(owner), len(owner), generator=generator).double()
    return J @ torch.linalg.inv(mix), mix, owner


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    ("sizes", "rows"),
    [
        ([3, 3], [range(0, 12), range(5, 17)]),
        ([2, 1, 3], [range(0, 8), range(5, 11), range(8, 20)]),
        ([1, 1, 1], [range(0, 4), range(2, 6), [4, 5, 0, 1]]),
    ],
    ids=str,
)
def test_the_sparsest_slots_are_the_true_ones_in_any_basis(sizes, rows, seed):
    J, mix, owner = slot_jacobians(sizes, rows, seed)
    covariance = mix @ mix.T  # of the code `mix z` with z white
    generator = torch.Generator().manual_seed(seed)
    basis = sparsest_slots(influences(J), covariance, sizes, generator, n_chains=4)
    assert torch.allclose((basis @ covariance @ basis.T)[:1, :1], torch.ones(1, 1).double(), atol=1e-4)
    share = (basis @ mix).square()  # of each true latent in each new one
    of_slot = torch.stack([share[:, owner == k].sum(1) for k in range(len(sizes))], 1) / share.sum(1)[:, None]
    found = torch.stack([of_slot[owner == k].mean(0) for k in range(len(sizes))])
    assert found.max(1).values.min() > 0.98 and len(set(found.argmax(1).tolist())) == len(sizes)


def test_latents_that_move_the_same_rows_are_found_in_any_order():
    rng = np.random.default_rng(0)
    support = np.array([[1] * 8 + [0] * 8, [0] * 5 + [1] * 8 + [0] * 3, [0] * 11 + [1] * 5])
    owner = np.array([0, 1, 2, 1, 0, 1])
    profiles = support[owner] * rng.uniform(0.5, 1.5, size=(6, 16))
    assert slots_of(profiles) == [[0, 4], [1, 3, 5], [2]]
    order = rng.permutation(6)
    relabelled = {frozenset(order[slot].tolist()) for slot in slots_of(profiles[order])}
    assert relabelled == {frozenset(slot) for slot in slots_of(profiles)}
    assert slots_of(np.ones((3, 4))) == [[0, 1, 2]] and slots_of(np.eye(3)) == [[0], [1], [2]]
    assert slots_of(np.ones((1, 4))) == [[0]]


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


def test_slots_that_share_half_their_rows_are_found_where_contrast_fails(shared, fitted):
    contrast = unmix.SlotAutoencoder(
        4, slots=2, penalty=compositional_contrast, search=False, max_iter=30, **STEPS
    )
    found = slot_identifiability(shared.z, fitted.transform(shared.x), n_slots=2)
    other = slot_identifiability(shared.z, contrast.fit_transform(shared.x), n_slots=2)
    assert found > 0.9 and found > other + 0.15
    assert fitted.partition_ == ((0, 1), (2, 3)) and fitted.score(shared.x) > 0.95


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


def test_an_additive_decoder_is_the_sum_of_its_parts():
    decoder = AdditiveDecoder(partial(mlp, hidden=(4,)), [[0, 2], [1]], 3)
    z = torch.randn(5, 3)
    assert torch.allclose(decoder(z), decoder.parts[0](z[:, [0, 2]]) + decoder.parts[1](z[:, [1]]))


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
        ({"slots": 2.0}, TypeError, "`slots` must be None, an integer"),
        ({"slots": True}, TypeError, "`slots` must be None, an integer"),
        ({"additive": "yes"}, ValueError, "`additive` must be True or False"),
        ({"search": 1}, ValueError, "`search` must be True or False"),
        ({"weight": -1.0}, ValueError, "`weight` must be"),
    ],
    ids=str,
)
def test_bad_settings_are_named(wrong, error, message, shared):
    with pytest.raises(error, match=message):
        unmix.SlotAutoencoder(4).set_params(**wrong).fit(shared.x)
