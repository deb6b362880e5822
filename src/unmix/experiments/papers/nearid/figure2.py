"""Leak, bi-Lipschitz constant and agreement of autoencoders (Figure 2), on digits.

Nelson et al. (2026), arXiv:2603.11970, Section 4.1: pairs of autoencoders with orthogonal layers and leaky
units, which differ in their seed alone. The smaller the leak, the further the decoder is from an isometry,
and the less the pair agrees after the best rotation. Raw x stands for principal components of the images
beside the first autoencoder: a pair that agrees no better learned no more than these. Images are
scikit-learn's digits, or MNIST where `--data` names a folder with its files. Widths, leaks, learning rate and
batches are ours, as the paper's are not known. Published values are in a plot only, so that there is nothing
to compare with.
"""

from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn.utils.parametrize import register_parametrization

from unmix.metrics import align
from unmix.nn import directional_bilipschitz, mlp
from unmix.training import Minibatches, minimise

from ...engine import RAW, ROTATION, Cell
from .._references import rotated
from ._images import digits

LEAKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
PAIR, MEAN = "pair of autoencoders", "predicting the mean"
IMAGES = {"smoke": 300, "laptop": 2000, "full": 60_000}
PASSES = {"smoke": 3, "laptop": 200, "full": 2000}
N_CODES, BATCH, PATIENCE = 16, 512, 50
SCORES = {"error": "rigid error", "K": "K, mean", "K max": "K, largest", "term": "√(2L + L²)"}

CELLS = (
    *(
        Cell(PAIR, f"leak {leak:g}", value=value, better="lower", settings={"method": PAIR, "leak": leak})
        for leak in LEAKS
        for value in SCORES.values()
    ),
    *(
        Cell(row, f"leak {leak:g}", value=f"rigid error of {row}", settings={"method": PAIR, "leak": leak})
        for leak in LEAKS
        for row in (MEAN, RAW, ROTATION)
    ),
)


def data_name(folder: str | None) -> str:
    """Say which images a run takes."""
    return "scikit-learn's digits" if folder is None else "MNIST"


def run(cell: Cell, seed: int, budget: str, data: str | None = None) -> dict[str, Any]:
    """Train the pair, and measure its agreement and how far its first decoder is from an isometry."""
    x = torch.as_tensor(digits(data, IMAGES[budget], seed), dtype=torch.float32)
    pair = [_autoencoder(x, cell.settings["leak"], 2 * seed + k, PASSES[budget]) for k in (0, 1)]
    with torch.no_grad():
        first, second = (model[0](x).double().numpy() for model in pair)
    found = align(first, second)
    at = torch.as_tensor(first[:1000], dtype=torch.float32)
    stretch = directional_bilipschitz(pair[0][1], at, random_state=seed)
    loose = max(stretch.mean - 1, 0.0)  # L of Theorem 1, from the mean over samples as in Figure 2
    return {
        SCORES["error"]: found.rigid,
        SCORES["K"]: stretch.mean,
        SCORES["K max"]: stretch.max,
        SCORES["term"]: (2 * loose + loose**2) ** 0.5,
        f"rigid error of {MEAN}": found.mean,
        f"rigid error of {RAW}": align(_principal(x), first).rigid,
        f"rigid error of {ROTATION}": align(first, rotated(first, seed)).rigid,
        "squared error": float(_squared_error(pair[0], x)),
    }


class _Orthonormal(nn.Module):
    """W -> Q of its QR decomposition, or of its transpose's: the maps of torch take far longer."""

    def forward(self, weight):
        """Take R with a positive diagonal, so that Q changes smoothly with W."""
        wide = weight.shape[0] < weight.shape[1]
        q, r = torch.linalg.qr(weight.mT if wide else weight)
        q = q * r.diagonal().sign()
        return q.mT if wide else q


def _autoencoder(x, leak, seed, n_passes):
    """Train encoder and decoder with three orthogonal layers each, without biases."""
    hidden = (256, 64) if x.shape[1] > 256 else (48, 32)
    layers = partial(mlp, activation=partial(nn.LeakyReLU, leak))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = nn.Sequential(
            layers(x.shape[1], N_CODES, hidden=hidden), layers(N_CODES, x.shape[1], hidden=hidden[::-1])
        )
    for layer in model.modules():
        if isinstance(layer, nn.Linear):
            layer.register_parameter("bias", None)
            register_parametrization(layer, "weight", _Orthonormal())
    per_pass = -(-len(x) // BATCH)
    minimise(
        lambda batch: {"reconstruction": _squared_error(model, batch[0])},
        model,
        Minibatches(x, batch_size=BATCH, generator=torch.Generator().manual_seed(seed)),
        n_steps=n_passes * per_pass,
        lr=1e-3,
        clip_norm=1.0,
        patience=PATIENCE * per_pass,
        progress=False,
    )
    return model.requires_grad_(False)


def _principal(x):
    """Return as many principal components of the images as there are codes."""
    centred = (x - x.mean(0)).double()
    return (centred @ torch.linalg.svd(centred, full_matrices=False)[2][:N_CODES].T).numpy()


def _squared_error(model, x):
    return (model(x) - x).square().mean()
