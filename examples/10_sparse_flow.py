"""A normalising flow of small pictures, with and without sparse dependencies, and what single latents move.

python examples/10_sparse_flow.py [--quick]

Needs unmix[flows]. Of digits, or of an IDX file named first, as in Debian's dataset-fashion-mnist.
"""

import gzip
import sys
from functools import partial

import numpy as np
import torch
import zuko
from sklearn.datasets import load_digits

from unmix.penalties import dependency_sparsity
from unmix.training import Minibatches, minimise

# %% Pictures, blurred by a little noise: a flow needs a density
given, quick = [word for word in sys.argv[1:] if word != "--quick"], "--quick" in sys.argv
images = load_digits().images / 16
if given:
    with gzip.open(given[0]) as file:
        values = np.frombuffer(file.read(), dtype=np.uint8, offset=16) / 255
    images = values.reshape(-1, 14, 2, 14, 2).mean((2, 4))  # 28 x 28 pixels, at half their size
x = torch.tensor(images.reshape(len(images), -1), dtype=torch.float32)
x = x + 0.05 * torch.randn(x.shape, generator=torch.Generator().manual_seed(0))
x, size = (x - x.mean(0)) / (x.std(0) + 0.1), x.shape[1]

# %% Exact likelihood, and beside it the absolute slopes from latents to pixels, of two latents a step
sparse, moved = partial(dependency_sparsity, columns=2, step=0.1), {}
for weight in (0.0, 0.3):
    torch.manual_seed(0)
    flow = zuko.flows.NICE(size, transforms=6, hidden_features=(128, 128))

    def terms(batch, flow=flow):
        law = flow()
        slopes = sparse(law.transform.inv, law.transform(batch[0][:32]).detach())
        return {"likelihood": -law.log_prob(batch[0]).mean() / size, "slopes": slopes / size}

    batches = Minibatches(x, batch_size=128, generator=torch.Generator().manual_seed(0))
    minimise(terms, flow, batches, n_steps=60 if quick else 3000, lr=1e-3, weights={"slopes": weight})
    with torch.no_grad():
        z, back = flow().transform(x[:64]), flow().transform.inv
        moved[weight] = torch.stack([back(z + e) - back(z) for e in torch.diag(z.std(0))]).abs().mean(1)
        fit = -flow().log_prob(x).mean().item() / size
    share = (moved[weight] > 0.05).float().mean()
    print(f"weight {weight}: {fit:.2f} nats a pixel, a latent moves {share:.0%} of {size} pixels")

# %% The latents that move most, and where: drawn if a second name is given
for weight, change in moved.items():
    print(f"weight {weight}: the latent that moves most moves {int((change > 0.05).sum(1).max())} pixels")
if len(given) > 1:
    import matplotlib.pyplot as plt

    most = [change[change.sum(1).argsort(descending=True)[:8]] for change in moved.values()]
    rows = [torch.cat([*each.reshape(8, *images.shape[1:])], 1) for each in most]
    plt.imsave(given[1], torch.cat(rows).numpy(), cmap="magma")
