import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.func import functional_call, jacrev, stack_module_state, vmap

from unmix.nn import (
    ACTIVATIONS,
    _jacobian,
    jacobian,
    jvp_columns,
    mlp,
    residual_mlp,
    value_and_jacobian,
    value_and_jvp_columns,
)
from unmix.nn._closed import has_closed_form

FACTORIES = {"mlp": mlp, "residual": lambda *a, **k: residual_mlp(*a, zero_init=False, **k)}


def seeded(make, *args, seed=0, **options):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return make(*args, **options).double()


def points(n, d, seed=1):
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def reference(f, z):
    """Per-sample reverse mode: the definition, by another route."""
    return vmap(jacrev(lambda a: f(a[None])[0].flatten()))(z)


class Wave(nn.Module):
    """No closed form: an operation between the samples' own coordinates that we do not know."""

    def forward(self, z):
        return torch.stack([z.sin().prod(1), z.sum(1), z[:, 0]], 1)


class Autoencoder(nn.Module):
    """A wrapping module that needs the decoder's Jacobian inside its own forward pass."""

    def __init__(self, make):
        super().__init__()
        self.encoder, self.decoder = mlp(4, 2, hidden=(8,)), make(2, 4, hidden=(8, 8))

    def forward(self, x):
        value, J = value_and_jacobian(self.decoder, self.encoder(x), mode="closed")
        return (x - value).square().mean() + 0.1 * J.abs().sum((1, 2)).mean()


class Inside(nn.Module):
    """A smooth function of the Jacobian of `f`, as a module whose parameters can be swapped."""

    def __init__(self, f):
        super().__init__()
        self.f = f

    def forward(self, z):
        return jacobian(self.f, z, mode="closed").square().sum()


@pytest.mark.parametrize("factory", FACTORIES)
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("shape", [(3, 5), (5, 3)])
def test_closed_form_agrees_with_jacrev(factory, activation, shape):
    f, z = seeded(FACTORIES[factory], *shape, hidden=(7, 6), activation=activation), points(9, shape[0])
    value, J = value_and_jacobian(f, z, mode="closed")
    torch.testing.assert_close(J, reference(f, z), rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(value, f(z))


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
@pytest.mark.parametrize("f", [Wave(), lambda z: torch.einsum("ni,nj->nij", z, z)], ids=["module", "matrix"])
def test_automatic_modes_agree_with_jacrev(mode, f):
    z = points(6, 4)
    torch.testing.assert_close(jacobian(f, z, mode=mode), reference(f, z))


@given(st.integers(1, 6), st.integers(1, 6), st.lists(st.integers(1, 8), max_size=3), st.integers(0, 99))
def test_any_shape_any_depth_all_modes_agree(n_in, n_out, hidden, seed):
    f, z = seeded(mlp, n_in, n_out, hidden=hidden, seed=seed), points(3, n_in, seed)
    J = jacobian(f, z, mode="closed")
    assert J.shape == (3, n_out, n_in)
    for mode in ("forward", "reverse"):
        torch.testing.assert_close(jacobian(f, z, mode=mode), J)


def test_single_precision_is_within_1e5_of_jacrev():
    f, z = seeded(mlp, 10, 50).float(), points(64, 10).float()
    torch.testing.assert_close(jacobian(f, z), reference(f, z), rtol=0, atol=1e-5)


@pytest.mark.parametrize("mode", ["closed", "forward", "reverse"])
def test_linear_decoder_has_its_weight_as_jacobian(mode):
    f = seeded(nn.Linear, 3, 4)
    assert torch.equal(jacobian(f, points(5, 3), mode=mode), f.weight.expand(5, 4, 3))


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_masked_generator_has_exact_zeros(mode):
    support = torch.tensor([[1, 1, 0], [0, 1, 1], [1, 0, 1], [0, 0, 1]])
    parts = [seeded(mlp, 3, 1, seed=i) for i in range(4)]

    def g(z):
        return torch.cat([f(z * row) for f, row in zip(parts, support, strict=True)], 1)

    J = jacobian(g, points(20, 3), mode=mode)
    assert torch.equal((J != 0).any(0), support.bool())


def test_masked_weights_keep_exact_zeros_in_closed_form():
    f = seeded(mlp, 2, 2, hidden=(4,))
    with torch.no_grad():
        f[0].weight[:2, 1] = f[0].weight[2:, 0] = 0  # hidden units 0, 1 see z_0; units 2, 3 see z_1
        f[2].weight[0, 2:] = 0  # x_0 sees the first two units only
    J = jacobian(f, points(20, 2), mode="closed")
    assert (J[:, 0, 1] == 0).all() and (J[:, 1] != 0).all()


@pytest.mark.parametrize("shape", [(3, 4), (4, 3)])
@pytest.mark.parametrize("activation", ["leaky_relu", "elu", "silu", "gelu", "tanh", "softplus"])
def test_penalty_gradients_pass_gradcheck(activation, shape):
    f, z = seeded(mlp, *shape, hidden=(5,), activation=activation), points(3, shape[0]).requires_grad_()

    holder, names = Inside(f), [f"f.{name}" for name, _ in f.named_parameters()]

    def penalty(z, *values):
        return functional_call(holder, dict(zip(names, values, strict=True)), (z,))

    torch.autograd.gradcheck(penalty, (z, *f.parameters()))


@pytest.mark.parametrize("mode", ["closed", "forward", "reverse"])
def test_parameter_gradients_are_the_same_in_every_mode(mode):
    f, z = seeded(mlp, 3, 4, activation="silu"), points(5, 3)
    entering = list(f.parameters())[:-1]  # all but the last bias
    grads = torch.autograd.grad(jacobian(f, z, mode=mode).abs().sum(), entering)
    expected = torch.autograd.grad(reference(f, z).abs().sum(), entering)
    for got, want in zip(grads, expected, strict=True):
        torch.testing.assert_close(got, want)


@pytest.mark.parametrize("factory", FACTORIES)
def test_closed_form_inside_functional_call_under_vmap_over_an_ensemble(factory):
    members = [seeded(Autoencoder, FACTORIES[factory], seed=i) for i in range(3)]
    parameters, buffers = stack_module_state(members)
    template, x = members[0], points(10, 4)

    losses = vmap(lambda p, b: functional_call(template, (p, b), (x,)), (0, 0))(parameters, buffers)
    torch.testing.assert_close(losses, torch.stack([member(x) for member in members]))

    losses.sum().backward()
    for i, member in enumerate(members):
        member(x).backward()
        for name, p in member.named_parameters():
            torch.testing.assert_close(parameters[name].grad[i], p.grad)


def test_ensemble_under_vmap_with_grad_inside_and_own_batches():
    members = [seeded(Autoencoder, mlp, seed=i) for i in range(2)]
    parameters, _ = stack_module_state(members)
    x = points(12, 4).reshape(2, 6, 4)

    def loss(p, x):
        return functional_call(members[0], p, (x,))

    grads = vmap(torch.func.grad(loss))(parameters, x)
    members[1](x[1]).backward()
    torch.testing.assert_close(grads["decoder.2.weight"][1], members[1].decoder[2].weight.grad)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("norm", [None, "layer"])
def test_automatic_modes_under_vmap_over_an_ensemble(mode, norm):
    class Norm(Inside):
        def forward(self, z):
            return jacobian(self.f, z, mode=mode).abs().sum()

    members = [Norm(seeded(mlp, 4, 5, norm=norm, seed=i)) for i in range(3)]
    parameters, buffers = stack_module_state(members)
    z = points(6, 4)
    values = vmap(lambda p, b: functional_call(members[0], (p, b), (z,)))(parameters, buffers)
    torch.testing.assert_close(values, torch.stack([reference(m.f, z).abs().sum() for m in members]))
    values.sum().backward()
    assert (parameters["f.0.weight"].grad != 0).any()


@pytest.mark.parametrize("linear", ["orthogonal", "spectral"])
def test_parametrised_layers_have_a_closed_form_under_vmap_too(linear):
    members = [seeded(Inside, seeded(mlp, 3, 4, linear=linear, hidden=(5,), seed=i)) for i in range(2)]
    state = stack_module_state(members)
    z = points(6, 3)
    values = vmap(lambda p, b: functional_call(members[0], (p, b), (z,)))(*state)
    torch.testing.assert_close(values, torch.stack([reference(m.f, z).square().sum() for m in members]))


@pytest.mark.parametrize("f", [seeded(mlp, 4, 6), seeded(FACTORIES["residual"], 4, 6), Wave(), nn.Tanh()])
def test_columns_are_columns_of_the_jacobian(f):
    z, columns = points(7, 4), torch.tensor([2, 0])
    value, some = value_and_jvp_columns(f, z, columns)
    torch.testing.assert_close(some, jacobian(f, z)[:, :, columns])
    torch.testing.assert_close(value, f(z))
    assert torch.equal(jvp_columns(f, z, columns), some)


@pytest.mark.parametrize(("f", "backend"), [(seeded(mlp, 4, 6), "closed_jacobian"), (Wave(), "_reverse")])
def test_pieces_within_the_budget_give_the_same_answer(f, backend, monkeypatch):
    sizes, whole = [], getattr(_jacobian, backend)
    monkeypatch.setattr(_jacobian, backend, lambda f, z: (sizes.append(len(z)), whole(f, z))[1])
    z, per_sample = points(7, 4), 4 * 8 * (64 if backend == "closed_jacobian" else 3)
    for max_bytes, expected in ((1, [1] * 7), (3 * per_sample, [3, 3, 1]), (2**28, [7])):
        sizes.clear()
        value, J = value_and_jacobian(f, z, max_bytes=max_bytes)
        assert sizes == expected
        torch.testing.assert_close(J, reference(f, z))
        torch.testing.assert_close(value, f(z))


def test_batch_norm_is_an_affine_map_in_evaluation_and_an_error_in_training():
    f = seeded(mlp, 3, 4, norm="batch")
    f(points(50, 3))
    with pytest.raises(ValueError, match=r"batch normalisation in training mode. Call `f.eval\(\)`"):
        jacobian(f, points(5, 3))
    f.eval()
    torch.testing.assert_close(jacobian(f, points(5, 3), mode="closed"), reference(f, points(5, 3)))


def test_layer_norm_falls_back_to_automatic_differentiation():
    f = seeded(mlp, 3, 4, norm="layer")
    assert not has_closed_form(f)
    torch.testing.assert_close(jacobian(f, points(5, 3)), reference(f, points(5, 3)))


def test_what_we_cannot_read_has_no_closed_form():
    class Doubled(nn.Linear):
        def forward(self, x):
            return 2 * super().forward(x)

    hooked = nn.Linear(2, 2)
    hooked.register_forward_hook(lambda module, args, out: 2 * out)
    unreadable = [Doubled(2, 2), hooked, nn.GELU("tanh"), nn.SiLU(inplace=True), lambda z: z, nn.Softmax(1)]
    assert not any(has_closed_form(f) for f in unreadable)
    for f in (Doubled(2, 2).double(), hooked.double()):
        torch.testing.assert_close(jacobian(f, points(2, 2))[0], 2 * f.weight)


def test_large_inputs_do_not_overflow_the_gradient_of_the_slope():
    f = nn.Sequential(nn.Linear(1, 1), nn.ELU(), nn.Linear(1, 1))
    z = torch.tensor([[1e4], [-1e4]], requires_grad=True)
    jacobian(f, z, mode="closed").sum().backward()
    assert z.grad.isfinite().all()


def test_half_precision_codes_and_autocast_still_give_a_full_precision_jacobian():
    f, z = seeded(mlp, 3, 4).float(), points(5, 3).bfloat16()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        J = jacobian(f, z)
        some = jvp_columns(f, z, torch.tensor([1]))
    assert J.dtype == some.dtype == torch.float32
    torch.testing.assert_close(J, reference(f, z.float()))


def test_columns_by_forward_differences_are_secants():
    z, columns = points(7, 4), torch.tensor([3, 1])
    f = seeded(mlp, 4, 6)
    torch.testing.assert_close(
        jvp_columns(f, z, columns, step=1e-7), jvp_columns(f, z, columns), atol=1e-6, rtol=0
    )
    secant = (f(z + 0.5 * torch.eye(4, dtype=z.dtype)[1]) - f(z)) / 0.5
    torch.testing.assert_close(jvp_columns(f, z, columns, step=0.5)[:, :, 1], secant)


def test_bad_input_is_named():
    f = nn.Linear(2, 2)
    with pytest.raises(ValueError, match=r"`mode` must be one of .* got 'both'"):
        jacobian(f, torch.zeros(3, 2), mode="both")
    with pytest.raises(ValueError, match=r"`f` must be a perceptron .* Use mode='auto'"):
        jacobian(Wave(), torch.zeros(3, 2), mode="closed")
    with pytest.raises(ValueError, match="`step` must be positive or None, got -1"):
        jvp_columns(f, torch.zeros(3, 2), torch.tensor([0]), step=-1.0)
    with pytest.raises(Exception, match=r"shape \(n, z\)|Type-check"):
        jacobian(f, torch.zeros(2))
