"""Images of known factors, an autoencoder with ICA behind it, and what each latent does to a picture.

python examples/09_look_at_images.py [--quick]
"""

# %% A room with an object: six factors, any image rendered on the fly
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

import unmix
from unmix.nn import conv_decoder, conv_encoder

QUICK = "--quick" in sys.argv
data = unmix.data.shapes3d(400 if QUICK else 4000, size=16 if QUICK else 32, random_state=0)
images = np.asarray(data.images[np.arange(len(data))])
print(f"{len(images):,} images of {', '.join(data.names)}")

# %% Twelve latents, twice as many as factors; independent components of the code
widths = (8, 16) if QUICK else (16, 32, 64)
autoencoder = unmix.Autoencoder(
    12,
    encoder=partial(conv_encoder, widths=widths, dense=(64,)),
    decoder=partial(conv_decoder, widths=widths[::-1], dense=(64,)),
    loss="bernoulli",
    batch_size=64,
    lr=1e-3,
    max_iter=3 if QUICK else 15,
    random_state=0,
)
model = make_pipeline(autoencoder, unmix.FastICA(12, random_state=0)).fit(images)

# %% Nothing identifies such latents: the page says so first, whatever the pictures look like
print(unmix.trust(model, images, effort="none").headline)

# %% Scores beside what no network was needed for; ground truth that only a simulation has
codes, pixels = model.transform(images), images.reshape(len(images), -1)
names = ("infomec.modularity", "infomec.explicitness", "infomec.compactness")
raw = unmix.FastICA(12, random_state=0).fit_transform(PCA(12, random_state=0).fit_transform(pixels / 255))
found = unmix.metrics.evaluate(data.factors, codes, metrics=["infomec"], x=raw, random_state=0)
for short, name in zip(("InfoM", "InfoE", "InfoC"), names, strict=True):
    score = found[name]
    print(f"{short} {score.value:.2f}, pixel PCA + ICA {score.raw:.2f}, rotation floor {score.floor:.2f}")

# %% Grids, animations and a page; open index.html in a browser
with tempfile.TemporaryDirectory() as folder:
    files = unmix.report.show(Path(folder) / "pictures", model=model, data=data, n_steps=5 if QUICK else 9)
    print(f"{len(files)} files: {', '.join(file.name for file in files)}")
