"""Recover latents from a sparse nonlinear mixture, and see what the score is worth.

python examples/01_recover_sparse_latents.py [--quick]
"""

# %% Data whose truth we know: 5 latents, 15 observed variables, two latents behind each
import sys

import unmix

QUICK = "--quick" in sys.argv
data = unmix.data.sparse_mixing(500 if QUICK else 5000, n_latents=5, n_observed=15, random_state=0)
print(data.description)

# %% Two methods on the same data; neither sees the truth
short = {"max_iter": 40, "batch_size": 50, "n_restarts": 2} if QUICK else {"n_restarts": 4}
models = {
    "autoencoder": unmix.Autoencoder(5, **short, random_state=0),
    "diverse dictionary learning": unmix.DiverseDictionaryLearning(5, **short, random_state=0),
}

# %% A score is read beside raw x and the rotation floor: below those it means nothing
for name, model in models.items():
    z_hat = model.fit_transform(data.x)
    score = unmix.metrics.evaluate(data.z, z_hat, x=data.x, n_boot=20, random_state=0)["mcc"]
    low, high = score.interval
    print(f"{name}: MCC {score.value:.3f} ({low:.3f} to {high:.3f})", end=", ")
    print(f"raw x {score.raw:.3f}, rotation floor {score.floor:.3f}, reconstructed {model.score(data.x):.3f}")

# %% The structure that was found, and what follows from it
model = models["diverse dictionary learning"]
print(f"wrong edges: {data.structure.hamming(model.structure_)} of {data.structure.support.size}")
print(f"F1 of edges: {unmix.metrics.structure_f1(data.structure, model.structure_):.3f}")
print(f"margin between edges and non-edges: {model.structure_.margin:.2f}")
