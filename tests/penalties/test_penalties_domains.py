import pytest
import torch

from unmix.nn import gated_mlp, jacobian
from unmix.penalties import domain_code, edge_count, mask_sparsity, perturbation_sparsity


@pytest.fixture
def weights():
    return torch.tensor([[2.0, 0.0, 1.0], [0.0, -3.0, 1.0]])


def test_the_sparse_term_of_a_linear_generator_is_its_mean_absolute_weight(weights):
    generator = torch.Generator().manual_seed(0)
    found = perturbation_sparsity(lambda z: z @ weights.T, torch.zeros(20_000, 3), generator=generator)
    assert found.item() == pytest.approx(weights.abs().mean().item(), rel=0.02)


@pytest.mark.parametrize("step", [0.01, 0.1, 1.0])
def test_the_sparse_term_does_not_depend_on_the_step_where_nothing_bends(weights, step):
    only = torch.tensor([False, True, False])
    found = perturbation_sparsity(lambda z: z @ weights.T, torch.randn(8, 3), step=step, active=only)
    assert found.item() == pytest.approx(1.5, rel=1e-4)


def test_the_sparse_term_sees_the_perturbed_code():
    """The released code decodes one code twice, which would give zero here."""
    z = torch.zeros(50, 2)
    assert perturbation_sparsity(lambda z: 5 * z, z).item() == pytest.approx(2.5, rel=1e-4)
    inactive = torch.tensor([False, True])
    assert perturbation_sparsity(lambda z: z[:, :1], z, active=inactive).item() == 0


def test_the_sparse_term_takes_images_and_asks_for_something_to_move(weights):
    images = perturbation_sparsity(lambda z: z[:, :, None, None].expand(-1, 3, 4, 4), torch.zeros(6, 3))
    assert images.item() == pytest.approx(1 / 3, rel=1e-4)
    with pytest.raises(ValueError, match="`active` must hold"):
        perturbation_sparsity(lambda z: z, torch.zeros(2, 3), active=torch.zeros(3, dtype=torch.bool))
    with pytest.raises(ValueError, match="`step` must be"):
        perturbation_sparsity(lambda z: z, torch.zeros(2, 3), step=0.0)


def test_a_masked_code_changes_only_where_the_mask_is_open():
    noise = torch.randn(100, 5, generator=torch.Generator().manual_seed(0))
    importance = torch.tensor([1.0, 0.09, 0.0])
    first, second = (domain_code(noise, lambda e, k=k: k + 0 * e, importance) for k in (0.0, 2.0))
    torch.testing.assert_close(first[:, 3:], second[:, 3:])
    for code in (first, second):
        torch.testing.assert_close(code[:, :3].square().mean(1), torch.ones(100), atol=1e-3, rtol=0)
    ratio = first[:, 1] / first[:, 2]
    torch.testing.assert_close(second[:, 1] / second[:, 2], ratio)  # masked: only scaled
    assert ((second[:, 0] / second[:, 2]) - (first[:, 0] / first[:, 2])).abs().min() > 1e-3


def test_a_small_generator_learns_which_coordinate_changes():
    """Two domains that differ by a shift of one output: the mask closes the other coordinates."""
    torch_generator = torch.Generator().manual_seed(0)
    importance, shift = torch.ones(3, requires_grad=True), torch.zeros(3, requires_grad=True)
    optimiser = torch.optim.Adam([importance, shift], lr=0.05)
    for _ in range(150):
        noise = torch.randn(128, 3, generator=torch_generator)
        moved = noise + importance * (importance > 0.1) * shift
        loss = (moved.mean(0) - noise.mean(0) - torch.tensor([2.0, 0.0, 0.0])).square().sum()
        optimiser.zero_grad()
        (loss + 0.1 * mask_sparsity(importance)).backward()
        optimiser.step()
    assert importance[0] > 0.5 and (importance[1:] < 0.35).all()


def test_a_small_generator_of_images_finds_the_sparse_directions():
    """Three objects on twelve pixels: their covariance leaves rotations free, the sparse term does not."""
    objects = torch.zeros(12, 3)
    for k in range(3):
        objects[4 * k : 4 * k + 4, k] = torch.tensor([1.0, -1.0, 0.8, 1.2])

    def trained(weight):
        draw = torch.Generator().manual_seed(0)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(3)
            layers = (torch.nn.Linear(3, 12, bias=False), torch.nn.Unflatten(1, (1, 3, 4)))
            generator = torch.nn.Sequential(*layers)
        optimiser = torch.optim.Adam(generator.parameters(), lr=0.03)
        for _ in range(300):
            z = torch.randn(64, 3, generator=draw)
            second = generator[0].weight @ generator[0].weight.T  # E[x x^T] of what it generates
            loss = (second - objects @ objects.T).square().sum()
            optimiser.zero_grad()
            (loss + weight * perturbation_sparsity(generator, z, generator=draw)).backward()
            optimiser.step()
        return generator[0].weight.detach()

    def leak(weights):
        power = weights.square().unflatten(0, (3, 4)).sum(1)
        return (1 - power.amax(0) / power.sum(0)).max().item()

    assert leak(trained(5.0)) < 0.02 and leak(trained(0.0)) > 0.1


def test_a_closed_gate_is_an_exact_zero_and_is_not_counted():
    decoder = gated_mlp(2, 3)
    with torch.no_grad():
        decoder.outwards.normal_()
        before = edge_count(decoder).item()
        decoder.openness[1, 0] = -6.0
    J = jacobian(decoder, torch.randn(10, 2))
    assert (J[:, 1, 0] == 0).all() and (J[:, 1, 1] != 0).all()
    assert decoder.gates[1, 0] == 0 and edge_count(decoder).item() == pytest.approx(before - 1, abs=0.05)
    with pytest.raises(TypeError, match="gated_mlp"):
        edge_count(torch.nn.Linear(2, 2))
