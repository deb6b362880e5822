"""Orthogonal steps: the laws of the factor, and runs that take them."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from unmix.training import Ensemble, Minibatches, Pace, minimise
from unmix.training._muon import Muon, orthogonal

PACE = Pace(1, 16, 0.01, 0, matrix_lr=0.05)
shapes = st.tuples(st.integers(1, 9), st.integers(1, 9))
seeds = st.integers(0, 2**31)


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def turn(n, seed):
    return torch.linalg.qr(normal(n, n, seed=seed))[0]


@given(shapes, seeds)
def test_steps_have_the_singular_vectors_of_the_gradient_and_no_large_or_small_values(shape, seed):
    left, values, right = torch.linalg.svd(normal(*shape, seed=seed), full_matrices=False)
    values = values.clamp_min(0.1 * values[0])
    turned = left.mT @ orthogonal(left * values @ right) @ right.mT
    sizes = turned.diagonal()
    torch.testing.assert_close(turned, sizes.diag(), atol=1e-9, rtol=0)
    assert sizes.min() > 0.6 and sizes.max() < 1.3


@given(shapes, seeds, st.floats(1e-3, 1e3))
def test_steps_turn_with_the_gradient_and_ignore_its_size(shape, seed, size):
    G, Q, R = normal(*shape, seed=seed), turn(shape[0], seed + 1), turn(shape[1], seed + 2)
    torch.testing.assert_close(orthogonal(size * Q @ G @ R), Q @ orthogonal(G) @ R, atol=1e-3, rtol=0)
    torch.testing.assert_close(orthogonal(G.mT), orthogonal(G).mT)


def test_nothing_moves_without_a_gradient():
    assert not orthogonal(torch.zeros(3, 4)).any()


@pytest.mark.parametrize("static", [False, True])
def test_stacked_matrices_move_as_each_alone_and_rates_in_tensors_give_the_same_bits(static):
    stacked = {"a": normal(3, 5, 4)}
    alone = [{"a": matrix.clone()} for matrix in stacked["a"]]
    own = Muon(stacked, rates={"a": 0.1}, static=static)
    others = [Muon(tensors, rates={"a": 0.1}) for tensors in alone]
    for step in range(4):
        stacked["a"].grad = normal(3, 5, 4, seed=step)
        own.set_rate(1 / (1 + step))
        own.step()
        for tensors, other, gradient in zip(alone, others, stacked["a"].grad, strict=True):
            tensors["a"].grad = gradient
            other.set_rate(1 / (1 + step))
            other.step()
    torch.testing.assert_close(stacked["a"], torch.stack([tensors["a"] for tensors in alone]))


@pytest.mark.parametrize("stack", [(), (2,)])
def test_kernels_move_as_matrices_from_all_that_an_output_sees(stack):
    kernels, gradient = normal(*stack, 6, 4, 3, 3), normal(*stack, 6, 4, 3, 3, seed=1)
    moved = [{"a": kernels.clone()}, {"a": kernels.flatten(-3).clone()}]
    moved[0]["a"].grad, moved[1]["a"].grad = gradient, gradient.flatten(-3)
    for tensors in moved:
        Muon(tensors, rates={"a": 0.1}).step()
    assert not torch.equal(moved[0]["a"], kernels)
    torch.testing.assert_close(moved[0]["a"].flatten(-3), moved[1]["a"])


@pytest.mark.parametrize("static", [False, True])
def test_weights_decay_by_their_own_rate_and_schedule(static):
    tensors = {name: torch.ones(2, 2) for name in "ab"}
    own = Muon(tensors, rates={"a": 0.5, "b": 0.5}, weight_decay={"a": 0.2}, static=static)
    for tensor in tensors.values():
        tensor.grad = torch.zeros(2, 2)
    own.set_rate(0.5)
    own.step()
    torch.testing.assert_close(tensors["a"], torch.full((2, 2), 0.95))
    assert torch.equal(tensors["b"], torch.ones(2, 2))


def test_steps_in_half_precision_point_the_same_way():
    whole, half = ({"a": torch.zeros(12, 20)} for _ in range(2))
    for tensors, precision in ((whole, None), (half, "bf16")):
        tensors["a"].grad = normal(12, 20).float()
        Muon(tensors, rates={"a": 1.0}, precision=precision).step()
    cosine = torch.nn.functional.cosine_similarity(whole["a"].flatten(), half["a"].flatten(), dim=0)
    assert 0.99 < cosine < 1.01 and not torch.equal(whole["a"], half["a"])


def test_what_is_raised_moves_the_other_way():
    moved = [{"a": torch.zeros(3, 3)} for _ in range(2)]
    for tensors, maximize in zip(moved, (False, True), strict=True):
        tensors["a"].grad = normal(3, 3).float()
        Muon(tensors, rates={"a": 0.1}, maximize=maximize).step()
    assert torch.equal(moved[0]["a"], -moved[1]["a"]) and moved[0]["a"].any()


def fitted(n_steps=150, checkpoint=None, *, rate=None, **settings):
    """Fit a perceptron to waves; `rate` is that of its matrices where these have one of their own."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.Linear(4, 64), torch.nn.SiLU(), torch.nn.Linear(64, 64))
        net = net.extend([torch.nn.SiLU(), torch.nn.Linear(64, 8)])
    x = normal(1000, 4).float()
    y = (2 * x @ normal(4, 8, seed=1).float()).sin()
    if rate is not None:
        settings["matrix_lr"] = {f"{layer}.weight": rate for layer in (0, 2, 4)}
    minimise(
        lambda batch: {"error": (net(batch[0]) - batch[1]).square().sum(1).mean()},
        net,
        Minibatches(x, y, batch_size=100, generator=torch.Generator().manual_seed(0)),
        n_steps=n_steps,
        schedule="cosine",
        checkpoint=checkpoint,
        **settings,
    )
    return net, (net(x) - y).square().sum(1).mean().item()


def test_waves_are_learnt_sooner_than_by_adam_at_any_rate():
    adam = min(fitted(lr=rate)[1] for rate in (0.003, 0.01, 0.03))
    muon = fitted(lr=0.01, rate=0.06)[1]
    assert muon < 0.8 * adam


def test_a_run_that_was_stopped_goes_on_with_the_same_bits(tmp_path):
    settings = {"lr": 0.01, "rate": 0.05}
    whole, _ = fitted(60, **settings)

    def stop(step, terms):
        if step == 30:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fitted(60, tmp_path / "run", checkpoint_every=20, on_step=stop, **settings)
    again, _ = fitted(60, tmp_path / "run", checkpoint_every=20, **settings)
    assert all(map(torch.equal, whole.parameters(), again.parameters()))


def test_a_checkpoint_of_other_steps_is_refused(tmp_path):
    fitted(20, tmp_path / "run", lr=0.01)
    with pytest.raises(ValueError, match="matrix_lr"):
        fitted(20, tmp_path / "run", lr=0.01, rate=0.05)


def test_all_tensors_may_be_matrices():
    w = torch.zeros(2, 2, requires_grad=True)
    minimise(
        lambda batch: {"w": (w - torch.eye(2)).square().sum()},
        {"w": w},
        [None],
        n_steps=200,
        schedule="cosine",
        matrix_lr={"w": 0.1},
    )
    assert (w - torch.eye(2)).abs().max() < 0.05


class Member(torch.nn.Module):
    """A perceptron with one output, whose last weight is no matrix of two sides."""

    def __init__(self, seed):
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))

    def forward(self, x):
        return {"error": (self.net(x)[:, 0] - x.square().sum(1)).square().mean()}


def test_members_that_are_trained_together_move_as_alone():
    x = normal(64, 3).float()

    def batches():
        return Minibatches(x, batch_size=16, generator=torch.Generator().manual_seed(0))

    def trained(members):
        ensemble = Ensemble(members, {})
        ensemble.train(batches, 0, 20, 20, PACE, "round")
        return ensemble.parameters

    both, first = trained([Member(0), Member(1)]), trained([Member(0)])
    for name, stacked in both.items():
        torch.testing.assert_close(stacked[:1], first[name])
