"""Fits that begin at the truth: what an objective keeps of it is the best that a search could find."""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from unmix.nn import residual_mlp
from unmix.objectives import Objective
from unmix.training import Noise, Pace, device, train_restarts

_STEPS, _BATCH, _RATE = 1500, 500, 2e-3


def told(
    encoder: nn.Module, decoder: nn.Module, x: Tensor, z: Tensor, seed: int, n_steps: int = _STEPS
) -> None:
    """Train networks on pairs of observations and latents, both standardised."""
    generator = torch.Generator().manual_seed(seed)
    parameters = [*encoder.parameters(), *decoder.parameters()]
    optimiser = torch.optim.Adam(parameters, _RATE)
    for step in range(n_steps):
        optimiser.param_groups[0]["lr"] = _RATE * 0.5 * (1 + math.cos(math.pi * step / n_steps))
        some = torch.randint(len(x), (min(_BATCH, len(x)),), generator=generator)
        there = (encoder(x[some])[:, : z.shape[1]] - z[some]).square().mean()
        back = (decoder(z[some]) - x[some]).square().mean()
        optimiser.zero_grad()
        (there + back).backward()
        optimiser.step()


def from_truth(
    model: Any, x: np.ndarray, z: np.ndarray, weights: dict[str, float], seed: int
) -> dict[str, Any]:
    """Start the objective of a dictionary at the truth, train on, and return codes of both moments.

    Parameters
    ----------
    model : DiverseDictionaryLearning
        Not fitted.
    x, z : arrays
    weights : dict
        Of the terms.

    Returns
    -------
    dict
        "told": codes of an encoder that was shown the latents; "kept": those after training without them.
    """
    observed, latents = _white(x), _white(z)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        member: Objective = model._plain(x.shape[1]).to(observed.device)
    told(member.encoder, member.decoder, observed, latents, seed, min(_STEPS, 20 * model.max_iter))
    first = member.encode(observed).detach().cpu().numpy()
    pace = Pace(model.max_iter, model.batch_size, model.lr, seed)
    trained = train_restarts([member], weights, observed, pace, beside=Noise(z.shape[1]))
    return {"told": first, "kept": trained.objective.encode(observed).detach().cpu().numpy()}


def read_off(x: np.ndarray, z: np.ndarray, seed: int, n_steps: int) -> np.ndarray:
    """Return latents as a network reads them off observations, after it was shown them."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        encoder, decoder = residual_mlp(x.shape[1], z.shape[1]), residual_mlp(z.shape[1], x.shape[1])
    observed, latents = _white(x), _white(z)
    encoder, decoder = encoder.to(observed.device), decoder.to(observed.device)
    told(encoder, decoder, observed, latents, seed, n_steps)
    with torch.no_grad():
        return encoder(observed).cpu().numpy()


def _white(values: np.ndarray) -> Tensor:
    white = (values - values.mean(0)) / values.std(0)
    return torch.as_tensor(white, dtype=torch.float32).to(device())
