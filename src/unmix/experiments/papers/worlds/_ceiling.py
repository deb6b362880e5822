"""Fits that begin at the truth: what an objective keeps of it is the best that a search could find."""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from unmix.estimators._effort import for_smooth
from unmix.estimators._pdgmm import WIDTHS
from unmix.estimators._slot_autoencoder import WEIGHT_SCALE
from unmix.nn import residual_mlp
from unmix.objectives import Objective
from unmix.solvers.coordinates import better_units, principal, whitening
from unmix.solvers.sparse_rows import fit_spikes
from unmix.training import Noise, Pace, Width, device, shrinking, side_by_side, train_restarts

_STEPS, _BATCH, _RATE = 1500, 500, 2e-3


class Kept(NamedTuple):
    """Codes of networks that were shown the latents, codes after training without them, its objective."""

    told: np.ndarray
    codes: np.ndarray
    objective: float


def told(
    encoder: nn.Module, decoder: nn.Module, seen: Tensor, x: Tensor, z: Tensor, seed: int, n_steps: int
) -> None:
    """Train networks on what the encoder sees, observations and latents."""
    generator = torch.Generator().manual_seed(seed)
    parameters = [*encoder.parameters(), *decoder.parameters()]
    optimiser = torch.optim.Adam(parameters, _RATE)
    for step in range(n_steps):
        optimiser.param_groups[0]["lr"] = _RATE * 0.5 * (1 + math.cos(math.pi * step / n_steps))
        some = torch.randint(len(x), (min(_BATCH, len(x)),), generator=generator)
        there = (encoder(seen[some])[:, : z.shape[1]] - z[some]).square().mean()
        back = (decoder(z[some]) - x[some]).square().mean()
        optimiser.zero_grad()
        (there + back).backward()
        optimiser.step()


def from_truth(model: Any, x: np.ndarray, z: np.ndarray, seed: int) -> Kept:
    """Start a dictionary at the truth, in the units in which it reads the columns, with its own terms.

    Parameters
    ----------
    model : DiverseDictionaryLearning
        Not fitted.
    x, z : arrays

    Returns
    -------
    Kept
    """
    observed = _white(x)
    warp = better_units(observed, z.shape[1])
    start = _Start(model, observed if warp is None else warp(observed), _white(z), seed)
    model.bent_ = model._follows_bends(start.x, start.pace)
    if model.bent_:
        start.pace = for_smooth(start.pace, len(x))
    return start.kept(model._plain, (start.x,), model._weights(x.shape[1]))


def domains_from_truth(model: Any, x: np.ndarray, u: np.ndarray, z: np.ndarray, seed: int) -> Kept:
    """Start a `CGVAE` at the truth, with the laws that the latents have in each domain."""
    order = np.random.default_rng(seed).permutation(len(x))  # fits are judged on all domains
    back = np.argsort(order)
    start = _Start(model, _white(x[order]), _white(z[order]), seed)
    domains = torch.as_tensor(u[order], dtype=torch.int32, device=start.x.device)
    model.domain_shares_ = np.bincount(u) / len(u)
    start.pace = model._paced(start.x, start.pace)
    seen = model._view(start.x, torch.linalg.pinv(principal(start.x, z.shape[1])), start.pace)
    n_seen = start.x.shape[1] if model.reads_all_ else seen.shape[1]

    def laws(member: Any) -> None:
        member.prior.start(member.encode(seen, domains), domains)

    weights = {"likelihood": model.beta, "penalty": model.weight}
    data = side_by_side(seen, start.x, domains)
    kept = start.kept(model._members, data, weights, prepare=laws, n_seen=n_seen)
    return kept._replace(told=kept.told[back], codes=kept.codes[back])


def slots_from_truth(
    model: Any, x: np.ndarray, slot_of: np.ndarray, z: np.ndarray, seed: int, *, n_fit: int
) -> Kept:
    """Start a `SlotAutoencoder` at the truth, with the true slots; only the first samples are fitted."""
    model.slot_of_ = slot_of
    start = _Start(model, _white(x), _white(z), seed, n_fit)
    return start.kept(model._networks, (start.x,), {"penalty": model.weight, "scale": WEIGHT_SCALE})


def mixture_from_truth(model: Any, x: np.ndarray, z: np.ndarray, seed: int) -> Kept:
    """Start a `PDGMM` at the truth, whose values of rest are 0; the second stage follows."""
    observed = _white(x).double()
    seen = whitening(observed, z.shape[1])[0](observed).float()
    start = _Start(model, seen, torch.as_tensor(z / z.std(0)).to(seen), seed)

    def law(member: Any) -> None:
        spikes = fit_spikes(member.encode(seen).double())
        member.prior.start(spikes.mass, spikes.mean, spikes.spread)

    n_steps = start.pace.steps(len(x))
    beside = Width(shrinking(*WIDTHS, n_steps))
    kept = start.kept(model._square, (seen,), {"likelihood": model.weight}, prepare=law, beside=beside)
    codes = torch.as_tensor(kept.codes, dtype=torch.float64)
    head = model._coordinates(codes, torch.Generator().manual_seed(seed))
    return kept._replace(codes=head(codes).numpy())


class _Start:
    """What a fit that begins at the truth has: the model's settings, observations, latents and a pace."""

    def __init__(self, model: Any, x: Tensor, z: Tensor, seed: int, n_fit: int | None = None) -> None:
        self.x, self.z, self.seed = x, z, seed
        self.n_fit = len(x) if n_fit is None else n_fit
        self.pace = Pace(model._passes(self.n_fit), model.batch_size, model.lr, seed)

    def kept(
        self,
        make: Callable[[int], Any],
        data: tuple[Tensor, ...],
        weights: Mapping[str, Any],
        *,
        prepare: Callable[[Any], None] | None = None,
        beside: Noise | Width | None = None,
        n_seen: int | None = None,
    ) -> Kept:
        """Show networks the latents, then train them on data without; encoders may see `n_seen` columns."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            member: Objective = make(self.x.shape[1]).to(self.x.device)
        n_steps = min(_STEPS, 20 * self.pace.max_iter)
        few = tuple(part[: self.n_fit] for part in data)
        seen = data[0][:, :n_seen]
        shown = (seen[: self.n_fit], self.x[: self.n_fit], self.z[: self.n_fit])
        told(member.encoder, member.decoder, *shown, self.seed, n_steps)
        with torch.no_grad():
            if prepare is not None:
                prepare(member)
        first = _codes(member, seen, self.z.shape[1])
        noise = Noise(self.z.shape[1]) if beside is None else beside
        trained = train_restarts([member], weights, few, self.pace, beside=noise)
        return Kept(first, _codes(trained.objective, seen, self.z.shape[1]), float(trained.scores[0]))


@torch.no_grad()
def _codes(member: Any, seen: Tensor, n: int) -> np.ndarray:
    return member.encoder(seen)[:, :n].cpu().numpy()


def read_off(x: np.ndarray, z: np.ndarray, seed: int, n_steps: int) -> np.ndarray:
    """Return latents as a network reads them off observations, after it was shown them."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        encoder, decoder = residual_mlp(x.shape[1], z.shape[1]), residual_mlp(z.shape[1], x.shape[1])
    observed, latents = _white(x), _white(z)
    encoder, decoder = encoder.to(observed.device), decoder.to(observed.device)
    told(encoder, decoder, observed, observed, latents, seed, n_steps)
    with torch.no_grad():
        return encoder(observed).cpu().numpy()


def _white(values: np.ndarray) -> Tensor:
    white = (values - values.mean(0)) / values.std(0)
    return torch.as_tensor(white, dtype=torch.float32).to(device())
