"""The sparsest slots of Jacobians are the true ones."""

import numpy as np
import pytest
import torch

from unmix.solvers.slots._graph import slots_of
from unmix.solvers.slots._search import influences, sparsest_slots
from unmix.solvers.slots._unions import joined_slots, sized_slots


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
    spread = support[owner] * rng.uniform(0.5, 1.5, size=(6, 16))
    assert joined_slots(spread) == [[0, 4], [1, 3, 5], [2]]
    order = rng.permutation(6)
    relabelled = {frozenset(order[slot].tolist()) for slot in joined_slots(spread[order])}
    assert relabelled == {frozenset(slot) for slot in joined_slots(spread)}
    assert joined_slots(np.ones((3, 4))) == [[0, 1, 2]] and joined_slots(np.ones((1, 4))) == [[0]]
    assert joined_slots(np.repeat(np.eye(3), 4, axis=1)) == [[0], [1], [2]]


def test_latents_that_move_alike_are_found_in_any_order():
    rng = np.random.default_rng(0)
    support = np.array([[1] * 8 + [0] * 8, [0] * 5 + [1] * 8 + [0] * 3, [0] * 11 + [1] * 5])
    profiles = support[np.array([0, 1, 2, 1, 0, 1])] * rng.uniform(0.5, 1.5, size=(6, 16))
    assert slots_of(profiles) == [[0, 4], [1, 3, 5], [2]]
    order = rng.permutation(6)
    relabelled = {frozenset(order[slot].tolist()) for slot in slots_of(profiles[order])}
    assert relabelled == {frozenset(slot) for slot in slots_of(profiles)}
    assert slots_of(np.ones((3, 4))) == [[0, 1, 2]] and slots_of(np.eye(3)) == [[0], [1], [2]]
    assert slots_of(np.ones((1, 4))) == [[0]]


@pytest.fixture(scope="module")
def sparse_directions():
    """Sparse directions of linear slots of 2, 4 and 6: five of the rows of a slot of six stand still."""
    rng, sizes, rows = np.random.default_rng(0), (2, 4, 6), 20
    spread = np.zeros((12, 50))
    for k, (first, size) in enumerate(zip((0, 2, 6), sizes, strict=True)):
        mixing = rng.normal(size=(rows, size))
        for i in range(size):
            still = mixing[rng.choice(rows, size - 1, replace=False)]
            along = mixing @ np.linalg.svd(still)[2][-1] if size > 1 else mixing[:, 0]
            spread[first + i, 15 * k : 15 * k + rows] = along**2 / along.var()
    return spread


def test_slots_of_unequal_size_are_told_by_their_rows_in_any_basis_of_each(sparse_directions):
    assert joined_slots(sparse_directions) == [[0, 1], [2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]


@pytest.mark.parametrize("seed", range(5))
def test_slots_of_known_sizes_are_found_in_any_order(sparse_directions, seed):
    order, generator = np.random.default_rng(seed).permutation(12), torch.Generator().manual_seed(seed)
    found = sized_slots(sparse_directions[order], [6, 2, 4], generator)
    assert [sorted(order[group].tolist()) for group in found] == [[*range(6, 12)], [0, 1], [*range(2, 6)]]
    assert sized_slots(sparse_directions, [12], generator) == [[*range(12)]]
