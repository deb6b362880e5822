"""Generators of pictures of two pixels, points of a plane, where what they learn is checked in seconds."""

from functools import partial

import numpy as np
import pytest
import torch
from torch import nn

from unmix import CGGAN, GAN, BetaVAE, DisCo, EncDiff
from unmix.metrics import frechet_distance
from unmix.nn import mlp

small = partial(mlp, hidden=(32, 32))


class Plane(nn.Module):
    """A generator of points: styles are the codes, and there is no grain."""

    n_noise = 0

    def __init__(self, n_in, shape):
        super().__init__()
        self.mapping, self.synthesis = nn.Identity(), Points(n_in, shape)

    def forward(self, z, noise=None):
        return self.synthesis(z)


class Points(nn.Module):
    """The part of it that makes points of styles."""

    def __init__(self, n_in, shape):
        super().__init__()
        self.points = small(n_in, shape)

    def forward(self, w, noise=None):
        return self.points(w)


class Judge(nn.Module):
    """A discriminator of points, and of their labels."""

    def __init__(self, shape, n_out, n_labels=0):
        super().__init__()
        self.n_labels, self.points = n_labels, small(2 + n_labels, 1)

    def forward(self, x, u=None):
        told = [] if u is None else [nn.functional.one_hot(u.long(), self.n_labels).to(x.dtype)]
        return self.points(torch.cat([x.flatten(1), *told], 1))[:, 0]


class Denoiser(nn.Module):
    """A network that tells velocities of noisy points, a time and tokens."""

    def __init__(self, shape, size):
        super().__init__()
        self.points = small(2 + 1 + 2 * size, 2)

    def forward(self, x, t, tokens):
        return self.points(torch.cat([x.flatten(1), t[:, None], tokens.flatten(1)], 1)).reshape(x.shape)


def ring(n=512, seed=0):
    """Points of a ring, as pictures of shape (1, 2, 1)."""
    rng = np.random.default_rng(seed)
    angle, radius = rng.uniform(0, 2 * np.pi, n), 0.35 + 0.02 * rng.normal(size=n)
    points = 0.5 + radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1)
    return points.reshape(n, 1, 2, 1).astype(np.float32)


GAME = {"decoder": Plane, "critic": Judge, "encoder": small, "augment": None, "path": 0.0, "batch_size": 128}
RUN = {"max_iter": 10**6, "device": "cpu", "random_state": 0}


def test_a_generator_learns_a_ring():
    x = ring()
    model = GAN(2, **GAME, **RUN, max_steps=800, lr=2e-3).fit(x)
    made, far = model.sample(512, random_state=1).reshape(-1, 2), np.full((512, 2), 0.5)
    assert frechet_distance(x.reshape(-1, 2), made) < 0.1 * frechet_distance(x.reshape(-1, 2), far)
    radius = np.linalg.norm(made - 0.5, axis=1)
    assert np.median(np.abs(radius - 0.35)) < 0.08


def test_domains_move_the_points_that_they_moved():
    """The second domain is the first, shifted along one coordinate; the same noise gives partners."""
    rng = np.random.default_rng(0)
    domain, points = rng.integers(0, 2, 800), 0.5 + 0.06 * rng.normal(size=(800, 2))
    points[:, 0] += np.where(domain, 0.2, -0.2)
    x = points.reshape(-1, 1, 2, 1).clip(0, 1).astype(np.float32)
    model = CGGAN(4, n_changing=2, **GAME, **RUN, max_steps=900).fit(x, domains=domain)
    left, right = (model.sample(400, domains=u, random_state=0).reshape(-1, 2) for u in (0, 1))
    assert right.mean(0) - left.mean(0) == pytest.approx([0.4, 0], abs=0.08)


def test_two_scalars_are_enough_for_a_plane():
    x = ring()
    model = EncDiff(2, encoder=small, network=Denoiser, target="velocity", lr=3e-3, max_steps=800, **RUN)
    codes = model.fit(x).transform(x)
    again = model.inverse_transform(codes)
    assert np.square(again - x).mean() < 0.1 * x.var(0).mean()
    swapped = codes.copy()
    swapped[:, 0] = np.roll(codes[:, 0], 1)
    assert np.abs(model.inverse_transform(swapped) - again).mean() > 0.02  # tokens tell


def test_directions_of_a_generator_are_told_apart(tmp_path):
    x = ring()
    vae = BetaVAE(2, encoder=small, decoder=small, beta=1e-3, max_iter=40, device="cpu", random_state=0).fit(
        x
    )
    run = {"generator": vae.save(tmp_path / "vae"), "encoder": small, "shift": 1.0, "lr": 2e-3}
    model = DisCo(2, **run, max_steps=300, **RUN).fit(x)
    first, last = (
        np.mean(part) for part in np.split(np.array(model.history_.terms["contrast"]), [20, -20])[::2]
    )
    assert last < first - 0.03
