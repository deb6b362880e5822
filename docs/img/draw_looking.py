"""Draw what latents do, for docs/images.md: python docs/img/draw_looking.py (some minutes).

A small autoencoder of the Shapes3D twin at 32 x 32 pixels, with independent components of its code.
"""

from functools import partial
from pathlib import Path

import matplotlib
import numpy as np
from sklearn.pipeline import make_pipeline

import unmix
from unmix.nn import conv_decoder, conv_encoder

matplotlib.use("Agg")
N, WIDTHS = 10, (8, 16, 32)


def main() -> None:
    """Fit, and draw."""
    images = np.asarray(unmix.data.shapes3d(2000, size=32, random_state=0).images[np.arange(2000)])
    autoencoder = unmix.Autoencoder(
        N,
        encoder=partial(conv_encoder, widths=WIDTHS, dense=(128,)),
        decoder=partial(conv_decoder, widths=WIDTHS[::-1], dense=(128,)),
        loss="bernoulli",
        max_iter=24,
        batch_size=64,
        lr=1e-3,
        schedule="constant",
        random_state=0,
    )
    model = make_pipeline(autoencoder, unmix.FastICA(N, random_state=0)).fit(images)
    print(f"explained: {autoencoder.score(images[:500]):.3f}")
    trust = unmix.trust(model, images[:100], effort="none")
    ax = unmix.plots.image_traversals(model, images, trust=trust)
    ax.figure.savefig(Path(__file__).parent / "looking_traversals.png", dpi=90, metadata={"Software": None})


if __name__ == "__main__":
    main()
