"""Components that do not follow from the others.

A code has surplus directions where networks bent it: components there are functions of several latents that
other components carry already. They are as little Gaussian as any, so that no contrast tells them apart, but
they are not independent: who sees the others can say what they are.
"""

import torch
from jaxtyping import Float
from torch import Tensor

_ROWS, _ASKED = 16_000, 4000  # rows that are looked at, and those of them that are predicted from the others
_NEIGHBOURS = 5


def distinct(y: Float[Tensor, "n z"], *, share: float = 0.5) -> list[int]:
    """Return the numbers of components of which at most a share follows from the others.

    Greedily: as long as the component that is predicted best by the others has R² > share, it is left out.
    Predictions are means over the five nearest rows by the other components, in units of their deviations.
    They are coarse on purpose: where nothing is noisy, a finer regression would read a component off its
    faintest traces in the others.

    Parameters
    ----------
    y : Tensor of shape (n_samples, n_components)
    share : float

    Returns
    -------
    list of int
        In the order of the components.

    Examples
    --------
    >>> a, b = torch.rand(2, 4000, generator=torch.Generator().manual_seed(0)) - 0.5
    >>> distinct(torch.stack([a, a * b, b], 1))
    [0, 2]
    """
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(0))[:_ROWS].to(y.device)
    spread = y.std(0, correction=0).clamp_min(torch.finfo(y.dtype).tiny)
    rows = ((y[order] - y.mean(0)) / spread).float()
    kept = [j for j in range(y.shape[1]) if bool(rows[:, j].std() > 0)]
    while len(kept) > 1:
        found = [followed(rows[:, [k for k in kept if k != j]], rows[:, j]) for j in kept]
        most = max(range(len(kept)), key=found.__getitem__)
        if found[most] <= share:
            break
        del kept[most]
    return kept


def followed(others: Float[Tensor, "n z"], y: Float[Tensor, " n"]) -> float:
    """Return the share of the variance of y, R², that its mean over the nearest rows by others explains.

    Examples
    --------
    >>> x = torch.linspace(-1, 1, 2000)[torch.randperm(2000, generator=torch.Generator().manual_seed(0))]
    >>> round(followed(x[:, None], x.square()), 2)
    1.0
    """
    asked = min(_ASKED, len(y) // 4)
    among, answers = others[asked:], y[asked:]
    parts = [
        answers[torch.cdist(part, among).topk(_NEIGHBOURS, largest=False).indices].mean(1)
        for part in others[:asked].split(500)
    ]
    return 1 - float((torch.cat(parts) - y[:asked]).square().mean() / y[:asked].var(correction=0))
