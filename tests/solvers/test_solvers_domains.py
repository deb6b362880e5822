"""Joint diagonalisers and hops: sources of exact covariances, and what edges undo."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import eigh

from unmix.data import multi_domain
from unmix.estimators import CGVAE
from unmix.metrics import mcc
from unmix.penalties import dependency_sparsity
from unmix.solvers.coordinates._linear import principal
from unmix.solvers.domains._hops import hops, still_bases
from unmix.solvers.domains._joint_diagonal import domain_covariances, joint_diagonaliser
from unmix.solvers.domains._starts import sparse_diagonalisers, start_at_basis


@pytest.fixture(scope="module")
def linear_data():
    return multi_domain(6000, 3, 3, mixing="linear", changes="variances", profile="square", random_state=3)


@given(seed=st.integers(0, 10_000), n=st.integers(2, 5), n_domains=st.integers(2, 6))
def test_joint_diagonaliser_finds_the_sources_of_exact_covariances(seed, n, n_domains):
    rng = np.random.default_rng(seed)
    A, D = rng.normal(size=(n, n)) + 2 * np.eye(n), rng.uniform(0.2, 3, size=(n_domains, n))
    C = torch.from_numpy(np.stack([A @ np.diag(d) @ A.T for d in D]))
    B = joint_diagonaliser(C, torch.full((n_domains,), 1 / n_domains, dtype=torch.float64)).numpy()
    for c in C.numpy():
        d = B @ c @ B.T
        assert np.abs(d - np.diag(np.diag(d))).max() < 1e-5
    np.testing.assert_allclose(np.mean([np.diag(B @ c @ B.T) for c in C.numpy()], 0), 1, rtol=1e-8)


def test_two_domains_give_the_generalised_eigenvectors(linear_data):
    x, u = torch.from_numpy(linear_data.x.copy()), torch.from_numpy(linear_data.u.copy())
    C = domain_covariances(x, u)
    ours = joint_diagonaliser(C, torch.tensor([0.5, 0.5], dtype=torch.float64)).numpy()
    oracle = eigh(C[0].numpy(), (C[0] + C[1]).numpy())[1].T
    cosines = np.abs(
        (ours / np.linalg.norm(ours, axis=1)[:, None]) @ (oracle / np.linalg.norm(oracle, axis=1)[:, None]).T
    )
    np.testing.assert_allclose(cosines.max(1), 1, atol=1e-10)


def test_copies_in_other_coordinates_decode_alike():
    data = multi_domain(2000, 3, mixing="linear", random_state=0)
    x = torch.from_numpy((data.x - data.x.mean(0)) / data.x.std(0)).float()
    u = torch.from_numpy(data.u.copy())
    A = principal(x, 3)
    w = x @ torch.linalg.pinv(A).T
    model = CGVAE(3)
    model.domain_shares_ = np.array([0.5, 0.5])
    member = model._members(6)
    start_at_basis(
        member,
        torch.linalg.qr(torch.randn(3, 3, generator=torch.Generator().manual_seed(0)))[0],
        torch.eye(3),
        A,
    )
    found = hops(member, (w, x, u), 0.01, torch.Generator().manual_seed(0))
    sparsity = [model.penalty(m.decoder, m.encode(w, u)).item() for m in found]
    for copy in found[1:]:
        torch.testing.assert_close(copy.decoder(copy.encoder(w)), member.decoder(member.encoder(w)))
        torch.testing.assert_close(copy.encode(w, u).std(0), torch.ones(3), atol=1e-3, rtol=0)
    assert found[0] is member and max(sparsity[1:3]) < 0.9 * sparsity[0]
    assert sparsity[2] < sparsity[1] + 1e-3  # what sparsity costs more for is at least as sparse
    counted = [
        dependency_sparsity(m.decoder, m.encode(w[:100], u[:100]), form="log", knee=0.01).item()
        for m in found[3:]
    ]
    assert 4 <= len(found) <= 8 and counted == sorted(counted)  # pairs, the sparsest first


@given(seed=st.integers(0, 10_000), angle=st.floats(0.3, 1.2))
def test_a_missing_edge_undoes_a_rotation_of_nested_latents(seed, angle):
    """z2 has all children of z3 and two more; the direction in which these do not move is that of z3."""
    rng = np.random.default_rng(seed)
    A = rng.uniform(0.5, 1.5, (5, 3)) * np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 1], [0, 1, 1]])
    turn = np.eye(3)
    turn[1:, 1:] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    scales = [np.diag([1.0, 1.5, 0.4]), np.diag([1.0, 0.5, 1.6])]  # pooled: the identity
    covariances = torch.from_numpy(np.stack([turn @ c @ turn.T for c in scales]))
    J = torch.from_numpy(A @ turn.T)[None]
    half = torch.tensor([0.5, 0.5], dtype=torch.float64)
    bases = still_bases(J, covariances, half, covariances.mean(0)).numpy()
    sizes = [np.abs(B @ turn) for B in bases]  # the truth: one entry in each row and column
    assert (
        min(np.abs(np.sort(size, axis=1)[:, :2]).max() for size in sizes) < 0.06
    )  # angles are 3 degrees apart
    for B in bases:
        np.testing.assert_allclose(np.diag(B @ covariances.mean(0).numpy() @ B.T), 1)
        assert ((np.abs(J[0].numpy() @ np.linalg.inv(B)) < 1e-9) & (np.abs(J[0].numpy()) > 1e-3)).any()


def test_latents_with_children_of_their_own_have_no_other_directions():
    J = torch.tensor([[[1.0, 0.0], [0.7, 0.0], [0.0, 1.0]]], dtype=torch.float64)
    C = torch.eye(2, dtype=torch.float64)
    assert still_bases(J, C[None], torch.ones(1, dtype=torch.float64), C).shape == (0, 2, 2)


def test_one_gaussian_domain_cannot_tell_what_two_can():
    """x1 = z1 + z2, x2 = z2: with equal variances a rotation fits as well and is as sparse."""
    rng = np.random.default_rng(0)
    A = np.array([[1.0, 1.0], [0.0, 1.0]])
    rotated = np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2)
    one = [np.eye(2)]
    two = [np.eye(2), np.diag([4.0, 0.25])]

    def dependence(covariances, basis):
        return max(abs((basis @ c @ basis.T)[0, 1]) for c in covariances)

    assert dependence(one, rotated) == pytest.approx(0) and dependence(two, rotated) > 1
    mixing = A @ rotated.T
    assert (np.abs(mixing) > 1e-12).sum() == (A != 0).sum() == 3
    z = rng.normal(size=(4000, 2)) * np.where(np.arange(4000)[:, None] % 2, [2.0, 0.5], 1.0)
    model = CGVAE(2, max_iter=1, n_restarts=1, random_state=0).fit(z @ A.T, np.arange(4000) % 2)
    assert mcc(z, model.transform(z @ A.T)) > 0.99


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_sources_that_depend_alike_in_all_domains_are_found_if_they_may(seed):
    rng, n, n_domains = np.random.default_rng(seed), 3, 6
    A, D = rng.normal(size=(n, n)) + 2 * np.eye(n), rng.uniform(0.3, 3, size=(n_domains, n))
    R = 0.5 * np.eye(n) + 0.5
    C = torch.from_numpy(np.stack([A @ np.diag(d) @ R @ np.diag(d) @ A.T for d in D]))
    shares = torch.full((n_domains,), 1 / n_domains, dtype=torch.float64)
    price = torch.zeros(1, dtype=torch.float64)

    def wrong(correlated):
        generator = torch.Generator().manual_seed(0)
        rows = torch.from_numpy(A)
        bases, _ = sparse_diagonalisers(
            *(rows, 1, C, shares, C.mean(0), price, generator), correlated=correlated
        )
        mixed = np.abs(bases[0, 0].numpy() @ A)
        return 1 - (mixed.max(1) / mixed.sum(1)).min()

    assert wrong(correlated=True) < 0.1 < wrong(correlated=False)
