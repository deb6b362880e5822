import math

import pytest
import torch

from unmix.nn import jacobian, mlp
from unmix.penalties import compositional_contrast, slot_sparsity

SLOTS = [[0, 3], [1], [2, 4]]


@pytest.fixture
def pair():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return mlp(5, 7, hidden=(8,), activation="tanh").double(), torch.randn(20, 5).double()


def norms(decoder, z):
    J = jacobian(decoder, z).detach() * z.std(0, correction=0)
    return [[[J[n, x, s].norm() for s in SLOTS] for x in range(7)] for n in range(len(z))]


def test_sparsity_is_the_sum_of_its_definition(pair):
    a = norms(*pair)
    expected = sum(0.2 * math.log1p(v / 0.2) for sample in a for row in sample for v in row) / len(a)
    assert slot_sparsity(*pair, slots=SLOTS, knee=0.2, eps=0.0).item() == pytest.approx(expected, rel=1e-9)
    whole = torch.tensor(a).square().mean(0).sqrt()
    expected = 0.2 * (whole / 0.2).log1p().sum().item()
    found = slot_sparsity(*pair, slots=SLOTS, knee=0.2, eps=0.0, union=True).item()
    assert found == pytest.approx(expected, rel=1e-6)


def test_contrast_is_the_loop_over_pairs_of_slots(pair):
    decoder, z = pair
    J = jacobian(decoder, z)
    expected = sum(
        (J[:, :, SLOTS[k]].norm(dim=2) * J[:, :, SLOTS[m]].norm(dim=2)).sum() / len(z)
        for k in range(3)
        for m in range(k)
    )
    assert torch.allclose(compositional_contrast(decoder, z, slots=SLOTS, eps=0.0), expected)


def test_inflating_codes_or_turning_a_slot_changes_nothing(pair):
    decoder, z = pair
    value = slot_sparsity(decoder, z, slots=SLOTS)
    scale = torch.tensor([2.0, 0.1, 5.0, 1.0, 3.0]).double()
    assert torch.allclose(slot_sparsity(lambda w: decoder(w / scale), z * scale, slots=SLOTS), value)
    white = (z - z.mean(0)) @ torch.linalg.inv(torch.linalg.cholesky(torch.cov(z.T, correction=0))).T
    turn = torch.eye(5).double()
    turn[[0, 0, 3, 3], [0, 3, 0, 3]] = torch.tensor([0.6, 0.8, -0.8, 0.6]).double()
    turned = slot_sparsity(lambda w: decoder(w @ turn), white @ turn.T, slots=SLOTS)
    assert torch.allclose(turned, slot_sparsity(decoder, white, slots=SLOTS))


def test_necessary_overlap_costs_little_where_products_pay_in_full():
    z = torch.tensor([[1.0, 1.0], [-1.0, -1.0]])

    def price(penalty, size):
        decoder = torch.nn.Linear(2, 1)
        decoder.weight = torch.nn.Parameter(torch.tensor([[size, size]]))
        return penalty(decoder, z, slots=2).item()

    assert price(compositional_contrast, 2.0) > 3.9 * price(compositional_contrast, 1.0)
    assert price(slot_sparsity, 2.0) < 1.3 * price(slot_sparsity, 1.0)


def test_bad_arguments_are_named(pair):
    with pytest.raises(ValueError, match="`knee` must be above 0"):
        slot_sparsity(*pair, slots=SLOTS, knee=0.0)
    with pytest.raises(ValueError, match="`slots` must divide n_latents=5"):
        slot_sparsity(*pair, slots=2)
