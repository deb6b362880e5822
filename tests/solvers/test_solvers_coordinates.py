import numpy as np
import pytest
import torch

from unmix.data import sparse_mixing
from unmix.metrics import mcc
from unmix.nn import mlp, residual_mlp
from unmix.objectives._vae import Objective
from unmix.solvers.coordinates._linear import (
    distinct_bases,
    has_linear_coordinates,
    principal,
    rebase,
    sparse_bases,
    start_linear,
)
from unmix.training._ensemble import Ensemble


@pytest.mark.parametrize("orthogonal", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_sparsest_basis_of_a_rotated_linear_mixing_is_the_true_one(seed, orthogonal):
    data = sparse_mixing(4000, 5, 15, mixing="linear", random_state=seed)
    x = torch.tensor((data.x - data.x.mean(0)) / data.x.std(0), dtype=torch.float32)
    loadings = principal(x, 5)
    basis = distinct_bases(loadings, torch.Generator().manual_seed(0), orthogonal=orthogonal)[0]
    codes = x @ (basis @ torch.linalg.pinv(loadings)).T
    assert mcc(data.z, codes.numpy()) > 0.99


def test_codes_keep_unit_variance_and_stay_uncorrelated_where_asked():
    generator = torch.Generator().manual_seed(0)
    rows, mix = torch.randn(2, 12, 4, generator=generator), torch.randn(2, 4, 4, generator=generator)
    covariance = mix @ mix.mT
    for orthogonal in (False, True):
        bases, costs = sparse_bases(rows, covariance, generator, orthogonal=orthogonal, n_starts=3)
        after = bases @ covariance.unsqueeze(1) @ bases.mT
        assert torch.allclose(after.diagonal(dim1=-2, dim2=-1), torch.ones(2, 3, 4), atol=1e-3)
        assert (costs.diff(dim=1) >= 0).all()
    assert torch.allclose(after, torch.eye(4).expand_as(after), atol=1e-2)


def members(n_members=2, encoder=residual_mlp, decoder=residual_mlp):
    torch.manual_seed(0)
    return [Objective(encoder(6, 6), decoder(3, 6), 3, variational=True) for _ in range(n_members)]


def test_rebasing_changes_the_coordinates_and_nothing_else():
    pair = members()
    for member in pair:
        torch.nn.init.normal_(member.encoder.residual[-1].weight, std=0.1)
        torch.nn.init.normal_(member.decoder.residual[-1].weight, std=0.1)
    ensemble, x = Ensemble(pair, {}), torch.randn(300, 6)

    def decoded(member, batch):
        return member.decoder(member.encode(batch))

    before, codes = ensemble.each(decoded, x), ensemble.each(Objective.encode, x)
    rebase(ensemble, (x,), torch.Generator().manual_seed(0))
    assert torch.allclose(ensemble.each(decoded, x), before, atol=1e-3)
    assert not torch.allclose(ensemble.each(Objective.encode, x), codes, atol=1e-2)


def test_networks_start_at_the_linear_model():
    x = torch.randn(500, 3) @ torch.randn(3, 6)
    loadings, basis = principal(x, 3), torch.linalg.qr(torch.randn(3, 3))[0]
    member = members(1)[0]
    start_linear(member, loadings, basis)
    centred = x - x.mean(0)
    assert torch.allclose(member.decoder(member.encode(centred)), centred, atol=1e-3)


def test_only_networks_with_linear_ends_can_change_coordinates():
    assert has_linear_coordinates(members(1)[0])
    assert not has_linear_coordinates(members(1, decoder=mlp)[0])


def test_few_of_many_starts_are_listed_and_the_sparsest_first():
    rows = torch.tensor(np.vstack([np.eye(3), 2 * np.eye(3)]), dtype=torch.float32)
    found = distinct_bases(rows, torch.Generator().manual_seed(0), orthogonal=True)
    assert 1 <= len(found) <= 8  # of 32 starts, all of which end in one basin
    assert torch.allclose(found[0].abs().sort().values, torch.tensor([0.0, 0.0, 1.0]).expand(3, 3), atol=1e-2)
