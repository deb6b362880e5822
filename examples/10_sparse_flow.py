"""A normalising flow of small pictures, with and without sparse dependencies, and what single latents move.

python examples/10_sparse_flow.py [--quick]

Needs unmix[flows]. Of digits, or of an IDX file that you name, such as that of Debian's dataset-fashion-mnist:
python examples/10_sparse_flow.py train-images-idx3-ubyte.gz figure.png
"""

import gzip
import sys
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import torch
import zuko
from sklearn.datasets import load_digits

from unmix.penalties import dependency_sparsity
from unmix.training import Minibatches, minimise


def read(path):
    """Read an IDX file at half its size."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        values = np.frombuffer(file.read(), dtype=np.uint8, offset=16).reshape(-1, 28, 28) / 255
    return values.reshape(-1, 14, 2, 14, 2).mean((2, 4))


# %% Pictures, blurred by a little noise: a flow needs a density
given, quick = [word for word in sys.argv[1:] if word != "--quick"], "--quick" in sys.argv
images = read(given[0]) if given else load_digits().images / 16
x = torch.tensor(images.reshape(len(images), -1), dtype=torch.float32)
x = x + 0.05 * torch.randn(x.shape, generator=torch.Generator().manual_seed(0))
x, size = (x - x.mean(0)) / (x.std(0) + 0.1), x.shape[1]

# %% Exact likelihood, and beside it the absolute slopes of the way from latents to pixels, of two latents a step
sparse, moved = partial(dependency_sparsity, columns=2, step=0.1), {}
for weight in (0.0, 0.3):
    torch.manual_seed(0)
    flow = zuko.flows.NICE(size, transforms=6, hidden_features=(128, 128))

    def terms(batch, flow=flow):
        law = flow()
        slopes = sparse(law.transform.inv, law.transform(batch[0][:32]).detach())
        return {"likelihood": -law.log_prob(batch[0]).mean() / size, "slopes": slopes / size}

    batches = Minibatches(x, batch_size=128, generator=torch.Generator().manual_seed(0))
    n_steps = 60 if quick else 3000
    minimise(terms, flow, batches, n_steps=n_steps, lr=1e-3, schedule="cosine", weights={"slopes": weight})
    with torch.no_grad():
        z = flow().transform(x[:64])
        back, steps = flow().transform.inv, torch.diag(z.std(0))[:, None]
        moved[weight] = torch.stack([back(z + e) - back(z) for e in steps]).abs().mean(1)
        fit = -flow().log_prob(x).mean().item() / size
    share = (moved[weight] > 0.05).float().mean().item()
    print(f"weight {weight}: {fit:.2f} nats a pixel, a latent moves {share:.0%} of {size} pixels")

# %% The eight latents that move most, each as the mean change of a picture
if len(given) > 1:
    figure, axes = plt.subplots(2, 8, figsize=(10, 3))
    for row, (weight, change) in zip(axes, moved.items(), strict=True):
        for axis, j in zip(row, change.sum(1).argsort(descending=True), strict=False):
            axis.imshow(change[j].reshape(images.shape[1:]), cmap="magma")
            axis.set(xticks=[], yticks=[], title=f"weight {weight}")
    figure.savefig(given[1])
