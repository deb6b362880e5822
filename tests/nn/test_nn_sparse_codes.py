"""Sparse codes: the same numbers and gradients by active entries as by dense tensors, and by definition."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from unmix.nn import (
    Active,
    Feedforward,
    batch_top_filled,
    batch_top_index,
    feature_jacobian,
    jump,
    jump_count,
    picked,
    top_filled,
    top_index,
    unit_rows,
)


def layer(seed=0, n=7, m=9, d=4):
    g = torch.Generator().manual_seed(seed)
    x, w, b = (torch.randn(*shape, generator=g, dtype=torch.float64) for shape in ((n, d), (m, d), (m,)))
    return x.requires_grad_(), w.requires_grad_(), b.requires_grad_()


@given(seed=st.integers(0, 1000), k=st.integers(1, 9))
def test_top_entries_are_those_of_sorting(seed, k):
    x, w, b = layer(seed)
    a = (x @ w.T + b).detach()
    feature, starts = top_index(a, k)
    assert starts.tolist() == list(range(0, 7 * k, k))
    for row in range(7):
        expected = a[row].argsort(descending=True)[:k].sort().values
        assert torch.equal(feature[row * k : (row + 1) * k].sort().values, expected)
    flat, begins = batch_top_index(a, k)
    mask = torch.zeros_like(a, dtype=torch.bool)
    ends = [*begins.tolist()[1:], len(flat)]
    for row, (start, stop) in enumerate(zip(begins.tolist(), ends, strict=True)):
        mask[row, flat[start:stop]] = True
    assert mask.sum() == 7 * k
    assert a[mask].min() > (a[~mask].max() if k < 9 else -torch.inf)


@pytest.mark.parametrize("find, fill", [(top_index, top_filled), (batch_top_index, batch_top_filled)])
def test_active_entries_give_the_numbers_and_gradients_of_dense_codes(find, fill):
    gradients, values = [], []
    for sparse in (True, False):
        x, w, b = layer()
        dictionary = layer(1)[1].detach().requires_grad_()
        a = x @ w.T + b
        if sparse:
            chosen = find(a.detach(), 3)
            codes = Active(chosen[0], picked(x, (w, b), a.detach(), chosen).relu(), chosen[1])
        else:
            codes = fill(a, 3)
        made = codes.added(dictionary[:5]) + 2 * codes.added(dictionary[5:], 5)
        made.square().sum().backward()
        values.append(made.detach())
        gradients.append([x.grad, w.grad, b.grad, dictionary.grad])
        assert codes.fired(9).sum() == (codes.values > 0).sum()
    torch.testing.assert_close(values[0], values[1])
    torch.testing.assert_close(gradients[0], gradients[1])


def test_unit_rows_move_along_the_sphere_only():
    w = F.normalize(torch.randn(5, 3, dtype=torch.float64), dim=1).requires_grad_()
    target = torch.randn(5, 3, dtype=torch.float64)
    (unit_rows(w) - target).square().sum().backward()
    torch.testing.assert_close((w.grad * w).sum(1), torch.zeros(5, dtype=torch.float64))
    by_length = w.detach().clone().requires_grad_()
    (F.normalize(by_length, dim=1) - target).square().sum().backward()
    torch.testing.assert_close(w.grad, by_length.grad)


def test_the_gradient_of_a_threshold_is_a_kernel_estimate():
    """On many samples the pseudo-derivative is the derivative of the expectation (Eqs. 11 and 12)."""
    a = torch.rand(400_000, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    t = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
    jump_count(a, t, 0.1).mean().backward()
    assert t.grad.item() == pytest.approx(-1.0, abs=0.02)  # d/dt P(a > t) of the uniform law
    t.grad = None
    jump(a, t, 0.1).mean().backward()
    assert t.grad.item() == pytest.approx(-0.5, abs=0.02)  # d/dt E[a 1(a > t)] = -t
    assert torch.equal(jump(a, t, 0.1), a * (a > 0.5))


@pytest.mark.parametrize("activation", ["relu", "gelu", "gelu_tanh", "silu", "identity"])
@pytest.mark.parametrize("gated", [False, True], ids=["plain", "gated"])
@pytest.mark.parametrize("k", [2, 6], ids=["few", "many"])
def test_the_closed_form_of_the_feature_jacobian_is_that_of_autograd(activation, gated, k):
    g = torch.Generator().manual_seed(0)
    d, hidden, out, m, n = 4, 7, 5, 8, 3

    def drawn(*shape):
        return torch.randn(*shape, generator=g, dtype=torch.float64)

    block = Feedforward(
        drawn(hidden, d),
        drawn(out, hidden),
        w_gate=drawn(hidden, d) if gated else None,
        b_in=None if gated else drawn(hidden),
        b_out=drawn(out),
        activation=activation,
    ).double()
    encoder, decoder, x = drawn(m, out), drawn(m, d), drawn(n, d)
    active = [torch.stack([torch.randperm(m, generator=g)[:k] for _ in range(n)]) for _ in range(2)]
    found = feature_jacobian(encoder, block, decoder, x, tuple(active))
    for row in range(n):

        def codes(z, row=row):  # move the active input features about x, and read the active output features
            moved = x[row] + z @ decoder[active[1][row]]
            return encoder[active[0][row]] @ block(moved[None])[0]

        torch.testing.assert_close(
            found[row], torch.autograd.functional.jacobian(codes, torch.zeros(k, dtype=torch.float64))
        )


def test_a_block_that_does_not_fit_together_is_refused():
    with pytest.raises(ValueError, match=r"`w_out` must have shape \(2, 3\)"):
        Feedforward(torch.zeros(3, 2), torch.zeros(2, 4))
    with pytest.raises(ValueError, match="`activation` must be one of"):
        Feedforward(torch.zeros(3, 2), torch.zeros(2, 3), activation="swash")
    with pytest.raises(ValueError, match="`module` must be the block of a Llama"):
        Feedforward.of(torch.nn.Sequential(torch.nn.Linear(2, 2)), "relu")
