# %% [markdown]
# # Batches and cells
#
# Cells of one donor, wells of one plate and samples of one week look alike, whatever was done to them. Two
# things can be done about it: take the batch out before anything else, or use it, because hidden variables
# that change between batches can be told apart by how they change.
#
# The cells here are made up: 16 batches, controls and three drugs, eight factors of which two shift from
# batch to batch, 20 genes.

# %%
import anndata
import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
batch, drug = np.repeat(np.arange(16), 80), np.tile(np.repeat(["control", "A", "B", "C"], 20), 16)
factors = rng.laplace(size=(1280, 8))
factors[:, :2] += 2 * rng.normal(size=(16, 2))[batch]  # technical
for k, name in enumerate("ABC"):
    factors[drug == name, 2 + k] += 3  # what drugs do
genes = factors @ rng.normal(size=(8, 20)) + 0.2 * rng.normal(size=(1280, 20))
obs = pd.DataFrame(
    {"batch": [f"b{i:02d}" for i in batch], "drug": drug}, index=[f"cell{i}" for i in range(1280)]
)
cells = anndata.AnnData(genes, obs=obs, var=pd.DataFrame(index=[f"gene{i}" for i in range(20)]))
cells.write_h5ad("cells.h5ad")
cells

# %% [markdown]
# ## Take it out, and see what that costs
#
# `unmix deconfound` first says what no method can undo: drugs that occur in one batch only. Then it adjusts
# the table, and says of every method how much of the batch is left (*leak*) and how well replicates find
# each other, beside chance.

# %%
# !unmix deconfound cells.h5ad --batch batch --label drug --control "drug == 'control'" --out clean.h5ad

# %% [markdown]
# The file that comes back is your own object with one more array. Below, what is left of the batch, by
# nearest neighbours of controls, before and after.

# %%
import matplotlib.pyplot as plt

from unmix import deconfound

found = deconfound.evaluate(
    genes, obs, batch=["batch"], control="drug == 'control'", methods=["base", "combat", "anchored"]
)
for name, scores in found.scores.items():
    print(f"{name:9s} leak {scores['leak'].value:.2f} (chance {scores['leak'].chance:.2f})")

# %%
clean = anndata.read_h5ad("clean.h5ad").obsm["X_deconfounded"]
figure, axes = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
for ax, values, title in zip(axes, (genes, np.asarray(clean)), ("as measured", "deconfounded"), strict=True):
    middle = values - values.mean(0)
    plane = middle @ np.linalg.svd(middle, full_matrices=False)[2][:2].T
    ax.scatter(*plane.T, c=batch, cmap="tab20", s=8)
    ax.set(title=f"{title}, coloured by batch", xticks=[], yticks=[])

# %% [markdown]
# ## Latents of what is left
#
# Independent components of the cells, less the mean of the controls of their batch, described by what they
# go with. Sphering, as above, is good for neighbours and bad for components: it blows up directions of
# noise. Rows count as independent here; within a real screen replicates are not.

# %%
import unmix

centred = deconfound.fit_transform(
    genes, obs, batch="batch", control="drug == 'control'", method="centre-controls"
)
frame = pd.DataFrame(np.asarray(centred), columns=[f"gene{i}" for i in range(20)])
model = unmix.FastICA(8, random_state=0).fit(frame)
print(unmix.trust(model, frame, effort="quick", random_state=0).headline)
print(*unmix.describe(model, frame.assign(batch=obs["batch"].values, drug=drug)).lines, sep="\n")

# %% [markdown]
# ## Or use the batches
#
# Where the law of hidden variables changes between domains and the map from them to genes does not, `CGVAE`
# uses that. The certificate says how many domains a structure needs.

# %%
data = unmix.data.multi_domain(1500, graph="B", n_domains=4, random_state=0)
print(unmix.theory.certify_domains(data.structure, 4).identifies)
model = unmix.CGVAE(4, max_iter=40, n_restarts=2, random_state=0).fit(data.x, domains=data.u)
score = unmix.metrics.evaluate(data.z, model.transform(data.x), x=data.x, random_state=0)["mcc"]
print(f"MCC {score.value:.2f}, raw x {score.raw:.2f}, rotation floor {score.floor:.2f}")

# %% [markdown]
# From a shell: `unmix fit cells.h5ad --method cgvae --domains batch --n-components 4 --out model`, and
# `unmix transform model cells.h5ad --out cells_unmixed.h5ad` puts latents into `obsm["X_unmix"]`.
#
# **Next.** [Batches](../deconfound.md) explains every method and score, [Domains](../domains.md) what
# changes can identify.
