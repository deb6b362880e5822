"""Directions of a code that are linear functions of the data.

A code has more directions than its factors need, and networks fill the others with bent functions of several
factors at once, such as products. They are as little Gaussian as any direction, so that ICA takes them for
components, or turns the right ones into them. But data are often nearly a sum of what factors do, each on
its own: a pixel of the floor has a colour that the hue of the floor sets and no other. What a single factor
does is then a linear function of the data, and a product of two is not.
"""

import torch
from jaxtyping import Float
from torch import Tensor

_RIDGE = 1e-3  # of the mean variance of the data
_FLAT = 1e-12  # share of the largest variance below which a direction of the code is none


def linear_part(
    codes: Float[Tensor, "n z"], x: Float[Tensor, "n x"], *, share: float = 0.75
) -> Float[Tensor, "z k"]:
    """Return the directions of codes of which more than a share of the variance is linear in the data.

    With codes brought to unit covariance, y, and p the prediction of y by ridge regression on x, each half of
    the rows predicted from the other, they are the eigenvectors of cov(y - p) with eigenvalues below
    1 - share: canonical correlations, judged on rows that took no part.

    Parameters
    ----------
    codes : Tensor of shape (n_samples, n_codes)
    x : Tensor of shape (n_samples, n_features)
        The data, or what is left of them at a lower resolution.
    share : float

    Returns
    -------
    Tensor of shape (n_codes, n_directions)
        A column for each direction, that told best first; the best one in any case. Codes along them are
        uncorrelated and have variance 1.

    Examples
    --------
    >>> a, b = torch.rand(2, 4000, generator=torch.Generator().manual_seed(0)) - 0.5
    >>> codes, x = torch.stack([a, b, a * b], 1), torch.stack([a, a + b], 1)
    >>> found = linear_part(codes, x)
    >>> found.shape, bool((codes.std(0)[:, None] * found).abs()[2].max() < 0.1)
    (torch.Size([3, 2]), True)

    References
    ----------
    Hotelling (1936), Relations between two sets of variates, Biometrika 28.
    """
    codes, x = (part.double() - part.double().mean(0) for part in (codes, x))
    variances, axes = torch.linalg.eigh(codes.mT @ codes / len(codes))
    used = variances > _FLAT * variances.max()
    white = axes[:, used] / variances[used].sqrt()
    y = codes @ white
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(0)).to(y.device)
    halves = order[::2], order[1::2]
    left = torch.cat(
        [y[there] - x[there] @ _ridge(x[here], y[here]) for here, there in (halves, halves[::-1])]
    )
    unexplained, directions = torch.linalg.eigh(left.mT @ left / len(left))
    kept = unexplained < 1 - share
    kept[0] = True
    return white @ directions[:, kept]


def _ridge(x: Tensor, y: Tensor) -> Tensor:
    """Return the coefficients of y on x, which shrink by as much for any units of x."""
    moments = x.mT @ x / len(x)
    ridge = (_RIDGE * moments.trace() / len(moments)).clamp_min(torch.finfo(x.dtype).tiny)
    return torch.linalg.solve(moments + ridge * torch.eye(len(moments)).to(moments), x.mT @ y / len(x))
