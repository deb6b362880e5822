"""Which mixings bend: gentle bends and noise do not count, and what is left of the others follows."""

import numpy as np
import pytest
import torch
from pytest import approx
from scipy.stats import ortho_group

from unmix.experiments.papers.trust._worlds_sparse import FAMILIES
from unmix.experiments.papers.worlds._draws import sparse
from unmix.solvers.coordinates import follows, is_bent, left_by


def standardised(x):
    return torch.as_tensor((x - x.mean(0)) / x.std(0), dtype=torch.float32)


def worlds(name, seeds):
    (family,) = (family for family in FAMILIES if family.name == name)
    for seed in seeds:
        data = family.draw(2000, seed)
        yield standardised(data.x), data.z.shape[1]


@pytest.mark.parametrize("name", ["sparse: waves and products", "sparse: bent sums", "sparse: linear"])
def test_gentle_bends_of_calibrated_worlds_are_not_followed(name):
    assert not any(is_bent(x, n) for x, n in worlds(name, range(10, 14)))


def test_noise_is_left_but_does_not_follow():
    for x, n in worlds("null: noise", range(6)):
        assert left_by(x, n) > 0.03 and follows(x, n) < 0.02 and not is_bent(x, n, 0.0)


@pytest.mark.parametrize("family", ["tanh", "sine", "leaky"])
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_what_bent_mixings_leave_follows_though_there_is_noise(family, noise):
    x = standardised(sparse(2000, 3, family=family, bend=1.4, noise=noise).x)
    assert is_bent(x, 5) and follows(x, 5) > 0.1


@pytest.mark.parametrize("odd", [torch.sin, torch.tanh, lambda t: t**3], ids=["sine", "tanh", "cube"])
def test_bends_without_a_square_are_seen(odd):
    z = torch.randn(3000, 2, generator=torch.Generator().manual_seed(1))
    turned = z @ torch.linalg.qr(torch.tensor([[1.0, 2.0], [0.5, -1.0]]))[0]
    x = torch.cat([z, turned, odd(2 * turned)], 1)
    assert follows(standardised(x), 2) > 0.3


@pytest.mark.parametrize("seed", range(3))
def test_units_and_turns_of_all_columns_do_not_matter(seed):
    x = torch.as_tensor(sparse(4000, seed, n=3, d=6).x)
    turned = x @ torch.as_tensor(ortho_group.rvs(6, random_state=seed)) * 7 + 3
    assert follows(turned, 3) == approx(follows(x, 3), abs=0.1)  # signs of components meet other waves


def test_many_rows_and_as_many_components_as_columns_are_no_matter():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(30_000, 2))
    x = standardised(np.column_stack([z, z[:, 0] * z[:, 1], z.sum(1) ** 2]))
    assert is_bent(x, 2) and not is_bent(x, 4) and not is_bent(x, 5)
