"""The sparsest slots of Jacobians are the true ones."""

import numpy as np
import pytest
import torch

from unmix.solvers.slots._graph import slots_of
from unmix.solvers.slots._search import influences, sparsest_slots


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
