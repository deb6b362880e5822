"""Generator and discriminator in the manner of StyleGAN2: modulation, noise, sizes, labels."""

import pytest
import torch
from torch.nn import functional as F

from tensors import points, seeded
from unmix.nn import style_discriminator, style_generator
from unmix.nn._style import Modulated
from unmix.nn._style_critic import spread

WIDTHS = (8, 8, 4, 4, 4)


@pytest.mark.parametrize("plain", [False, True])
def test_modulation_scales_the_weights_of_each_sample(plain):
    layer = seeded(Modulated, 3, 4, 5, 3, plain)
    x, w = points(2, 4 * 36).reshape(2, 4, 6, 6), points(2, 3, seed=2)
    found, expected = layer(x, w), []
    for image, style in zip(x, layer.style(w), strict=True):
        weight = layer.weight * layer.gain * style[:, None, None]  # Eq. (1)
        if not plain:
            weight = weight / (weight.square().sum((1, 2, 3), keepdim=True) + 1e-8).sqrt()  # Eq. (3)
        expected.append(F.conv2d(image[None], weight, layer.bias, padding=1)[0])
    torch.testing.assert_close(found, torch.stack(expected))


@pytest.mark.parametrize("side", [8, 16, 32, 64])
def test_images_of_every_size_are_made_and_judged(side):
    generator = seeded(style_generator, 6, (side, side, 3), widths=WIDTHS, style=8)
    image = generator(points(4, 6))
    assert image.shape == (4, side, side, 3) and image.isfinite().all()
    assert generator.n_noise == 16 + 2 * sum(4**k for k in range(3, side.bit_length()))
    assert seeded(style_discriminator, (side, side, 3), 1, widths=WIDTHS)(image).shape == (4,)


def test_noise_is_an_argument_and_without_it_images_are_a_function_of_codes():
    generator, z = seeded(style_generator, 6, (8, 8, 1), widths=WIDTHS, style=8), points(3, 6)
    with torch.no_grad():
        generator.synthesis.strength.fill_(0.3)
    torch.testing.assert_close(generator(z), generator(z), atol=0, rtol=0)
    torch.testing.assert_close(generator(z)[:1], generator(z[:1]))
    one, other = (points(3, generator.n_noise, seed=seed) for seed in (3, 4))
    torch.testing.assert_close(generator(z, one), generator(z, one), atol=0, rtol=0)
    assert (generator(z, one) - generator(z, other)).abs().max() > 1e-3
    torch.testing.assert_close(generator(z), generator.synthesis(generator.mapping(z)))


def test_labels_change_what_the_discriminator_says_and_must_be_given():
    critic = seeded(style_discriminator, (8, 8, 1), 4, widths=WIDTHS, n_labels=2)
    x = points(4, 64).reshape(4, 8, 8, 1)
    zeros, ones = torch.zeros(4, dtype=torch.long), torch.ones(4, dtype=torch.long)
    assert not torch.allclose(critic(x, zeros), critic(x, ones))
    with pytest.raises(ValueError, match="`u` must be a label"):
        critic(x)


@pytest.mark.parametrize("n", [1, 3, 8])
def test_spread_is_that_within_groups_of_the_batch(n):
    x = points(n, 12).reshape(n, 3, 2, 2)
    found = spread(x)[:, 0, 0, 0]
    group = 4 if n % 4 == 0 else n
    for first in range(n // group):
        rows = torch.arange(first, n, n // group)
        expected = (x[rows].var(0, correction=0) + 1e-8).sqrt().mean()
        torch.testing.assert_close(found[rows], expected.expand(group))


@pytest.mark.parametrize("shape", [(24, 24, 3), (8, 16, 3), (128, 128, 3), (2, 2, 1)])
def test_sides_that_are_no_power_of_two_times_four_are_refused(shape):
    for make in (lambda: style_generator(4, shape), lambda: style_discriminator(shape)):
        with pytest.raises(ValueError, match="must be a square image with a side among"):
            make()
