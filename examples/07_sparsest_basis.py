"""Find the basis in which codes are sparse, beside dictionary learning and independent components.

python examples/07_sparsest_basis.py [--quick]
"""

# %% Codes: causal latents, half of them inactive in each sample, behind an unknown affine map
import sys
import time
import warnings

import numpy as np
from sklearn.decomposition import PCA, DictionaryLearning, FastICA
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline

import unmix

QUICK = "--quick" in sys.argv
n, n_samples = (4, 800) if QUICK else (10, 3000)
A = np.random.default_rng(0).normal(size=(n, n))
warnings.simplefilter("ignore", ConvergenceWarning)  # of the peers, whose models do not hold here

# white codes and this alpha were the best of six settings tried for dictionary learning at delta 0
lasso = {"fit_algorithm": "cd", "transform_algorithm": "lasso_cd", "transform_alpha": 0.3}
dictionary = DictionaryLearning(n, alpha=0.3, max_iter=30, random_state=0, **lasso)

# %% Three methods; delta moves the value at which latents are inactive away from their mean
for delta in (0.0, 2.0):
    data = unmix.data.degenerate_mixture(n_samples, n, profile="linear", delta=delta, random_state=0)
    y = data.unrotated @ A + 1.0
    models = {
        "SparseBasis": unmix.SparseBasis(random_state=0),
        "FastICA": FastICA(whiten="unit-variance", max_iter=1000, random_state=0),
        "DictionaryLearning": make_pipeline(PCA(whiten=True), dictionary),
    }
    for name, model in models.items():
        start = time.perf_counter()
        z_hat = model.fit_transform(y)
        score = unmix.metrics.mcc(data.unrotated, z_hat)
        print(f"delta {delta:g}, {name}: MCC {score:.3f} in {time.perf_counter() - start:.1f} s")

# %% What comes with the basis: which latents are active where, and how sure that is
basis = models["SparseBasis"]
active = basis.activity(y)
order = np.array(unmix.metrics.match_components(data.unrotated, basis.transform(y)).order)
print(f"rows with a spike: {basis.n_found_} of {n}; flags: {list(basis.flags_)}")
print(f"activity patterns right: {(active[:, order] == data.masks[data.labels]).mean():.4f} of entries")
