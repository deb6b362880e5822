"""A process among others that fit together: `python together.py FOLDER`, with the environment of `torchrun`.

Everything is computed in double precision, so that what is left between one process and two is rounding.
"""

import os
import sys
import warnings
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

if __name__ == "__main__":  # who looks for doctests here keeps the precision that there is
    torch.set_num_threads(1)
    torch.set_default_dtype(torch.float64)
    single = torch.Tensor.float
    torch.float32, torch.Tensor.float, np.float32 = torch.float64, torch.Tensor.double, np.float64

sys.path.insert(0, str(Path(__file__).parent))

from sklearn.base import clone

import unmix
import unmix.estimators._cg_vae as cg_vae
import unmix.estimators._ivae as ivae
import unmix.estimators._pdgmm as pdgmm
from families import (
    DICTIONARIES,
    ESTIMATORS,
    IMAGE_MAKERS,
    IMAGE_READERS,
    TRANSFORMERS,
    SmallNetwork,
    label,
    quick,
)
from unmix._group import of_all, together
from unmix.nn import batch_norm_head
from unmix.solvers.sparse_rows import sparsest_rows
from unmix.training import Minibatches, minimise

if __name__ == "__main__":
    cg_vae.side_by_side = ivae.side_by_side = lambda *tensors: tensors  # records of four bytes an entry
    # rows are searched in single precision: on codes without their last digits
    pdgmm.sparsest_rows = lambda y, *given, **how: sparsest_rows(single(y).double(), *given, **how)

N_ROWS, BATCH = 301, 61  # neither can be halved


def data():
    rng = np.random.default_rng(0)
    u = np.arange(N_ROWS) % 3
    z = rng.laplace(size=(N_ROWS, 2)) * (1 + u[:, None] * [1.0, -0.3])
    x = np.tanh(z @ rng.normal(size=(2, 5))) + 0.5 * rng.normal(size=(N_ROWS, 5))
    return x, u


def smaller(estimator, **settings):
    """Return a copy with odd batches and few passes, with settings that it has."""
    known = estimator.get_params()
    return clone(estimator).set_params(**{name: v for name, v in settings.items() if name in known})


def members():
    """Yield names and estimators: with one restart rows are shared out, with two the restarts."""
    shared = {"max_iter": 5, "batch_size": BATCH, "lr": 0.02, "dead_after": 100, "device": "cpu"}
    for number, member in enumerate((*map(quick, ESTIMATORS), *TRANSFORMERS[1:], *DICTIONARIES)):
        for n_restarts in (1, 2) if "n_restarts" in member.get_params() else (1,):
            model = smaller(member, n_restarts=n_restarts, **shared)
            if isinstance(member, unmix.estimators.LabelledSparseAutoencoder):
                model.lr = 1e-4  # a bias before a batch norm moves by rounding alone, as far as this lets it
            yield f"{number} {label(member)} {n_restarts}", model
    yield "FastICA", smaller(TRANSFORMERS[0], precision="float64", tol=1e-12, device="cpu")


def more(x, folder):
    """Yield names, estimators and data: as many latents as variables, rows of a file, images."""
    shared = {"max_iter": 5, "batch_size": BATCH, "lr": 0.02, "random_state": 0, "device": "cpu"}
    networks = {"encoder": SmallNetwork(), "decoder": SmallNetwork()}
    yield "square", unmix.DiverseDictionaryLearning(5, n_restarts=1, **networks, **shared), x
    group = partial(unmix.penalties.dependency_sparsity, form="group_log", normalize="std")
    yield "group", unmix.DiverseDictionaryLearning(2, penalty=group, n_restarts=1, **networks, **shared), x
    yield "rows of a file", unmix.BetaVAE(2, **networks, **shared), folder / "x.npy"
    images = np.random.default_rng(0).integers(0, 255, (41, 8, 8, 1)).astype(np.uint8)
    normed = {"encoder": partial(mlp_of_images, out=False), "decoder": partial(mlp_of_images, out=True)}
    yield "images", unmix.Autoencoder(2, **normed, **(shared | {"batch_size": 13})), images
    drawing = {
        "orojar": partial(unmix.penalties.orojar, exact=False),
        "hessian": partial(unmix.penalties.hessian_penalty, exact=False),
        "moved": unmix.penalties.perturbation_sparsity,
    }
    for name, penalty in drawing.items():  # that draw numbers for every row
        yield name, unmix.Autoencoder(2, penalty=penalty, n_restarts=1, **networks, **shared), x


def generators():
    """Yield names, models that make images and images: batches that can be halved, and that can't be."""
    images = np.random.default_rng(0).integers(0, 255, (41, 8, 8, 3)).astype(np.uint8)
    for number, member in enumerate((*IMAGE_MAKERS, *IMAGE_READERS)):
        for batch_size in (8, 13) if number in (1, 6, 8) else (13,):
            # only differences of DisCo's codes count: a bias moves by rounding alone
            lr = 1e-4 if isinstance(member, unmix.DisCo) else 1e-3
            model = smaller(member, batch_size=batch_size, max_steps=6, ema=0.5, lr=lr, device="cpu")
            yield f"{number} {label(member)} {batch_size}", model, images


def mlp_of_images(n_in, n_out, *, out):
    """Return a network from images or to images that normalises over the batch."""
    if out:
        return nn.Sequential(nn.Linear(n_in, 64), nn.Unflatten(1, (8, 8, 1)))
    return nn.Sequential(nn.Flatten(), nn.Linear(64, n_out, bias=False), batch_norm_head(n_out))


def go_on(folder, until=None):
    """Train a little model, up to a step, from where others left it; return its weights in the end."""
    x, _ = data()
    w = torch.zeros(5, requires_grad=True)
    batches = Minibatches(torch.tensor(x), batch_size=BATCH, generator=torch.Generator().manual_seed(1))

    def stop(step, terms):
        if step == until:
            raise InterruptedError

    def loss(batch):
        y = batch[0] @ w
        return {"fit": (y - batch[0][:, 0]).square().mean(), "mean": of_all(y.mean()).square()}

    with together(), suppress(InterruptedError):
        how = {"n_steps": 30, "lr": 0.1, "checkpoint": folder, "checkpoint_every": 5, "on_step": stop}
        minimise(loss, {"w": w}, batches, **how)
    return w.detach().numpy()


def stopped_and_resumed(folder, world):
    """Begin by one process and end by two, and the other way round."""
    if world == "1":
        go_on(folder / "begun-by-one", until=12)
        return {"whole run": go_on(folder / "whole")}
    by_two = go_on(folder / "begun-by-one")
    go_on(folder / "begun-by-two", until=12)
    if os.environ["RANK"] != "0":
        return {"ended by two": by_two}
    os.environ["UNMIX_TOGETHER"] = "0"
    by_one = go_on(folder / "begun-by-two")
    del os.environ["UNMIX_TOGETHER"]
    return {"ended by two": by_two, "ended by one": by_one}


def trained_by(how, x):
    """Train a network by the one loop, or by torch's own class for this, and return its weights."""
    torch.manual_seed(1)
    network = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 5))
    if how == "loop":
        batches = Minibatches(x, batch_size=len(x), generator=torch.Generator())

        def loss(batch):
            return {"fit": (network(batch[0]) - batch[0]).square().mean()}

        with together():
            minimise(loss, network, batches, n_steps=50, lr=1e-2)
        return weights_of(network)
    model, rows = DistributedDataParallel(network), x[dist.get_rank() :: dist.get_world_size()]
    adam = torch.optim.Adam(model.parameters(), 1e-2)
    for _ in range(50):
        adam.zero_grad()
        (model(rows) - rows).square().mean().backward()
        adam.step()
    return weights_of(network)


def codes_of(model, x):
    codes = model.transform(x)
    return codes.toarray() if hasattr(codes, "toarray") else codes


def weights_of(network):
    return torch.cat([p.detach().flatten() for p in network.state_dict().values()]).numpy()


def main(folder):
    folder = Path(folder)
    x, u = data()
    rank, world = os.environ.get("RANK", "0"), os.environ.get("WORLD_SIZE", "1")
    found = stopped_and_resumed(folder, world)
    even = torch.tensor(x[:300])
    found |= {f"by {how}": trained_by(how, even) for how in ("loop", "ddp")[: int(world)]}
    every = [(name, model, x) for name, model in members()] + list(more(x, folder)) + list(generators())
    for name, model, given in every:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            beside = u if isinstance(given, Path) else u[: len(given)]
            found[name] = codes_of(model.fit(given, beside), given)
        if hasattr(model, "decoder_"):
            found[f"{name}: decoder"] = weights_of(model.decoder_)
    np.savez(folder / f"codes-{world}-{rank}.npz", **found)


if __name__ == "__main__":
    main(sys.argv[1])
