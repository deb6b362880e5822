# %% [markdown]
# # Write your own estimator, penalty and metric
#
# Each is a few lines. A penalty is a function, a metric is a function, and an estimator is a class that
# says which networks it has and how it trains; everything else (arrays, frames and tensors, `clone`,
# pipelines, saving, checkpoints, restarts) is there.

# %% [markdown]
# ## A penalty: `(decoder, z) -> scalar`
#
# Sum over the entries of a sample, mean over the batch. This one counts entries of the Jacobian softly.

# %%
import numpy as np

import unmix
from unmix.nn import jacobian
from unmix.penalties import check_penalty


def smooth_count(decoder, z, *, width=0.3):
    """Return the number of large entries: t^2 / (t^2 + width^2) is 0 at zero and 1 far away."""
    t = jacobian(decoder, z) * z.detach().std(0, correction=0)  # units of z must not matter
    return (t.square() / (t.square() + width**2)).sum((1, 2)).mean()


print(check_penalty(smooth_count))

# %% [markdown]
# The check says what training relies on. A sum over the batch would make the weight depend on the batch
# size:

# %%
print(check_penalty(lambda decoder, z: jacobian(decoder, z).abs().sum()))

# %% [markdown]
# Any penalty goes into an estimator; a variation is a `functools.partial`.

# %%
data = unmix.data.sparse_mixing(800, n_latents=3, n_observed=12, latents="laplace", random_state=0)
settings = {"max_iter": 40, "batch_size": 100, "n_restarts": 2, "random_state": 0}
model = unmix.DiverseDictionaryLearning(3, penalty=smooth_count, weight=0.05, **settings).fit(data.x)
print(f"wrong edges: {data.structure.hamming(model.structure_)} of {data.structure.support.size}")

# %% [markdown]
# ## A metric: `(z_true, z_hat) -> float`
#
# Truth first, higher is better, at most 1, and blind to order, sign and scale of codes. A number without
# its floor says little, so ask what a random rotation of the truth scores by the same rule.

# %%
from unmix.metrics import match_components, mcc, rotation_floor


def worst_latent(z_true, z_hat):
    """Return the correlation of the latent that was found worst."""
    return float(np.abs(match_components(z_true, z_hat).correlation).min())


z_hat = model.transform(data.x)
print(f"worst latent {worst_latent(data.z, z_hat):.2f}, raw x {worst_latent(data.z, data.x):.2f}")
print(f"MCC {mcc(data.z, z_hat):.2f}, rotation floor {rotation_floor(data.z, random_state=0):.2f}")

# %% [markdown]
# ## An estimator
#
# A subclass of `LatentEstimator` has `__init__`, which stores; `_networks`, which builds an objective for
# rows of a shape; and `_train`, which returns the best of several starts. Below, an autoencoder whose codes
# are kept uncorrelated.

# %%
import torch

from unmix.estimators import LatentEstimator
from unmix.nn import residual_mlp
from unmix.objectives import Objective
from unmix.training import Noise, train_restarts


class Decorrelated(LatentEstimator):
    """An autoencoder with uncorrelated codes."""

    def __init__(
        self,
        n_components=2,
        *,
        weight=0.1,
        n_restarts=2,
        max_iter=60,
        batch_size=100,
        lr=2e-3,
        device="auto",
        checkpoint=None,
        verbose=False,
        random_state=None,
    ):
        self.n_components, self.weight, self.n_restarts = n_components, weight, n_restarts
        self.max_iter, self.batch_size, self.lr = max_iter, batch_size, lr
        self.device, self.checkpoint, self.verbose = device, checkpoint, verbose
        self.random_state = random_state

    def _networks(self, shape):
        n = self.n_components_
        return Objective(residual_mlp(shape, n), residual_mlp(n, shape), n, decorrelate=True)

    def _train(self, x, pace):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(pace.seed)
            members = [self._networks(x.shape[1]).to(x.device) for _ in range(self.n_restarts)]
        return train_restarts(
            members, {"correlation": self.weight}, x, pace, beside=Noise(self.n_components_)
        )


mine = Decorrelated(3, random_state=0).fit(data.x)
codes = mine.transform(data.x)
print("largest correlation of codes:", np.abs(np.corrcoef(codes.T) - np.eye(3)).max().round(2))
print(f"reconstructed {mine.score(data.x):.2f}, MCC {mcc(data.z, codes):.2f}")

# %% [markdown]
# It reconstructs well and has no claim to the latents: uncorrelated is not identified, and the score says
# so beside the floor. All of scikit-learn is there:

# %%
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

pipeline = make_pipeline(clone(mine), unmix.FastICA(3, random_state=0)).fit(data.x)
print(f"with ICA behind it: MCC {mcc(data.z, pipeline.transform(data.x)):.2f}")

# %% [markdown]
# **Next.** To run a method of yours on the tables of the papers, see [Reproduce a paper's
# table](08_reproduce.ipynb). To add it to the library itself, `CONTRIBUTING.md` has the recipe: one file,
# one export, one line, and the whole contract is tested.
