"""A basis of independent components, where all latents but one are far from normal."""

import torch
from jaxtyping import Float
from torch import Tensor

from unmix import _ica

_KURTOSIS = 0.7  # of all but one component; bends of normal latents reach 0.6
_ERRORS = 5.0  # standard errors of the kurtosis of a normal sample


def independent_basis(white: Float[Tensor, "n z"]) -> Float[Tensor, "z z"] | None:
    """Return a rotation of white codes to independent components, or None where some look normal.

    A linear map of independent latents is found by their laws if at most one of them is normal. With as many
    latents as observed variables that says more than sparsity, since a copy of x has the fewest dependencies
    of all.

    Parameters
    ----------
    white : (n, z) tensor
        Centred, uncorrelated and of unit variance.

    Returns
    -------
    (z, z) tensor or None

    Examples
    --------
    >>> z = torch.rand(5000, 3, generator=torch.Generator().manual_seed(0)) * 12**0.5 - 3**0.5
    >>> turn = torch.linalg.qr(torch.randn(3, 3, generator=torch.Generator().manual_seed(1)))[0]
    >>> found = independent_basis(z @ turn) @ turn.T
    >>> [round(entry, 1) for entry in found.abs().max(1).values.tolist()]
    [1.0, 1.0, 1.0]
    >>> independent_basis(torch.randn(5000, 3, generator=torch.Generator().manual_seed(0))) is None
    True

    References
    ----------
    Comon (1994), Independent component analysis, a new concept?, Theorem 11.
    """
    values = white.double().cpu().numpy()
    values = values - values.mean(0)
    found = _ica.components(values, random_state=0)
    codes = values @ found.unmix
    if codes.shape[1] < white.shape[1] or not found.settled:
        return None
    kurtosis = abs((codes**4).mean(0) / (codes**2).mean(0) ** 2 - 3)
    least = max(_KURTOSIS, _ERRORS * (24 / len(codes)) ** 0.5)
    if (kurtosis > least).sum() < codes.shape[1] - 1:
        return None
    return torch.as_tensor(found.unmix.T).to(white)
