"""An autoencoder followed by ICA: too many latents, of which the inactive ones drop out.

python examples/06_autoencoder_then_ica.py [--quick]
"""

# %% Three independent latents seen through a mildly nonlinear map, with a little noise
import sys

import numpy as np
from sklearn.pipeline import make_pipeline

import unmix

QUICK = "--quick" in sys.argv
data = unmix.data.sparse_mixing(
    1000 if QUICK else 4000,
    n_latents=3,
    n_observed=9,
    latents="laplace",
    nonlinearity=0.2,
    noise=0.02,
    random_state=0,
)

# %% The recipe is one line; twice as many latents as needed, since nobody knows how many there are
autoencoder = unmix.Autoencoder(6, max_iter=40 if QUICK else 60, batch_size=100, random_state=0)
pipeline = make_pipeline(autoencoder, unmix.FastICA(rtol=2e-2, random_state=0)).fit(data.x)
ica, codes = pipeline[-1], autoencoder.transform(data.x)

# %% Inactive latents: directions in which codes move the decoder by next to nothing
J = autoencoder.jacobian(data.x[:500])
spread = np.linalg.cholesky(np.cov(codes.T) + 1e-12 * np.eye(6))  # codes = spread times white noise
sizes = np.linalg.svd(J @ spread, compute_uv=False).mean(0)
print(f"singular values of the decoder's Jacobian: {', '.join(f'{s:.2f}' for s in sizes)}")
print(f"active latents: {ica.rank_} of 6")

# %% Can the components be trusted? ICA says so without ground truth
for j, (reliability, gaussian) in enumerate(zip(ica.reliability_, ica.gaussian_, strict=True)):
    print(f"component {j}: reliability {reliability:.3f}{', Gaussian: arbitrary' if gaussian else ''}")

# %% And with ground truth, which only a simulation has
z_hat = pipeline.transform(data.x)
before, after = unmix.metrics.mcc(data.z, codes), unmix.metrics.mcc(data.z, z_hat)
print(f"MCC {after:.3f} after ICA, {before:.3f} before")
