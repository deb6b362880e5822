"""Bases behind bent mixings and far spikes."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from unmix.metrics import mcc
from unmix.solvers.coordinates._affine import whitening
from unmix.solvers.sparse_rows._bent import among_resting, rough_basis
from unmix.solvers.sparse_rows._likely import likely_basis


def test_rough_basis_is_a_basis_even_of_normal_codes():
    y = torch.from_numpy(np.random.default_rng(0).normal(size=(400, 4)))
    rows, offsets = rough_basis(y, torch.Generator().manual_seed(0), n_starts=8, widths=(1.0, 0.5))
    assert rows.shape == (4, 4) and offsets.shape == (4,)
    assert torch.linalg.svdvals(rows)[-1] > 0.05


@given(st.integers(0, 50))
def test_what_all_samples_hide_shows_where_a_clear_variable_rests(seed):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(20_000, 3)) * (rng.random((20_000, 3)) < [0.4, 0.5, 0.5])
    bent = z + 2.0 * np.abs(z[:, :1]) * [0.0, 1.0, -0.5]  # where the first varies it hides the others
    x = torch.from_numpy(bent @ rng.normal(size=(3, 3)))
    y = whitening(x, most=3)[0](x)
    first = torch.linalg.lstsq(y, torch.from_numpy(z[:, :1] - z[:, :1].mean())).solution.T
    rows = torch.linalg.qr(first.T, mode="complete")[0].T  # the first variable, and two at right angles
    turned = rows, -(y[z[:, 0] == 0] @ rows.T).median(0).values
    settings = {"most": 1, "n_starts": 30, "widths": (1.0, 0.5)}
    generator = torch.Generator().manual_seed(0)
    found = among_resting(y, turned, generator, **settings)
    rest = z[:, 0] == 0
    assert mcc(z[rest, 1:], (y @ found[0].T + found[1]).numpy()[rest]) > 0.98
    torch.testing.assert_close(found[0].norm(dim=1), torch.ones(3, dtype=y.dtype))
    few = among_resting(y[:4000], turned, generator, **settings)
    assert few is turned  # the samples in which it rests are too few to search among


def test_one_latent_at_least_goes_on_where_the_others_rest():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(40_000, 2)) * (rng.random((40_000, 2)) < 0.4)  # both rest in thousands of samples
    y = whitening(torch.from_numpy(z), most=2)[0](torch.from_numpy(z))
    search = {"n_starts": 20, "widths": (1.0, 0.5)}
    basis = rough_basis(y[:6000], torch.Generator().manual_seed(0), **search)
    rows, offsets = among_resting(y, basis, torch.Generator().manual_seed(0), most=5, **search)
    assert rows.shape == (2, 2) and offsets.shape == (2,)
    assert mcc(z, (y @ rows.T).numpy()) > 0.99


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_likely_basis_finds_spikes_far_from_the_mean_behind_any_affine_map(seed):
    rng = np.random.default_rng(seed)
    z = np.where(rng.random((3000, 4)) < 0.5, rng.normal(size=(3000, 4)), rng.choice([-3.0, 2.0], size=4))
    x = torch.from_numpy(z @ rng.normal(size=(4, 4)) + rng.normal(size=4))
    y = whitening(x, most=4)[0](x)
    rows, offsets = likely_basis(y, torch.Generator().manual_seed(seed), n_starts=6)
    torch.testing.assert_close(rows.norm(dim=1), torch.ones(4, dtype=y.dtype))
    codes = y @ rows.T + offsets
    assert mcc(z, codes.numpy()) > 0.98
    resting = (codes.abs() < 0.3).double().mean(0)  # offsets put the spikes at zero
    assert bool((resting > 0.45).all())
