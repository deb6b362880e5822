"""Units and laws that tell latents: what is found where they do, and nothing where they do not."""

import numpy as np
import pytest
import torch

from unmix.data import sparse_mixing
from unmix.experiments.papers.trust._worlds_sparse import FAMILIES
from unmix.solvers.coordinates import better_units, independent_basis, left_by, normal_scores, principal

READ = {
    "exponentials": torch.exp,
    "cubes": lambda x: x**3,
    "squared exponentials": lambda x: torch.exp(1.5 * x),
}


def standardised(x):
    x = torch.as_tensor(np.asarray(x), dtype=torch.float32)
    return (x - x.mean(0)) / x.std(0)


@pytest.mark.parametrize("name", READ)
def test_normal_scores_do_not_depend_on_the_units_of_columns(name):
    x = standardised(sparse_mixing(3000, 3, mixing="tanh", random_state=0).x)
    read = READ[name](x)
    there = normal_scores(standardised(read))(standardised(read))
    assert (there - normal_scores(x)(x)).abs().quantile(0.99) < 0.05


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("seed", range(3))
def test_skewed_units_are_seen(name, seed):
    x = standardised(sparse_mixing(2000, 5, mixing="tanh", random_state=seed).x)
    read = standardised(READ[name](x))
    warp = better_units(read, 5)
    assert warp is not None
    assert left_by(warp(read), 5) < 0.6 * left_by(read, 5)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "world",
    [
        {},
        *({"latents": law} for law in ("laplace", "uniform", "dependent")),
        *({"profile": profile} for profile in ("dense", "square")),
        {"nonlinearity": 1.0},
        {"noise": 0.1},
        {"mixing": "tanh"},
        {"n_latents": 10},
    ],
    ids=str,
)
def test_the_worlds_of_the_tables_keep_their_units(world, seed):
    data = sparse_mixing(2000, random_state=seed, **world)
    assert better_units(standardised(data.x), data.z.shape[1]) is None


@pytest.mark.parametrize("family", [f for f in FAMILIES if "skewed" not in f.name], ids=lambda f: f.name)
def test_the_worlds_of_the_calibration_keep_their_units(family):
    for seed in range(3):
        data = family.draw(2000, seed)
        assert better_units(standardised(data.x), data.z.shape[1]) is None


def test_columns_with_many_ties_keep_their_units():
    x = standardised(np.random.default_rng(0).poisson(0.5, (1000, 2)))
    warp = normal_scores(x)
    torch.testing.assert_close(warp(x), x)


def test_few_rows_tell_nothing_about_units():
    assert better_units(torch.exp(torch.randn(100, 4)), 2) is None


@pytest.mark.parametrize("n", [3, 5, 8])
@pytest.mark.parametrize("seed", range(3))
def test_bends_of_normal_latents_are_no_laws(n, seed):
    x = standardised(sparse_mixing(10_000, n, profile="square", random_state=seed).x)
    assert independent_basis(x @ torch.linalg.pinv(principal(x, n)).T) is None


def test_one_normal_latent_may_be_among_the_others():
    rng = np.random.default_rng(0)
    z = torch.as_tensor(np.c_[rng.normal(size=5000), rng.laplace(size=(5000, 2))], dtype=torch.float32)
    white = (z - z.mean(0)) / z.std(0)
    found = independent_basis(white)
    assert found is not None
    assert sorted(found.abs().argmax(1).tolist()) == [0, 1, 2]
    assert independent_basis(torch.randn(5000, 3, generator=torch.Generator().manual_seed(0))) is None
