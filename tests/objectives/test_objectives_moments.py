"""Moments of labelled groups against scipy."""

import numpy as np
import torch
from scipy.stats import kurtosis, skew

from unmix.objectives._moments import LabelledObjective, group_moments


def test_group_moments_are_those_of_scipy():
    rng = np.random.default_rng(0)
    z, groups = rng.exponential(size=(200, 3)), rng.integers(4, size=200)
    found = group_moments(torch.from_numpy(z), torch.from_numpy(groups), 5)
    for g in range(4):
        np.testing.assert_allclose(found[0][g], skew(z[groups == g]), rtol=1e-6)
        np.testing.assert_allclose(found[1][g], kurtosis(z[groups == g]), rtol=1e-6)
    assert found[2].tolist() == [*np.bincount(groups), 0]


def test_masks_leave_out_latents_that_do_not_vary():
    z, groups = torch.rand(100, 2).double() ** 3, torch.arange(100) % 2
    masks = torch.tensor([[True, False], [False, True]])
    identity = torch.nn.Identity()
    found = LabelledObjective(identity, identity, 2, 2, masks)(z, groups)["moments"]
    skewed, curved, _ = group_moments(z, groups, 2)
    torch.testing.assert_close(found, (skewed.abs() + curved.abs())[masks].mean())
