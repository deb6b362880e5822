"""Seconds that a page of pictures takes on the CPU: twelve latents of images of 64 x 64 pixels.

python benchmarks/looking.py [--latents 12] [--quick] [--keep]

`report.show` writes grids, animations and the page of an `Autoencoder` with the published networks, of 2000
images of the Shapes3D twin. What it takes does not depend on how long the networks were trained.
"""

import tempfile
from pathlib import Path

import numpy as np
from _table import judged, keep, parser, timed

import unmix
from unmix.nn import conv_decoder, conv_encoder

GOAL = {"seconds": 20.0}


def main() -> None:
    asked = parser(__doc__)
    asked.add_argument("--latents", type=int, default=12)
    asked.add_argument("--quick", action="store_true", help="few small images")
    options = asked.parse_args()
    n, size = (200, 32) if options.quick else (2000, 64)
    data = unmix.data.shapes3d(n, size=size, random_state=0)
    networks = {"encoder": conv_encoder, "decoder": conv_decoder}
    how = {"max_iter": 1, "batch_size": 16, "device": "cpu", "random_state": 0}
    model = unmix.Autoencoder(options.latents, **how, **networks)
    model.fit(np.asarray(data.images[np.arange(32)]))
    with tempfile.TemporaryDirectory() as folder:
        files, took = timed(lambda: unmix.report.show(Path(folder) / "pictures", model=model, data=data))
        print(f"{len(files)} files, {sum(file.stat().st_size for file in files) / 1e6:.1f} MB; {took}")
    goals = judged({"seconds": took["wall"]}, GOAL)
    if options.keep:
        keep("looking", {"latents": options.latents, "took": took, "goals": goals})


if __name__ == "__main__":
    main()
