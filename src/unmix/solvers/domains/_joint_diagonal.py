"""Linear sources of several domains: the coordinates that make all covariance matrices diagonal."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

_SWEEPS = 100
_TOLERANCE = 1e-10


def domain_covariances(x: Float[Tensor, "n z"], u: Int[Tensor, " n"]) -> Float[Tensor, "u z z"]:
    """Return the covariance matrix of each domain."""
    z = x.shape[1]
    own = (x[u == domain] for domain in range(int(u.max()) + 1))
    return torch.stack([torch.cov(part.T, correction=0).reshape(z, z) for part in own])


def joint_diagonaliser(
    covariances: Float[Tensor, "u z z"], shares: Float[Tensor, " u"]
) -> Float[Tensor, "z z"]:
    """Return B such that all B C_u B^T are as diagonal as they can be at once, of mean variance 1.

    For x = A z with sources that are uncorrelated in each domain, C_u = A D_u A^T and B = A^{-1}, up to order
    and scale, wherever no two sources change in proportion. Two domains: the generalised eigenproblem, solved
    exactly. More: the maximum-likelihood criterion sum_u share_u log(det diag(B C_u B^T) / det(B C_u B^T)),
    by sweeps over pairs from such a start.

    Examples
    --------
    >>> A = torch.tensor([[1., 0.5], [0.3, 1.]], dtype=torch.float64)
    >>> D = torch.tensor([[1., 2.], [3., 0.5]], dtype=torch.float64)
    >>> B = joint_diagonaliser(A @ torch.diag_embed(D) @ A.T, torch.ones(2, dtype=torch.float64) / 2)
    >>> (B @ A).round(decimals=6).count_nonzero().item()
    2

    References
    ----------
    Pham (2001), Joint approximate diagonalization of positive definite Hermitian matrices, SIAM Journal on
    Matrix Analysis and Applications 22, Section 2.
    """
    basis = _generalised(covariances, shares)
    if len(covariances) > 2:
        basis = _swept(basis, covariances, shares)
    variance = torch.einsum("u,uii->i", shares, basis @ covariances @ basis.T)
    return basis * variance.rsqrt()[:, None]


def _generalised(covariances: Tensor, shares: Tensor) -> Tensor:
    """Diagonalise the mean covariance and the one that differs most from it."""
    mean = torch.einsum("u,uij->ij", shares, covariances)
    eye = torch.eye(len(mean)).to(mean)
    root = torch.linalg.inv(torch.linalg.cholesky(mean + 1e-9 * mean.diagonal().mean() * eye))
    white = root @ covariances @ root.T
    odd = white[(white - eye).square().sum((1, 2)).argmax()]
    return torch.linalg.eigh(odd)[1].T @ root


def _swept(basis: Tensor, covariances: Tensor, shares: Tensor) -> Tensor:
    basis, eye = basis.clone(), torch.eye(2).to(basis)
    for _ in range(_SWEEPS):
        moved = 0.0
        for i in range(len(basis)):
            for j in range(i):
                turn = _pair_step(basis[[i, j]] @ covariances @ basis[[i, j]].T, shares)
                basis[[i, j]] = turn @ basis[[i, j]]
                moved = max(moved, float((turn - eye).abs().max()))
        if moved < _TOLERANCE:
            break
    return basis


def _pair_step(c: Float[Tensor, "u 2 2"], shares: Tensor) -> Float[Tensor, "2 2"]:
    """Return Pham's update of two rows, from their covariances."""
    first, second, cross = c[:, 0, 0], c[:, 1, 1], c[:, 0, 1]
    g12, g21 = (shares * cross / first).sum(), (shares * cross / second).sum()
    w12, w21 = (shares * second / first).sum(), (shares * first / second).sum()
    size, ratio = (w12 * w21).sqrt(), (w21 / w12).sqrt()
    plus = (ratio * g12 + g21) / (size + 1)
    minus = (ratio * g12 - g21) / (size - 1).clamp(min=1e-9)
    h12, h21 = plus + minus, (plus - minus) / ratio
    shrink = 1 + (1 - h12 * h21).clamp(min=0).sqrt()  # keeps the update invertible
    one = torch.ones_like(h12)
    return torch.stack([torch.stack([one, -h12 / shrink]), torch.stack([-h21 / shrink, one])])
