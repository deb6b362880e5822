"""Where to compute."""

import torch


def device(name: str | torch.device = "auto") -> torch.device:
    """Return the device to train on: the named one, or the fastest that is present.

    Parameters
    ----------
    name : str or torch.device, default="auto"
        "auto" takes CUDA where there is one, else the CPU. Anything else is read by torch.

    Returns
    -------
    torch.device

    Examples
    --------
    >>> device("cpu")
    device(type='cpu')
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        found = torch.device(name)
    except (RuntimeError, TypeError) as error:
        raise ValueError(f'`device` must be "auto", "cpu" or "cuda", got {name!r}. Use "auto".') from error
    if found.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(
            f'`device` must be present, got {name!r} without a CUDA device. Use "auto" or "cpu".'
        )
    return found
