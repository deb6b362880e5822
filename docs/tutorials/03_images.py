# %% [markdown]
# # Images
#
# A room with an object: shape, size, orientation and three colours are known, because the images are
# rendered here. An autoencoder with ICA behind it finds latents; we look at what each does to a picture,
# and say what that is worth.

# %%
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

import unmix
from unmix.nn import conv_decoder, conv_encoder

data = unmix.data.shapes3d(1500, size=16, random_state=0)
images = np.asarray(data.images[np.arange(len(data))])
print(f"{len(images):,} images of {', '.join(data.names)}")

# %%
figure, axes = plt.subplots(1, 8, figsize=(10, 1.6))
for ax, image in zip(axes, images, strict=False):
    ax.imshow(image if image.shape[-1] == 3 else image.transpose(1, 2, 0))
    ax.axis("off")

# %% [markdown]
# ## Fit
#
# Twelve latents, twice as many as factors, since nobody knows the number; then independent components of
# the code.

# %%
autoencoder = unmix.Autoencoder(
    12,
    encoder=partial(conv_encoder, widths=(8, 16), dense=(64,)),
    decoder=partial(conv_decoder, widths=(16, 8), dense=(64,)),
    loss="bernoulli",
    batch_size=64,
    lr=1e-3,
    max_iter=6,
    random_state=0,
)
model = make_pipeline(autoencoder, unmix.FastICA(12, random_state=0)).fit(images)

# %% [markdown]
# ## What does each latent do?
#
# A traversal moves one latent through its range and decodes the pictures. `unmix.report.show` writes such
# grids for all of them, with animations and a page; `unmix show model --data images --out pictures` does so
# from a shell.

# %%
files = unmix.report.show("pictures", model=model, data=data, n_steps=7)
print(*sorted(file.name for file in files if file.suffix in (".png", ".html"))[:6], sep="\n")

# %%
codes = model.transform(images)
middle, spread = codes.mean(0), codes.std(0)
order = np.argsort(
    [-np.abs(np.corrcoef(codes[:, j], data.factors.T)[0, 1:]).max() for j in range(codes.shape[1])]
)
figure, axes = plt.subplots(4, 7, figsize=(7, 4.2))
for row, j in zip(axes, order, strict=False):
    steps = middle + np.linspace(-2.5, 2.5, 7)[:, None] * spread * np.eye(codes.shape[1])[j]
    for ax, image in zip(row, model.inverse_transform(steps), strict=True):
        ax.imshow(np.clip(image / (255 if image.max() > 2 else 1), 0, 1))
        ax.axis("off")
    row[0].set_title(f"latent {j}", fontsize=8, loc="left")

# %% [markdown]
# ## What is it worth?
#
# First the verdict, before any truth: nothing identifies such latents.

# %%
print(unmix.trust(model, images, effort="none").headline)

# %% [markdown]
# Then the scores, which only rendered images have, beside what needs no network at all: independent
# components of principal components of pixels, and a random rotation of the truth.

# %%
pixels = images.reshape(len(images), -1) / 255
raw = unmix.FastICA(12, random_state=0).fit_transform(PCA(12, random_state=0).fit_transform(pixels))
found = unmix.metrics.evaluate(data.factors, codes, metrics=["infomec"], x=raw, random_state=0)
for name in ("modularity", "explicitness", "compactness"):
    score = found[f"infomec.{name}"]
    print(f"{name:12s} {score.value:.2f}, pixels {score.raw:.2f}, rotation floor {score.floor:.2f}")

# %% [markdown]
# Here pixels do as well or better: a small network, 1,500 images of 16 x 16 pixels and six passes. The
# comparison tells, where a score alone would not. **Next.** [Images](../images.md) has the other sets, the
# published recipes (`--preset`) and their tables; [Generators](../generators.md) GANs and diffusion models;
# [Slots](../slots.md) objects.
