from functools import partial
from itertools import combinations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.func import functional_call, jacrev, stack_module_state, vmap

from tensors import points, seeded
from unmix.nn import mlp, residual_mlp
from unmix.penalties import (
    compositional_contrast,
    dependency_sparsity,
    hessian_penalty,
    ima_contrast,
    jacobian_sparsity,
    latent_sparsity,
    orojar,
)

FORMS = ["l1", "group", "log", "group_log"]


def reference(f, z):
    return vmap(jacrev(lambda a: f(a[None])[0]))(z)


class PickColumns:
    """Stands in for the drawn columns: every subset once."""

    def __init__(self, monkeypatch, subsets):
        self.draws = iter(subsets)
        monkeypatch.setattr(torch, "randperm", lambda n, **_: torch.tensor(next(self.draws)))


def test_exact_penalty_is_the_mean_absolute_jacobian_sum():
    f, z = seeded(mlp, 3, 5), points(8, 3)
    expected = reference(f, z).abs().sum((1, 2)).mean()
    torch.testing.assert_close(dependency_sparsity(f, z), expected)


def test_forms_by_their_definitions():
    f, z = seeded(residual_mlp, 3, 5, zero_init=False), points(8, 3)
    J = reference(f, z)
    rms = (J.square().mean(0) + 1e-8).sqrt()
    expected = {
        "l1": J.abs().sum() / 8,
        "group": rms.sum(),
        "log": 0.1 * torch.log(1 + J.abs() / 0.1).sum() / 8,
        "group_log": 0.1 * torch.log(1 + rms / 0.1).sum(),
    }
    for form in FORMS:
        torch.testing.assert_close(dependency_sparsity(f, z, form=form), expected[form])


@given(st.floats(0.1, 10), st.integers(0, 99))
def test_l1_and_group_scale_with_the_jacobian_and_group_is_never_smaller(c, seed):
    J = points(12, 3, seed).reshape(3, 4, 3)
    for form in ("l1", "group"):
        scaled, plain = (jacobian_sparsity(a, form=form, eps=0.0) for a in (c * J, J))
        torch.testing.assert_close(scaled, c * plain)
    assert jacobian_sparsity(J, form="group", eps=0.0) >= jacobian_sparsity(J)  # Jensen


def test_log_form_approaches_l1_for_a_far_knee_and_flattens_for_a_near_one():
    J = points(4, 6).reshape(4, 3, 2)
    torch.testing.assert_close(
        jacobian_sparsity(J, form="log", knee=1e6), jacobian_sparsity(J), rtol=1e-5, atol=0
    )
    near = [jacobian_sparsity(c * J, form="log", knee=1e-3) for c in (1, 10)]
    assert near[1] < 2 * near[0]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_sampled_columns_average_to_the_exact_penalty(form, k, monkeypatch):
    f, z = seeded(mlp, 4, 5), points(6, 4)
    exact = dependency_sparsity(f, z, form=form, normalize="std")
    subsets = list(combinations(range(4), k))
    PickColumns(monkeypatch, subsets)
    draws = [dependency_sparsity(f, z, form=form, columns=k, normalize="std") for _ in subsets]
    torch.testing.assert_close(torch.stack(draws).mean(), exact)


def test_drawn_columns_come_from_the_generator_and_vary():
    f, z = seeded(mlp, 5, 5), points(6, 5)

    def draw(seed, n=1):
        g = torch.Generator().manual_seed(seed)
        return [dependency_sparsity(f, z, columns=2, generator=g).item() for _ in range(n)]

    assert draw(0) == draw(0)
    assert len(set(draw(0, 20))) > 3
    state = torch.get_rng_state()
    draw(0)
    assert torch.equal(torch.get_rng_state(), state)


def test_forward_differences_approach_the_derivative_and_cross_kinks():
    f, z = seeded(mlp, 3, 5), points(8, 3)
    exact = dependency_sparsity(f, z)
    torch.testing.assert_close(dependency_sparsity(f, z, step=1e-6), exact, rtol=1e-4, atol=0)
    secant = torch.stack([(f(z + 0.5 * e) - f(z)) / 0.5 for e in torch.eye(3, dtype=z.dtype)])
    torch.testing.assert_close(dependency_sparsity(f, z, step=0.5), secant.abs().sum() / 8)
    torch.testing.assert_close(dependency_sparsity(f, z, step=0.5, columns=3), secant.abs().sum() / 8)


def test_normalised_penalty_ignores_the_scale_of_the_codes():
    f, z = seeded(nn.Linear, 3, 4), points(50, 3)
    scale = torch.tensor([0.1, 1.0, 7.0], dtype=z.dtype)
    normalised = partial(dependency_sparsity, normalize="std")
    torch.testing.assert_close(normalised(lambda a: f(a / scale), z * scale), normalised(f, z))
    assert dependency_sparsity(lambda a: f(a / 10), 10 * z) < 0.2 * dependency_sparsity(f, z)  # the escape


def test_normalising_scale_is_held_constant():
    f, z = seeded(nn.Linear, 3, 4), points(5, 3).requires_grad_()
    dependency_sparsity(f, z, normalize="std").backward()
    assert z.grad is None or (z.grad == 0).all()


@pytest.mark.parametrize("options", [{}, {"columns": 2}, {"form": "group"}, {"form": "log"}, {"step": 0.1}])
def test_gradcheck_on_a_two_layer_net(options):
    f, z = seeded(mlp, 3, 4, hidden=(3,), activation="tanh"), points(2, 3).requires_grad_()
    names = [name for name, _ in f.named_parameters()]

    def penalty(z, *values):
        g = torch.Generator().manual_seed(0)
        decoder = partial(functional_call, f, dict(zip(names, values, strict=True)))
        return dependency_sparsity(decoder, z, generator=g, **options)

    torch.autograd.gradcheck(penalty, (z, *f.parameters()))


ENSEMBLE = {
    "l1": dependency_sparsity,
    "group": partial(dependency_sparsity, form="group", normalize="std"),
    "differences": partial(dependency_sparsity, step=0.1),
    "orojar": orojar,
    "hessian": hessian_penalty,
    "compositional": partial(compositional_contrast, slots=3),
    "ima": ima_contrast,
}


@pytest.mark.parametrize("name", ENSEMBLE)
def test_penalties_under_an_ensemble(name):
    class Penalised(nn.Module):
        def __init__(self, f):
            super().__init__()
            self.f = f

        def forward(self, z):
            return ENSEMBLE[name](self.f, z)

    members = [Penalised(seeded(mlp, 3, 5, activation="tanh", seed=i)) for i in range(3)]
    parameters, buffers = stack_module_state(members)
    z = points(21, 3).reshape(3, 7, 3)
    together = vmap(lambda p, b, z: functional_call(members[0], (p, b), (z,)))(parameters, buffers, z)
    torch.testing.assert_close(together, torch.stack([m(a) for m, a in zip(members, z, strict=True)]))


def test_latent_sparsity_is_the_mean_l1_norm_of_the_codes():
    z = points(6, 3)
    torch.testing.assert_close(latent_sparsity(None, z), torch.linalg.vector_norm(z, 1, dim=1).mean())


def test_training_with_the_penalty_finds_the_sparse_rotation():
    # x = R z: among all rotations, those along the axes are sparsest
    angle = torch.tensor(0.7, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.Adam([angle], lr=0.05)
    for _ in range(80):
        c, s = angle.cos(), angle.sin()
        R = torch.stack([torch.stack([c, -s]), torch.stack([s, c])])
        optimiser.zero_grad()
        dependency_sparsity(lambda z, R=R: z @ R.T, torch.zeros(4, 2, dtype=torch.float64)).backward()
        optimiser.step()
    quarter_turns = angle.item() / (torch.pi / 2)
    assert abs(quarter_turns - round(quarter_turns)) < 0.05


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"form": "l0"}, "`form` must be one of"),
        ({"columns": 0}, "`columns` must be between 1 and n_latents=2, got 0"),
        ({"columns": 3}, "`columns` must be between 1 and n_latents=2, got 3"),
        ({"normalize": "max"}, "`normalize` must be None or 'std', got 'max'"),
        ({"step": 0.0}, "`step` must be positive or None, got 0"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        dependency_sparsity(nn.Linear(2, 2), torch.zeros(3, 2), **options)
