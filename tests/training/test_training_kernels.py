import pytest
import torch

from unmix.training import _kernels
from unmix.training._adam import Adam


def _tensors(*shapes, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator) for shape in shapes]


def _trained(static=False, **options):
    tensors = dict(zip("abc", _tensors((3, 2), (17,), (40, 30)), strict=True))
    adam = Adam(tensors, lr=0.1, static=static, **options)
    for step in range(6):
        adam.set_rate(1 / (step + 1))
        for tensor, gradient in zip(
            tensors.values(), _tensors((3, 2), (17,), (40, 30), seed=step), strict=True
        ):
            tensor.grad = gradient
        tensors["b"].grad = None if step % 2 else tensors["b"].grad
        adam.step()
    return [*tensors.values(), *(t for state in adam.state_dict().values() for t in state.values())]


@pytest.mark.parametrize("options", [{}, {"weight_decay": 0.1}, {"betas": (0.5, 0.9), "maximize": True}])
@pytest.mark.parametrize("static", [False, True])
def test_adam_without_private_calls_gives_the_same_bits(monkeypatch, options, static):
    ours = _trained(**options)
    monkeypatch.setattr(_kernels, "PRIVATE", False)
    assert all(map(torch.equal, ours, _trained(static, **options)))


def test_a_rate_in_a_tensor_gives_the_same_bits():
    assert all(map(torch.equal, _trained(), _trained(static=True)))


@pytest.mark.parametrize("weight", [0.001, 0.3, 0.7, 1.0])
def test_averages_without_private_calls_give_the_same_bits(monkeypatch, weight):
    def moved(weight):
        tensors, ends = _tensors((5, 3), (1000,)), _tensors((5, 3), (1000,), seed=1)
        _kernels.lerp_(tensors, ends, weight)
        _kernels.copy_(ends, tensors)
        return tensors + ends

    ours = moved(weight)
    assert all(map(torch.equal, ours, moved(torch.tensor(weight, dtype=torch.float64))))
    monkeypatch.setattr(_kernels, "PRIVATE", False)
    assert all(map(torch.equal, ours, moved(weight)))
