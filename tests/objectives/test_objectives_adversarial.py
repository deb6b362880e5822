"""Each loss of the game has the gradient that it claims, and does what it says."""

from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.autograd import gradcheck
from torch.func import functional_call

from tensors import points, seeded, slopes
from unmix.nn import style_discriminator, style_generator
from unmix.objectives import (
    CodedGenerator,
    FlowCode,
    GameObjective,
    LabelCode,
    MonotoneFlow,
    NoiseCode,
    augmented,
    moved_code,
    moving,
    path_deviation,
    path_lengths,
    r1,
    to_expose,
    to_pass,
)
from unmix.penalties import perturbation_sparsity

SHAPE = (8, 8, 1)
generator = partial(style_generator, widths=(3, 3), style=3, n_mapping=1)
critic = partial(style_discriminator, widths=(3, 3))


def images(n=4, seed=5):
    return points(n, 64, seed).reshape(n, *SHAPE).sigmoid()


def of_parameters(network, loss, *names):
    """Return a loss as a function of some parameters of a network, and their values."""
    kept = {name: value.detach() for name, value in network.named_parameters()}

    def function(*values):
        return loss(lambda *x: functional_call(network, kept | dict(zip(names, values, strict=True)), x))

    return function, tuple(kept[name].clone().requires_grad_() for name in names)


def test_adversarial_losses_have_the_gradients_of_finite_differences():
    logits = points(5, 1)[:, 0].requires_grad_()
    assert gradcheck(to_pass, logits) and gradcheck(to_expose, logits)
    assert to_pass(logits) > to_pass(logits + 1) and to_expose(logits) < to_expose(logits + 1)


def test_r1_has_the_gradient_of_finite_differences():
    network = seeded(critic, SHAPE, 1)
    names = ("out.weight", "blocks.0.skip.weight", "first.bias")
    assert gradcheck(*of_parameters(network, lambda net: r1(net, images()), *names))


def test_path_lengths_have_the_gradient_of_finite_differences():
    network, y = seeded(generator, 4, SHAPE), points(4, 64).reshape(4, *SHAPE)
    w, names = network.mapping(points(4, 4)).detach(), ("colours.1.style.weight", "convolutions.0.weight")
    assert gradcheck(*of_parameters(network.synthesis, lambda net: path_lengths(net, w, y), *names))


def test_path_lengths_are_drawn_to_their_mean_which_is_no_part_of_the_gradient():
    lengths, mean = (points(5, 1)[:, 0].abs()).requires_grad_(), torch.tensor(0.3).double()
    path_deviation(lengths, mean).backward()
    assert mean.item() == pytest.approx(0.99 * 0.3 + 0.01 * lengths.mean().item())
    torch.testing.assert_close(lengths.grad, 2 * (lengths.detach() - mean) / 5)


def test_path_lengths_are_norms_of_the_projected_jacobian():
    network, y, w = seeded(generator, 4, SHAPE), points(2, 64).reshape(2, *SHAPE), points(2, 3, seed=7)
    J = torch.func.vmap(torch.func.jacrev(lambda one: network.synthesis(one[None])[0]))(w)
    expected = torch.einsum("nhwcs,nhwc->ns", J, y).norm(dim=1) * 2 / 8
    torch.testing.assert_close(path_lengths(network.synthesis, w, y), expected)


def test_augmentations_are_differentiable_in_the_pixels_and_leave_images_alone_at_zero():
    x, draw = images(3).requires_grad_(), points(3, 8)
    assert gradcheck(lambda x: augmented(x, torch.tensor(1.0), draw), x)
    torch.testing.assert_close(augmented(x, torch.tensor(0.0), draw), x)
    assert (augmented(x, torch.tensor(1.0), draw) - x).abs().amax((1, 2, 3)).min() > 0.01


@pytest.mark.parametrize("p", [0.2, 0.7])
def test_augmentations_are_as_frequent_as_asked(p):
    draw, x = points(2000, 8), torch.linspace(0, 1, 64).double().reshape(1, *SHAPE).expand(2000, -1, -1, -1)
    moved = (augmented(x, torch.tensor(p), draw) - x).abs().amax((1, 2, 3)) > 1e-6
    assert moved.double().mean().item() == pytest.approx(1 - (1 - p) ** 2, abs=0.05)


@given(st.integers(0, 10**6), st.lists(st.booleans(), min_size=1, max_size=5), st.floats(0.01, 2))
def test_one_active_coordinate_moves_by_one_step(seed, active, step):
    z, draw, mask = points(6, len(active) + 2, seed), points(6, len(active), seed + 1), torch.tensor(active)
    moved = moved_code(z, draw, mask, step) - z
    assert torch.allclose(moved.abs().sum(1), torch.full((6,), step * any(active)).double())
    assert ((moved != 0).sum(1) <= 1).all() and not moved[:, : len(active)][:, ~mask].any()
    assert not moved[:, len(active) :].any()


def test_every_active_coordinate_moves_equally_often_in_either_direction():
    moved = moved_code(torch.zeros(4000, 3).double(), points(4000, 3), torch.tensor([True, False, True]), 1.0)
    assert moved.abs().mean(0).tolist() == pytest.approx([0.5, 0, 0.5], abs=0.05)
    assert moved.sum(1).mean().abs() < 0.05


@given(st.floats(-1, 1), st.floats(0, 1))
def test_augmentation_grows_where_the_discriminator_overfits(r, p):
    before, after = torch.tensor(p).double(), torch.tensor(p).double()
    moving(torch.tensor(r).double(), after, 0.6, 0.05)
    assert 0 <= after <= 1 and (after - before) * (r - 0.6) >= 0


@given(st.integers(0, 10**6))
def test_flows_rise_whatever_their_parameters(seed):
    flow = seeded(MonotoneFlow, 3, 2)
    with torch.no_grad():
        for number, parameter in enumerate(flow.parameters()):
            parameter.copy_(3 * points(1, parameter.numel(), seed + number).reshape(parameter.shape))
    e = torch.linspace(-4, 4, 60).double()[:, None].expand(-1, 3)
    for domain in (0, 1):
        assert (flow(e, torch.full((60,), domain)).diff(dim=0) >= 0).all()


FLOWS, LABELS = partial(FlowCode, 3, 2), partial(LabelCode, 3, 2)  # each test has parameters of its own


def game(code, sparse="intended", **more):
    made = seeded(lambda: CodedGenerator(code(), generator(6, SHAPE)))
    labels = 0 if code is NoiseCode else 2
    judge = seeded(critic, SHAPE, 3, n_labels=labels)
    return GameObjective(made, judge, nn.Flatten(), n_noise=6, sparse=sparse, **more).double()


U = torch.tensor([0, 1, 1, 0])


@pytest.mark.parametrize("code", [FLOWS, partial(FLOWS, masked=False), LABELS])
def test_domains_change_the_first_part_of_the_code_alone(code):
    noise, code = points(4, 6), seeded(code)
    one, other = code(noise, U), code(noise, 1 - U)
    assert (one[:, :3] - other[:, :3]).abs().min() > 1e-4
    torch.testing.assert_close(one[:, 3:], other[:, 3:])
    assert code.active.tolist() == [True] * 3


def test_a_coordinate_whose_importance_is_small_no_longer_changes():
    code = seeded(FLOWS)
    with torch.no_grad():
        code.importance[1] = 0.05
    ratio = [code(points(4, 6), u)[:, :3] for u in (U, 1 - U)]
    plain = points(4, 6)[:, 1]
    assert code.active.tolist() == [True, False, True]
    for z in ratio:  # only the scale of the group is shared
        changed = points(4, 6)[:, :3] + code.importance * code.active * code.flow(
            points(4, 6)[:, :3], U if z is ratio[0] else 1 - U
        )
        torch.testing.assert_close(changed[:, 1], plain)
        torch.testing.assert_close(z, changed / (changed.square().mean(1, keepdim=True) + 1e-8).sqrt())


def test_the_sparse_term_as_intended_is_the_penalty_and_has_its_gradient():
    objective = game(FLOWS)
    z, grain = points(4, 6), points(4, objective.decoder.n_noise, seed=2)
    with torch.no_grad():
        objective.decoder.code.importance[1:] = 0
    image = objective.decoder(z, grain)
    draw = -points(4, 3).abs()  # every step goes down
    found = objective._sparsity(z, image, grain, draw)
    active = torch.tensor([True, False, False, False, False, False])
    sides = []
    for sign in (-1, 1):
        moved = z + sign * 0.1 * active
        sides.append((objective.decoder(moved, grain) - image).abs().mean() / 0.1)
    torch.testing.assert_close(found, sides[0])
    penalty = perturbation_sparsity(
        lambda z: objective.decoder(z, grain), z, active=active, generator=torch.Generator().manual_seed(0)
    )
    assert min(sides) * 0.5 <= penalty <= max(sides) * 1.5

    def loss(net):
        return (net(z, grain) - net(moved_code(z, draw, active[:3], 0.1), grain)).abs().mean() / 0.1

    names = ("generator.mapping.layers.0.weight", "generator.synthesis.colours.1.weight")
    assert gradcheck(*of_parameters(objective.decoder, loss, *names))


@pytest.mark.parametrize("sparse", [None, "intended", "released"])
@pytest.mark.parametrize("code", [NoiseCode, FLOWS, LABELS], ids=["GAN", "flows", "labels"])
def test_every_term_of_the_game_has_the_gradient_that_it_claims(code, sparse, monkeypatch):
    """Of all parameters of the player, or of the encoder, through augmentations, with fixed draws."""
    monkeypatch.setattr("unmix.objectives._adversarial._SLOW", 0.0)  # the mean of path lengths is held
    objective = game(code, sparse=None if code is NoiseCode else sparse)
    objective.encoder = seeded(lambda: nn.Sequential(nn.Flatten(1), nn.Linear(64, 6)))
    with torch.no_grad():
        objective.decoder.synthesis.strength.fill_(0.3)
        objective.path.fill_(0.5)
    u, noise = None if code is NoiseCode else U, points(4, objective.n_columns)

    def drawn(terms):
        objective.p.fill_(0.5)
        with torch.random.fork_rng():
            torch.manual_seed(1)
            return terms(images(), u, noise)

    for terms, network in (
        (objective, objective.decoder),
        (objective.distinguish, objective.critic),
        (objective.invert, objective.encoder),
    ):
        for name, (gradient, difference) in slopes(partial(drawn, terms), network.parameters()).items():
            assert difference == pytest.approx(gradient, rel=1e-4, abs=1e-8), name
            assert abs(gradient) > 1e-6, name


def test_the_sparse_term_as_released_measures_nothing_but_noise():
    objective = game(FLOWS, sparse="released")
    noise = points(4, objective.n_columns)
    assert objective(images(), U, noise)["sparsity"] == 0  # the strength of noise begins at zero
    with torch.no_grad():
        objective.decoder.synthesis.strength.fill_(0.5)
    assert objective(images(), U, noise)["sparsity"] > 0
    intended = game(FLOWS)
    assert intended(images(), U, noise)["sparsity"] > 0


def test_rounding_has_no_say_in_the_sparse_term_as_released(monkeypatch):
    """Some processors round an image otherwise in a batch of another size: its sign is no gradient."""
    objective = game(FLOWS, sparse="released")
    synthesis = objective.decoder.synthesis
    forward, times = type(synthesis).forward, iter(range(9))

    def rounded(self, w, noise=None):
        return forward(self, w, noise) * (1 + 1e-7 * (next(times) % 2))

    monkeypatch.setattr(type(synthesis), "forward", rounded)
    image = synthesis(w := objective.decoder.mapping(z := points(4, 6)))
    term = objective._sparsity(z, image, points(4, objective.decoder.n_noise), points(4, 3))
    (slope,) = torch.autograd.grad(term, synthesis.strength)
    assert w.requires_grad and not slope.any()


@pytest.mark.parametrize("code", [NoiseCode, FLOWS, LABELS], ids=["GAN", "flows", "labels"])
def test_terms_of_the_players_have_names_and_reach_their_own_networks(code):
    objective = game(code, sparse=None)
    u, noise = None if code is NoiseCode else U, points(4, objective.n_columns)
    terms = objective(images(), u, noise)
    assert set(terms) - {"mask"} == {"adversarial", "path"} and ("mask" in terms) == (code is FLOWS)
    judged = objective.distinguish(images(), u, noise)
    assert set(judged) == {"real", "fake", "r1"}
    assert all(value.ndim == 0 and value.isfinite() for value in (terms | judged).values())
    sum(judged.values()).backward()
    assert all(p.grad is None for p in objective.decoder.parameters())
    assert all(p.grad is not None for p in objective.critic.parameters())


def test_the_probability_of_augmentation_follows_what_the_discriminator_says_of_real_images():
    objective = game(NoiseCode, sparse=None, reach=40)
    noise = points(4, objective.n_columns)
    with torch.no_grad():
        objective.critic.out.weight.zero_()
        objective.critic.out.bias.fill_(3.0)  # everything is called real
    seen = []
    for _ in range(60):
        objective.distinguish(images(), None, noise)
        seen.append(objective.p.item())
    assert seen[0] == 0 and seen[-1] == 1 and objective.sign > 0.9


def test_the_encoder_is_asked_for_codes_of_made_images_and_for_real_images():
    objective = game(NoiseCode, sparse=None)
    objective.encoder = seeded(lambda: nn.Sequential(nn.Flatten(1), nn.Linear(64, 6)))
    x, noise = images(), points(4, objective.n_columns)
    z = noise[:, :6]
    found = objective.invert(x, None, noise)
    made = objective.decoder(z)
    torch.testing.assert_close(found["code"], (objective.encoder(made) - z).square().mean())
    torch.testing.assert_close(found["image"], (objective.decoder(objective.encoder(x)) - x).square().mean())
