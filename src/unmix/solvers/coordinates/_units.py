"""Units in which a table is linear: whether columns are skewed so much that normal scores serve better."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from unmix.nn import Warp

KNOTS = 65
_WIDEST = 3.2  # standard deviations at which the first and the last knot stand
_GAIN = 0.05  # share of the variance that n directions must explain beyond what they explain of x as it is
_LEFT = 0.6  # and how much of what they leave may be left in the new units


def better_units(x: Float[Tensor, "n x"], n_components: int) -> Warp | None:
    """Return normal scores of each column, where as many directions as latents explain far more of those.

    A linear map of latents, read in skewed units (exponentials, cubes), needs more directions than there are
    latents. In units in which each column is normal it does not. Bends that latents share can't be undone
    that way, so that the test says nothing about them.

    Parameters
    ----------
    x : (n, x) tensor
        Standardised columns.
    n_components : int
        With as many latents as columns nothing is left, and nothing can be told.

    Returns
    -------
    Warp or None

    Examples
    --------
    >>> z = torch.randn(2000, 2, generator=torch.Generator().manual_seed(0))
    >>> x = z @ torch.tensor([[1.0, 0.5, 0.0, -1.0], [0.0, 0.5, 1.0, 1.0]])
    >>> better_units(x, 2) is None, better_units(x.exp(), 2) is None
    (True, False)
    """
    if n_components >= x.shape[1] or len(x) < 2 * KNOTS:
        return None
    warp = normal_scores(x)
    before, after = left_by(x, n_components), left_by(warp(x), n_components)
    return warp if before - after > _GAIN and after < _LEFT * before else None


def normal_scores(x: Float[Tensor, "n x"]) -> Warp:
    """Return the increasing functions that make columns normal; those with many ties stay as they are."""
    scores = torch.linspace(-_WIDEST, _WIDEST, KNOTS, dtype=torch.float64, device=x.device)
    chances = 0.5 * (1 + torch.erf(scores / math.sqrt(2)))
    ordered = x.double().sort(0).values
    place = chances * (len(x) - 1)
    low = place.floor().long()
    at = torch.lerp(ordered[low], ordered[(low + 1).clamp_max(len(x) - 1)], (place - low)[:, None]).T.to(x)
    to = scores.to(x).expand(x.shape[1], -1)
    tied = (at.diff(dim=1) <= 0).any(1, keepdim=True)
    return Warp(x.shape[1], KNOTS).placed(torch.where(tied, to, at), to)


def left_by(x: Float[Tensor, "n x"], n_components: int) -> float:
    """Return the share of the variance of standardised columns that so many directions leave."""
    values = torch.linalg.eigvalsh(torch.corrcoef(x.double().T))
    return float(values[:-n_components].clamp_min(0).sum() / values.sum())
