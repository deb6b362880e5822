# %% [markdown]
# # Sparse autoencoders: which features replicate?
#
# A sparse autoencoder explains activations by a few of many features. Another seed finds other features.
# Which of them come back, beside what random dictionaries would score, and which are likely directions of
# the data?
#
# The activations here are planted, so that the answer is known: 64 atoms in 32 dimensions, three of them in
# each row. For a language model, `unmix activations book.txt --model ... --site ... --out acts` makes such
# a store.

# %%
import matplotlib.pyplot as plt
import numpy as np

import unmix
from unmix.metrics import random_dictionary, replicate_features

rng = np.random.default_rng(0)
atoms = rng.normal(size=(64, 32))
atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
active = np.argsort(rng.random((10_000, 64)), axis=1)[:, :3]
codes = np.zeros((10_000, 64))
np.put_along_axis(codes, active, 1 + rng.exponential(size=(10_000, 3)), axis=1)
x = (codes @ atoms + 0.02 * rng.normal(size=(10_000, 32))).astype(np.float32)
np.save("acts.npy", x)
print(x.shape)

# %% [markdown]
# ## Two seeds

# %%
settings = {"k": 3, "max_iter": 25, "batch_size": 250, "lr": 3e-3}
models = [unmix.SparseAutoencoder(64, **settings, random_state=seed) for seed in (0, 1)]
models = unmix.fit_many(models, x)
for model in models:
    print(f"explained {model.score(x):.3f}, features of a row {model.transform(x).nnz / len(x):.1f}")

# %% [markdown]
# ## Which features come back?
#
# A feature replicates *alone* where its atom and one of the other run are each other's nearest, with a
# cosine of .9 or more. Random dictionaries of the same size stand beside it.

# %%
found = replicate_features([model.dictionary_ for model in models], names=["seed 0", "seed 1"])
alone = found.atoms[0].status == "alone"
noise = replicate_features(
    [random_dictionary(64, np.cov(x.T), random_state=seed) for seed in (0, 1)], names=["random 0", "random 1"]
)
print(f"come back alone: {alone.sum()} of 64; of random atoms: {(noise.atoms[0].status == 'alone').sum()}")

# %% [markdown]
# ## Which are right?
#
# Replication rules out and never rules in. `unmix.trust` looks at what a feature explains once all others
# are taken off, and was calibrated on planted dictionaries.

# %%
verdict = unmix.trust(models[0], x, effort="quick", random_state=0)
print(verdict.headline)

# %% [markdown]
# Here the truth is known. The nearest true atom of every feature, and of random ones:

# %%
nearest = np.abs(models[0].dictionary_ @ atoms.T).max(1)
random = np.abs(random_dictionary(64, np.cov(x.T)) @ atoms.T).max(1)
trusted = np.asarray(verdict.trusted)
print(f"trusted: {trusted.sum()}, of which right: {(nearest[trusted] > 0.95).sum()}")
figure, ax = plt.subplots(figsize=(6, 2.6), layout="constrained")
ax.hist([nearest[trusted], nearest[~trusted], random], np.linspace(0, 1, 26), stacked=False)
ax.legend(["trusted", "not trusted", "random atoms"], frameon=False)
_ = ax.set(xlabel="cosine with the nearest true atom", ylabel="features")

# %% [markdown]
# ## From files
#
# Sparse autoencoders of other programs are read in their own layout (SAELens, sparsify,
# dictionary_learning), and converted both ways.

# %%
for seed, model in enumerate(models):
    model.save(f"sae{seed}")

# %%
# !unmix compare sae0 sae1 --data acts.npy | tail -9
# !unmix convert sae0 for_sae_lens --to sae_lens
# !ls for_sae_lens

# %% [markdown]
# **Next.** [Sparse autoencoders](../sae.md) has activations of language models and the other activation
# functions; [Sparse features](../features.md) what was measured on real ones, where few features come back.
