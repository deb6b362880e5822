# %% [markdown]
# # Two training runs: do they agree?
#
# Train the same network twice, from two seeds, and look at the codes of the same rows. They are not equal.
# The question is up to *what* they agree, because that says what a single coordinate may mean. No truth is
# needed.

# %%
import warnings

import numpy as np

import unmix
from unmix.metrics import align, replicate

data = unmix.data.sparse_mixing(
    2000, n_latents=3, n_observed=9, latents="laplace", nonlinearity=0.2, noise=0.02, random_state=0
)
runs = [
    unmix.Autoencoder(3, max_iter=40, batch_size=100, random_state=seed).fit(data.x).transform(data.x)
    for seed in (1, 2)
]
print(np.abs(np.corrcoef(runs[0].T, runs[1].T)[:3, 3:]).round(2))

# %% [markdown]
# ## Up to which map?
#
# Four families of maps, from the smallest to the largest. An error is read beside those of the last two
# lines, which are what no agreement looks like.

# %%
print(align(*runs, held_out=0.2, random_state=0))

# %% [markdown]
# Coordinates of these runs mean nothing by themselves: no signed permutation carries one to the other. A
# linear map does, and ICA in each run alone removes it. So put ICA behind the encoder, and name its
# components instead.
#
# ## Latent by latent

# %%
components = [unmix.FastICA(3, random_state=0).fit_transform(run) for run in runs]
for name, pair in (("codes", runs), ("components", components)):
    found = replicate(pair)
    print(
        f"{name}: {found.runs[0].status.tolist()}, correlations {found.runs[0].correlation.round(2).tolist()}"
    )

# %% [markdown]
# ## Agreement is not identification
#
# Two runs may agree on what is wrong. Gaussian latents have no independent components, yet two runs on the
# same rows agree on the accidents of these rows. Ask with other rows: two halves that share no row.

# %%
rng = np.random.default_rng(0)
mixing = rng.normal(size=(3, 9))
for name, z in (("Laplace", rng.laplace(size=(4000, 3))), ("Gaussian", rng.normal(size=(4000, 3)))):
    x = z @ mixing + 0.02 * rng.normal(size=(4000, 9))
    with warnings.catch_warnings(record=True) as said:  # FastICA notices by itself
        warnings.simplefilter("always")
        halves = [unmix.FastICA(3, random_state=0).fit(half) for half in (x[:2000], x[2000:])]
    found = replicate([model.transform(x) for model in halves])
    verdict = unmix.trust(halves[0], x[:2000], effort="quick", random_state=0)
    print(f"{name}: halves agree on {found.n_alone.sum()} of 3; {verdict.headline}; {len(said)} warnings")

# %% [markdown]
# ## From files
#
# Codes of a run are an array in a file; models can be named instead, with the table that they encode.
# `--out runs.html` draws a page.

# %%
np.save("run1.npy", runs[0])
np.save("run2.npy", runs[1])

# %%
# !unmix compare run1.npy run2.npy --held-out 0.2

# %% [markdown]
# **Next.** [Do runs agree?](../alignment.md) explains the numbers, [Independent components](../ica.md) the
# method, and [Sparse features](05_sparse_autoencoders.ipynb) asks the same of dictionaries.
