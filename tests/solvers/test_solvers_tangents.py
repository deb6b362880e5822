"""Directions in which few variables move: what tangent spaces tell of bent mixings, in any coordinates."""

import numpy as np
import pytest
import torch

from unmix.metrics import mcc
from unmix.solvers.coordinates import along, sparse_steps
from unmix.structure import diverse


def mixing(seed, n_parents=2):
    """Return sampled latents, their Jacobians along a diverse structure, and the structure."""
    rng = np.random.default_rng(seed)
    support = diverse(10, 5, n_parents=n_parents, random_state=rng).support
    z = rng.normal(size=(400, 5))
    weights = support * rng.uniform(0.5, 1, support.shape) * rng.choice([-1.0, 1.0], support.shape)
    inner = support * rng.normal(size=support.shape)
    slopes = weights + 1.2 * np.cos(2 * z @ inner.T)[..., None] * inner
    return torch.tensor(z), torch.tensor(slopes), support


@pytest.mark.parametrize("seed", range(4))
def test_fields_have_the_children_of_latents_whatever_the_coordinates(seed):
    _, slopes, support = mixing(seed)
    turn = torch.matrix_exp(torch.tensor(np.random.default_rng(seed).normal(size=(400, 5, 5))))
    steps = sparse_steps(slopes @ turn, torch.Generator().manual_seed(0))
    moved = (steps.observed.square().mean(0).sqrt() > 0.05).numpy()
    assert sorted(map(tuple, moved.T)) == sorted(map(tuple, support.T))


@pytest.mark.parametrize("seed", range(3))
def test_codes_along_fields_are_the_latents_of_codes_that_are_turned(seed):
    z, slopes, _ = mixing(seed)
    turn = torch.tensor(np.random.default_rng(seed).normal(size=(5, 5)))
    codes = z @ turn.T
    steps = sparse_steps(slopes @ torch.linalg.inv(turn), torch.Generator().manual_seed(0))
    found = codes @ along(codes, steps.codes).T
    assert torch.allclose(found.std(0), torch.ones(5).double(), atol=1e-3)
    assert mcc(z.numpy(), found.numpy()) > 0.999


def test_without_sparsity_fields_are_still_independent():
    _, slopes, _ = mixing(0)
    dense = torch.linalg.matrix_exp(torch.tensor(np.random.default_rng(0).normal(size=(10, 10)))) @ slopes
    steps = sparse_steps(dense, torch.Generator().manual_seed(0))
    assert steps is None or torch.linalg.matrix_rank(steps.codes).min() == 5
