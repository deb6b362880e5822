"""Terms of EncDiff and DisCo: gradients by finite differences, schedules, sampling, and what flips."""

from copy import deepcopy
from functools import partial

import pytest
import torch
from torch import nn
from torch.nn.functional import binary_cross_entropy_with_logits

from tensors import points, slopes
from unmix.nn import ScalarTokens, jacobian, jvp_columns, leaky_encoder, mlp, unet
from unmix.nn._layer_norm import LayerNorm
from unmix.objectives import (
    ContrastObjective,
    DiffusionDecoder,
    DiffusionObjective,
    Navigator,
    Pixels,
    ReadBack,
    Rendering,
    cosine_schedule,
)
from unmix.objectives._contrast import contrast, exponential
from unmix.penalties import dependency_sparsity, latent_sparsity

SHAPE = (8, 8, 1)


def stirred(module):
    """Let no layer be silent: zeros have no slope to compare."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype))
    return module.double()


def diffusion(**settings):
    torch.manual_seed(0)
    network = unet(SHAPE, 4, widths=(8, 8), n_blocks=1, attention=(1,), heads=2)
    decoder = DiffusionDecoder(ScalarTokens(3, 4, hidden=(8,)), network, Pixels(SHAPE), n_steps=4)
    encoder = leaky_encoder(SHAPE, 3, widths=(4, 4), dense=(8,))
    return stirred(DiffusionObjective(encoder, decoder, **settings))


def disco(**settings):
    torch.manual_seed(0)
    rendering = Rendering(nn.Sequential(mlp(5, 64, hidden=(8,)), nn.Sigmoid(), nn.Unflatten(1, SHAPE)))
    encoder = leaky_encoder(SHAPE, 3, widths=(4, 4), dense=(8,))
    return stirred(ContrastObjective(encoder, Navigator(5, 3), ReadBack(rendering, 3, 5), **settings))


def agree(found):
    for name, (gradient, difference) in found.items():
        assert difference == pytest.approx(gradient, rel=1e-3, abs=1e-7), name
        assert abs(gradient) > 1e-6, name  # nothing to compare otherwise


def noisy():
    x = points(4, 64).reshape(4, *SHAPE).sigmoid()
    return x, torch.tensor([10, 300, 700, 990]), points(4, 64, seed=2).reshape(4, *SHAPE)


def seeded_terms(member, *given):
    """Return the terms of a batch, with the same columns drawn each time."""
    with torch.random.fork_rng():
        torch.manual_seed(3)
        return member.terms(*given)


SAMPLED = {
    f"{'secants' if step else 'derivatives'}, {columns} columns": partial(
        dependency_sparsity, columns=columns, step=step
    )
    for step in (None, 0.1)
    for columns in (1, 2, 3)
}
PENALTIES = {"none": None, "latent": latent_sparsity, "secants": partial(dependency_sparsity, step=0.1)}
PENALTIES |= SAMPLED | {"group": partial(dependency_sparsity, columns=2, form="group")}


@pytest.mark.parametrize("penalty", ["secants", "secants, 1 columns", "secants, 2 columns"])
@pytest.mark.parametrize("share", [0.5, 1.0])
def test_secants_are_taken_in_one_pass_with_the_batch(penalty, share, monkeypatch):
    secants, rows = PENALTIES[penalty], []
    member = diffusion(penalty=secants, share=share)
    network = type(member.decoder.network).forward
    monkeypatch.setattr(
        type(member.decoder.network), "forward", lambda *given: rows.append(len(given[1])) or network(*given)
    )
    found = seeded_terms(member, *noisy())
    assert len(rows) == 1 and rows[0] > 4
    member.penalty = lambda decoder, z: secants(decoder, z)  # nobody can tell what it asks for
    apart = seeded_terms(member, *noisy())
    assert len(rows) == 3
    for name, value in found.items():
        assert float(value.detach()) == pytest.approx(float(apart[name].detach()), rel=1e-9), name


@pytest.mark.parametrize("target", ["noise", "velocity"])
@pytest.mark.parametrize("through", ["noise", "image"])
@pytest.mark.parametrize("penalty", PENALTIES.values(), ids=PENALTIES)
def test_the_terms_of_diffusion_have_the_gradient_that_they_claim(target, through, penalty):
    member = diffusion(target=target, through=through, penalty=penalty, share=0.5)
    found = slopes(partial(seeded_terms, member, *noisy()), member.parameters())
    assert list(found) == [target] + ([] if penalty is None else ["penalty"])
    agree(found)


@pytest.mark.parametrize("step", [None, 0.1])
@pytest.mark.parametrize("columns", [1, 3])
def test_the_scale_of_a_code_is_no_part_of_the_gradient(columns, step):
    """Of the columns times the codes' deviations, the deviations are held constant."""
    penalty = partial(dependency_sparsity, columns=columns, step=step, normalize="std")
    member = diffusion(penalty=penalty, share=1.0)
    x, t, noise = noisy()
    scale = member.encoder(x).detach().std(0, correction=0)

    def held(decoder, z):
        chosen = torch.randperm(3)[:columns]
        J = jvp_columns(decoder, z, chosen, step=step) * scale[chosen]
        return J.abs().sum() / len(z) * 3 / columns

    other = deepcopy(member)
    other.penalty = held
    other.encoder, other.decoder = member.encoder, member.decoder
    given = (x, t, noise)
    torch.testing.assert_close(seeded_terms(other, *given), seeded_terms(member, *given))
    agree(
        slopes(
            partial(seeded_terms, member, *given), member.parameters(), partial(seeded_terms, other, *given)
        )
    )


def test_sampled_columns_are_the_whole_on_average():
    z, weight = points(5, 4), points(6, 4, seed=2)
    whole = dependency_sparsity(lambda z: torch.sin(z @ weight.mT), z)
    some = [
        dependency_sparsity(
            lambda z: torch.sin(z @ weight.mT), z, columns=1, generator=torch.Generator().manual_seed(seed)
        )
        for seed in range(400)
    ]
    assert float(torch.stack(some).mean()) == pytest.approx(float(whole), rel=0.05)


def test_a_penalty_that_decodes_codes_one_by_one_is_refused():
    member = diffusion(penalty=dependency_sparsity)
    x = torch.rand(4, *SHAPE, dtype=torch.float64)
    with pytest.raises(ValueError, match="`penalty` must decode all 4 codes at once"):
        member.terms(x, torch.tensor([10, 300, 700, 990]), torch.randn_like(x))


@pytest.mark.parametrize("step", [None, 0.1])
@pytest.mark.parametrize("sparse", [None, "latent", "dependency"])
def test_the_terms_of_disco_have_the_gradient_that_they_claim(sparse, step):
    member = disco(sparse=sparse, step=step)
    member.decoder.requires_grad_(False)
    w, numbers = points(8, 5), torch.tensor([0, 0, 0, 0, 1, 2, 1, 2])
    given = w, numbers, torch.linspace(-2, 2.5, 8).double()
    query, _, negative = changes(member, *given).detach().split([2, 2, 4])
    hard = (query @ negative.mT).where(query @ negative.mT > 0.95, 0.0)  # what they are asked for

    def held():  # negatives do not move, nor what they are asked for
        query, positive = changes(member, *given)[:4].split(2)
        logits = torch.cat([query @ positive.mT, query @ negative.mT], 1)
        asked = torch.cat([torch.ones(2, 2), hard], 1)
        return member.terms(*given) | {"contrast": binary_cross_entropy_with_logits(logits, asked)}

    trained = [*member.encoder.parameters(), member.navigator.free]
    found = slopes(lambda: member.terms(*given), trained, held)
    assert list(found) == ["contrast", "dominance"] + ([] if sparse is None else ["sparsity"])
    agree(found)


def changes(member, w, numbers, shifts):
    """Return how the codes of images change, at length 1."""
    render = member.decoder.rendering
    after = render(w + shifts[:, None] * member.navigator()[:, numbers].mT)
    change = (member.encoder(after) - member.encoder(render(w))).abs()
    return change / change.norm(dim=1, keepdim=True)


def test_layer_norm_has_a_gradient_through_forward_mode():
    """That of PyTorch holds mean and variance constant there."""
    network, z = stirred(LayerNorm(4)), points(3, 4)
    z.requires_grad_()
    found = slopes(lambda: {"J": jvp_columns(network, z, torch.tensor([0, 2])).square().sum()}, [z])
    agree(found)
    torch.testing.assert_close(
        network(z), torch.nn.functional.layer_norm(z, (4,), network.weight, network.bias)
    )


def test_a_u_net_in_half_precision_is_the_same():
    """Attention and norms are other kernels there."""
    member = diffusion().float()
    x, t, noise = (each.float() if each.is_floating_point() else each for each in noisy())
    full = member.terms(x, t, noise)["noise"]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        half = member.terms(x, t, noise)["noise"]
    assert half.item() == pytest.approx(full.item(), rel=0.02)
    gradients = [torch.autograd.grad(each, member.decoder.network.parameters()) for each in (full, half)]
    for a, b in zip(*gradients, strict=True):
        assert (a - b).norm() <= 0.1 * a.norm() + 1e-3


def test_hard_negatives_are_asked_for_what_they_have():
    positive, negative = torch.ones(1, 1), torch.tensor([[0.2, 0.99]], requires_grad=True)
    contrast(positive, negative).backward()
    share = torch.sigmoid(negative.detach())
    expected = (share - torch.tensor([[0.0, 0.99]])) / 3
    torch.testing.assert_close(negative.grad, expected)


def test_negatives_move_nobody():
    member = disco()
    w = torch.randn(8, 5, dtype=torch.float64)
    numbers, shifts = torch.tensor([0, 0, 0, 0, 1, 2, 1, 2]), torch.ones(8).double()
    seen = []
    member.encoder.register_full_backward_hook(lambda module, inside, outside: seen.append(outside[0]))
    member.terms(w, numbers, shifts)["contrast"].backward()
    assert seen[0][:4].abs().sum() > 0 and seen[0][4:8].abs().sum() == 0


def test_secants_along_a_direction_are_the_jacobian_where_steps_are_small():
    member = disco(sparse="dependency", step=1e-6)
    w = torch.randn(4, 5, dtype=torch.float64)
    numbers, shifts = torch.zeros(4, dtype=torch.long), torch.ones(4).double()
    found = member.terms(w, numbers, shifts)["sparsity"]
    J = jacobian(lambda w: member.decoder.rendering(w), w[-1:])[0]
    expected = 3 * (J @ member.navigator()[:, 0]).abs().mean()
    assert found.item() == pytest.approx(expected.item(), rel=1e-4)


@pytest.mark.parametrize("n", [2, 7, 64])
def test_directions_are_orthonormal_and_the_exponential_is_one(n):
    torch.manual_seed(n)
    free = torch.randn(n, n) / n**0.5
    skew = free - free.mT
    torch.testing.assert_close(exponential(skew), torch.linalg.matrix_exp(skew), atol=3e-5, rtol=1e-4)
    torch.testing.assert_close(exponential(skew.double()), torch.linalg.matrix_exp(skew.double()))


@pytest.mark.parametrize("shift", [1.0, 0.25])
def test_the_schedule_goes_from_image_to_noise_and_a_shift_scales_the_ratio(shift):
    signal, level = cosine_schedule(500, shift=shift)
    assert (signal.diff() <= 0).all() and signal[0] > 0.99 and signal[-1] < 1e-3
    plain = cosine_schedule(500)
    middle = slice(50, 450)
    ratio = (signal / level)[middle] / (plain[0] / plain[1])[middle]
    torch.testing.assert_close(ratio, torch.full_like(ratio, shift), rtol=1e-3, atol=0)


def test_a_network_that_knows_the_image_is_sampled_to_it():
    """DDIM with the true velocity ends at the image, whatever the noise it began with."""
    decoder = diffusion().decoder
    image = torch.linspace(-0.9, 0.9, 64).double().reshape(1, *SHAPE)

    def velocity(x, t, z):
        signal, level = (decoder._at(v, t, x) for v in (decoder.signal, decoder.level))
        return signal * (x - signal * image) / level - level * image

    decoder.velocity = velocity
    torch.testing.assert_close(decoder(torch.zeros(2, 3).double()), ((image + 1) / 2).expand(2, -1, -1, -1))


def test_noise_and_image_are_told_from_the_velocity():
    decoder = diffusion().decoder
    x, noise = torch.rand(3, *SHAPE).double(), torch.randn(3, *SHAPE).double()
    t = torch.tensor([1, 500, 999])
    noisy, velocity = decoder.noised(x, t, noise), decoder.noised(noise, t, -x)
    torch.testing.assert_close(decoder.noise(noisy, t, velocity), noise, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(decoder.denoised(noisy, t, velocity), x, atol=1e-6, rtol=1e-5)


def test_times_cover_the_whole_evenly_also_in_a_part_of_a_batch():
    member = diffusion()
    times = member.times(torch.zeros(64, 1)).sort().values
    assert times.diff().max() < 40 and times.min() < 40 and times.max() > 960
    few = member.times(torch.zeros(64, 1))[:8].sort().values
    assert few.diff().max() < 300


def test_each_scalar_has_a_token_of_its_own():
    tokens = ScalarTokens(3, 4).double()
    J = jacobian(lambda z: tokens(z).flatten(1), torch.randn(2, 3).double()).reshape(2, 3, 4, 3)
    off = ~torch.eye(3, dtype=torch.bool)[None, :, None].expand(2, 3, 4, 3)
    assert J[off].abs().max() == 0 and J[~off].abs().min() > 0
