"""Whether a mixing bends: what principal components leave follows from them, though not linearly."""

import torch
from jaxtyping import Float
from torch import Tensor

from ._units import left_by

_BENT = 0.06  # share of the variance that n directions leave; worlds of the papers' tables leave less
_FOLLOWS = 0.05  # share of what is left that follows from them; of noise nothing does
_ROWS, _WAVES, _FREQUENCY = 20_000, 300, 1.2  # the last of a wave, in standard deviations of its argument
_RIDGES = (0.003, 0.03, 0.3, 3.0, 30.0)


def is_bent(x: Float[Tensor, "n x"], n_components: int, least: float = _BENT) -> bool:
    """Whether so many directions leave more of standardised columns than a gentle bend does, a share `least`.

    Noise, too, is left by few directions, but does not follow from them.

    Examples
    --------
    >>> z = torch.randn(1000, 2, generator=torch.Generator().manual_seed(0))
    >>> straight = z @ torch.tensor([[1.0, 0.5, 0.0, -1.0], [0.0, 0.5, 1.0, 1.0]])
    >>> noise = torch.randn(1000, 4, generator=torch.Generator().manual_seed(1))
    >>> [is_bent(x, 2) for x in (straight, straight + torch.sin(2 * straight + 1), straight + noise)]
    [False, True, False]
    """
    if n_components >= x.shape[1] or left_by(x, n_components) <= least:
        return False
    return follows(x, n_components) > _FOLLOWS


def follows(x: Float[Tensor, "n x"], n_components: int) -> float:
    """Return the share of what principal components leave that smooth functions of them tell.

    These are sums of 300 waves in random directions, and judged on rows that they were not fitted to, so that
    the share is about 0 where nothing follows. The best of a few ridges counts. At most 20,000 rows, drawn at
    random, are looked at.

    Parameters
    ----------
    x : (n, x) tensor
    n_components : int

    Returns
    -------
    float
        At most 1; below 0 where predictions are worse than the mean.

    Examples
    --------
    >>> z = torch.randn(2000, 2, generator=torch.Generator().manual_seed(0))
    >>> bent = torch.cat([z, 0.3 * z.prod(1, keepdim=True)], 1)
    >>> follows(bent, 2) > 0.9, abs(follows(torch.cat([z, z.flip(0)], 1), 2)) < 0.01
    (True, True)
    """
    generator = torch.Generator().manual_seed(0)
    order = torch.randperm(len(x), generator=generator)[:_ROWS].to(x.device)
    rows = x[order].double()
    white, scale, axes = torch.linalg.svd(rows - rows.mean(0), full_matrices=False)
    left = white[:, n_components:] * scale[n_components:] @ axes[n_components:]
    components = white[:, :n_components] * len(rows) ** 0.5
    seen, asked = _waves(components, generator).tensor_split(2)
    known, hidden = left.tensor_split(2)
    values, turn = torch.linalg.eigh(seen.mT @ seen / len(seen))
    slopes = turn.mT @ (seen.mT @ known) / len(seen)
    errors = [
        (hidden - asked @ turn @ (slopes / (values + ridge)[:, None])).square().sum() for ridge in _RIDGES
    ]
    return float(1 - min(errors) / hidden.square().sum())


def _waves(components: Tensor, generator: torch.Generator) -> Tensor:
    """Return components and waves of them, each of mean 0 and variance 1."""
    n = components.shape[1]
    directions = torch.randn(n, _WAVES, generator=generator).to(components) * (_FREQUENCY / n**0.5)
    phases = 2 * torch.pi * torch.rand(_WAVES, generator=generator).to(components)
    functions = torch.cat([components, torch.cos(components @ directions + phases)], 1)
    return (functions - functions.mean(0)) / functions.std(0)
