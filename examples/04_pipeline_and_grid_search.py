"""Use an estimator as a step of a scikit-learn pipeline, and choose the number of latents.

python examples/04_pipeline_and_grid_search.py [--quick]
"""

# %% A table with names and units of its own
import sys

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import RobustScaler

import unmix

QUICK = "--quick" in sys.argv
data = unmix.data.sparse_mixing(400 if QUICK else 2000, n_latents=3, n_observed=9, noise=0.1, random_state=0)
frame = pd.DataFrame(data.x * np.logspace(0, 3, 9), columns=[f"probe {i}" for i in range(9)])

# %% How many latents? The score of an estimator is the share of held-out variance it reconstructs
pipeline = make_pipeline(
    RobustScaler(), unmix.Autoencoder(max_iter=40 if QUICK else 60, batch_size=50, random_state=0)
)
search = GridSearchCV(pipeline, {"autoencoder__n_components": [1, 2, 3, 4]}, cv=2 if QUICK else 4).fit(frame)
for n, score in zip([1, 2, 3, 4], search.cv_results_["mean_test_score"], strict=True):
    print(f"{n} latents: {score:.3f} of held-out variance")
# more latents always reconstruct better: take the number after which little is gained
gains = np.diff(search.cv_results_["mean_test_score"])
n_latents = 1 + int(np.sum(gains > 0.02))
print(f"chosen: {n_latents}")

# %% The same table through diverse dictionary learning, with column names that say where they come from
short = {"max_iter": 30, "batch_size": 50, "n_restarts": 1} if QUICK else {"n_restarts": 4}
model = unmix.DiverseDictionaryLearning(n_latents, **short, random_state=0).set_output(transform="pandas")
latents = model.fit_transform(frame)
print(f"columns: {', '.join(latents.columns)}")
print(f"MCC {unmix.metrics.mcc(data.z, latents):.3f}, raw x {unmix.metrics.mcc(data.z, frame):.3f}")

# %% Latents as features of a later step: a target that depends on one hidden variable
target = data.z[:, 0] ** 3
for name, features in (("raw x", frame), ("latents", latents)):
    r2 = cross_val_score(LinearRegression(), features, target, cv=4).mean()
    print(f"linear regression on {name}: R2 {r2:.3f} with {features.shape[1]} features")
