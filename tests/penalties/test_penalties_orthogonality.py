from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.func import hessian, jacrev, vmap

from tensors import points, seeded
from unmix.nn import first_directional, mlp, second_directional
from unmix.penalties import compositional_contrast, hessian_penalty, ima_contrast, orojar


def linear(weight):
    return lambda z: z @ weight.T


def signs(d):
    return torch.tensor(list(product((-1.0, 1.0), repeat=d)), dtype=torch.float64)


def test_hessian_penalty_on_the_published_test_vector():
    z = points(7, 2)
    first = hessian_penalty(lambda z: z[:, :1] * z[:, 1:], z)
    second = hessian_penalty(lambda z: z[:, :1] ** 2 * z[:, 1:], z)
    both = hessian_penalty(lambda z: torch.stack([z[:, 0] * z[:, 1], z[:, 0] ** 2 * z[:, 1]], 1), z)
    torch.testing.assert_close(first, torch.tensor(4.0, dtype=z.dtype))
    torch.testing.assert_close(second, (16 * z[:, 0] ** 2).mean())
    torch.testing.assert_close(both, first + second)


def test_hessian_penalty_is_the_variance_over_all_signs():
    f, z = seeded(mlp, 3, 4, activation="tanh"), points(5, 3)
    H = vmap(hessian(lambda a: f(a[None])[0]))(z)
    forms = torch.einsum("vj,nxjk,vk->vnx", signs(3), H, signs(3))
    torch.testing.assert_close(hessian_penalty(f, z), forms.var(0, correction=0).sum(1).mean())


def test_orojar_is_the_variance_over_all_signs_and_the_off_diagonal_sum():
    f, z = seeded(mlp, 3, 4), points(5, 3)
    J = vmap(jacrev(lambda a: f(a[None])[0]))(z)
    norms = torch.einsum("nxj,vj->vnx", J, signs(3)).square().sum(2)
    torch.testing.assert_close(orojar(f, z), norms.var(0, correction=0).mean())
    G = J.mT @ J
    pairs = sum(G[:, i, j] ** 2 for i in range(3) for j in range(3) if i != j)
    torch.testing.assert_close(orojar(f, z), 2 * pairs.mean())


@pytest.mark.parametrize("penalty", [orojar, hessian_penalty])
@pytest.mark.parametrize("step", [None, 1e-4])
def test_sampled_variance_is_unbiased(penalty, step):
    f, z = seeded(mlp, 3, 4, hidden=(6,), activation="tanh"), points(4, 3).repeat(5000, 1)
    g = torch.Generator().manual_seed(0)
    sampled = penalty(f, z, exact=False, generator=g, step=step)
    torch.testing.assert_close(sampled, penalty(f, z[:4]), rtol=0.05, atol=0)


@pytest.mark.parametrize("penalty", [orojar, hessian_penalty])
def test_differences_agree_with_derivatives(penalty):
    f, z = seeded(mlp, 3, 4, activation="tanh"), points(4, 3)
    torch.testing.assert_close(penalty(f, z, step=1e-4), penalty(f, z), rtol=1e-2, atol=0)


def test_piecewise_linear_decoders_need_a_step_for_the_hessian_penalty():
    f, z = seeded(mlp, 3, 4), points(50, 3)
    assert hessian_penalty(f, z) == 0
    assert hessian_penalty(f, z, step=0.1) > 1e-4
    assert hessian_penalty(f, z, exact=False, step=0.1) > 1e-4


@given(st.integers(0, 99), st.lists(st.floats(0.2, 5), min_size=3, max_size=3))
def test_orthogonal_columns_cost_nothing(seed, scales):
    Q = torch.linalg.qr(points(5, 3, seed)).Q * torch.tensor(scales, dtype=torch.float64)
    zero = torch.zeros((), dtype=torch.float64)
    torch.testing.assert_close(orojar(linear(Q), points(2, 3)), zero)
    torch.testing.assert_close(ima_contrast(linear(Q), points(2, 3)), zero)


def test_additive_decoders_have_no_interaction():
    z = points(6, 3)
    assert hessian_penalty(lambda z: z.sin().sum(1, keepdim=True), z) < 1e-20
    assert orojar(lambda z: z.sin().sum(1, keepdim=True), z) > 0.1


@given(st.integers(0, 99), st.lists(st.floats(0.2, 5), min_size=3, max_size=3))
def test_ima_contrast_by_its_definition_nonnegative_and_scale_free(seed, scales):
    W, z = points(5, 3, seed), points(2, 3)
    contrast = ima_contrast(linear(W), z)
    expected = W.norm(dim=0).log().sum() - torch.logdet(W.T @ W) / 2
    torch.testing.assert_close(contrast, expected)
    assert contrast >= 0
    torch.testing.assert_close(ima_contrast(linear(W * torch.tensor(scales, dtype=W.dtype)), z), contrast)


def test_ima_contrast_is_infinite_without_full_rank_and_refuses_wide_maps():
    assert ima_contrast(linear(torch.ones(3, 2)), torch.zeros(2, 2)) == torch.inf
    with pytest.raises(ValueError, match="at least as many outputs as latents, got 2 outputs for 3 latents"):
        ima_contrast(nn.Linear(3, 2), torch.zeros(2, 3))


@pytest.mark.parametrize("slots", [2, [[0, 3], [1, 2]], [[0], [1], [2], [3]]])
def test_compositional_contrast_by_its_definition(slots):
    f, z = seeded(mlp, 4, 5), points(3, 4)
    J = vmap(jacrev(lambda a: f(a[None])[0]))(z)
    groups = [[0, 1], [2, 3]] if slots == 2 else slots
    expected = sum(
        J[n, i, a].norm() * J[n, i, b].norm()
        for n in range(3)
        for i in range(5)
        for k, a in enumerate(groups)
        for b in groups[:k]
    )
    torch.testing.assert_close(compositional_contrast(f, z, slots=slots), expected / 3)


def test_compositional_contrast_is_zero_for_disjoint_slots_only():
    W = torch.tensor([[1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 3.0, 1.0]], dtype=torch.float64)
    z = points(3, 4)
    assert compositional_contrast(linear(W), z, slots=2) < 1e-4
    assert compositional_contrast(linear(W), z, slots=[[0, 2], [1, 3]]) > 1
    assert compositional_contrast(linear(W), z, slots=1) == 0


def test_compositional_contrast_has_a_finite_gradient_at_exact_zeros():
    W = torch.tensor([[1.0, 0.0], [0.0, 1.0]], requires_grad=True)
    compositional_contrast(linear(W), torch.zeros(2, 2), slots=2).backward()
    assert W.grad.isfinite().all()


@pytest.mark.parametrize("slots", [3, 0, [[0, 1], [1, 2, 3]], [[0, 1], [2]], [[0, 1], [2, 4]]])
def test_slots_must_partition_the_latents(slots):
    with pytest.raises(ValueError, match="`slots` must"):
        compositional_contrast(nn.Linear(4, 2), torch.zeros(2, 4), slots=slots)


@pytest.mark.parametrize("penalty", [orojar, hessian_penalty])
def test_a_variance_needs_two_draws(penalty):
    with pytest.raises(ValueError, match="`n_vectors` must be at least 2, got 1"):
        penalty(nn.Linear(2, 2), torch.zeros(3, 2), exact=False, n_vectors=1)


@pytest.mark.parametrize("step", [None, 0.1])
def test_second_derivatives_that_no_memory_holds_are_refused_before_they_are_taken(step):
    rows = []

    def decoder(z):
        rows.append(len(z))
        return z.sum(1, keepdim=True).expand(-1, 64 * 64 * 3).unflatten(1, (64, 64, 3))

    words = r"\(8, 12288, 192, 192\) .* take 14 GiB. Use exact=False, step=0.1."
    with pytest.raises(ValueError, match=words):
        hessian_penalty(decoder, torch.zeros(8, 192), step=step)
    assert rows == [8]
    assert hessian_penalty(decoder, torch.zeros(8, 192), exact=False, step=0.1).isfinite()
    assert hessian_penalty(torch.sin, points(2, 40), step=step).isfinite(), "wide, and small enough"


@pytest.mark.parametrize(("penalty", "decoded"), [(orojar, 3 + 1), (hessian_penalty, 2 * 3 + 1)])
def test_the_base_is_decoded_once_for_all_draws(penalty, decoded):
    rows = []

    def decoder(z):
        rows.append(len(z))
        return z.sin()

    penalty(decoder, points(5, 2), exact=False, n_vectors=3, step=0.1)
    assert sum(rows) == 5 * decoded


@given(st.integers(1, 4))
def test_directions_stacked_along_the_batch_are_taken_one_by_one(times):
    z, v = points(6, 3), points(6 * times, 3)
    for along in (first_directional, second_directional):
        for step in (None, 0.1):
            stacked = along(torch.sin, z, v, step=step)
            alone = [along(torch.sin, z, part, step=step) for part in v.split(6)]
            torch.testing.assert_close(stacked, torch.cat(alone))
