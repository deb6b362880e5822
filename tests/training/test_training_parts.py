import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from unmix.training import Average
from unmix.training._adam import Adam
from unmix.training._parts import Named, RandomState


@pytest.mark.parametrize("options", [{}, {"weight_decay": 0.1}, {"betas": (0.5, 0.9)}, {"maximize": True}])
def test_adam_equals_torch_to_the_bit(options):
    generator = torch.Generator().manual_seed(0)
    ours = {name: torch.randn(shape, generator=generator) for name, shape in {"a": (3, 2), "b": (4,)}.items()}
    theirs = {name: tensor.clone() for name, tensor in ours.items()}
    adam = Adam(ours, lr=0.1, **options)
    oracle = torch.optim.AdamW(theirs.values(), lr=0.1, fused=True, **{"weight_decay": 0.0} | options)
    for step in range(5):
        adam.set_rate(1 / (step + 1))
        oracle.param_groups[0]["lr"] = 0.1 * (1 / (step + 1))
        for name in ours:
            ours[name].grad = torch.randn(ours[name].shape, generator=generator)
            theirs[name].grad = ours[name].grad.clone()
        adam.step()
        oracle.step()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_adam_leaves_tensors_without_gradient_alone():
    tensors = {"a": torch.ones(2), "b": torch.ones(2)}
    adam = Adam(tensors, lr=0.1)
    adam.step()
    tensors["a"].grad = torch.ones(2)
    adam.step()
    assert tensors["a"].tolist() == pytest.approx([0.9, 0.9])
    assert tensors["b"].tolist() == [1.0, 1.0]


@given(st.floats(0.05, 0.99), st.lists(st.floats(-3, 3, width=32), min_size=1, max_size=20))
def test_average_equals_the_weighted_mean_of_the_visited(decay, visited):
    tensor = torch.tensor([100.0], dtype=torch.float64, requires_grad=True)  # the start must not matter
    average = Average(decay)
    average.start(Named({"w": tensor}))
    for value in visited:
        tensor.data.fill_(value)
        average.prepare()
        average.update()
    weights = [decay ** (len(visited) - 1 - s) for s in range(len(visited))]
    oracle = sum(w * v for w, v in zip(weights, visited, strict=True)) / sum(weights)
    average.apply()
    assert tensor.item() == pytest.approx(oracle, abs=1e-6)


def test_named_splits_trained_from_carried():
    module = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    named = Named(module)
    assert set(named.trained) == {"0.weight", "0.bias", "1.weight", "1.bias"}
    assert set(named.all) - set(named.trained) == {"1.running_mean", "1.running_var", "1.num_batches_tracked"}


def test_named_finds_what_is_not_finite():
    w = torch.ones(3, requires_grad=True)
    assert Named({"w": w}).not_finite() is None
    with torch.no_grad():
        w[1] = float("inf")
    assert Named({"w": w}).not_finite() == ("w", float("inf"))


def test_random_state_restores_every_generator():
    own = torch.Generator().manual_seed(4)
    with torch.random.fork_rng():
        random = RandomState([own], torch.device("cpu"))
        state = random.state_dict()
        first = torch.rand(2), torch.rand(2, generator=own)
        random.load_state_dict(state)
        again = torch.rand(2), torch.rand(2, generator=own)
    assert torch.equal(first[0], again[0]) and torch.equal(first[1], again[1])


def test_bad_parameters_say_what_to_do():
    w = torch.ones(2, requires_grad=True)
    with pytest.raises(ValueError, match="must hold a tensor that requires a gradient"):
        Named({"w": torch.ones(2)})
    with pytest.raises(ValueError, match=r"must be leaf tensors, got computed ones: \['v'\]"):
        Named({"v": 2 * w})
    with pytest.raises(ValueError, match=r"`ema` must be strictly between 0 and 1, got 1\.0"):
        Average(1.0)
