"""Ask what a dependency structure identifies, before any data are collected.

python examples/02_is_my_structure_identifiable.py [--quick]
"""

# %% Three sensors and three causes: z2 moves all of them, z0 and z1 one each
import numpy as np

from unmix.structure import Structure, diverse, triangular_edges
from unmix.theory import between, certify, nonlinearity

sensors = Structure([[1, 0, 1], [0, 1, 1], [0, 0, 1]])
print(certify(sensors))

# %% Nested children are the weak spot: without independence z2 may leak into the others ...
print("\nmay depend on the estimates of:")
for latent, row in enumerate(certify(sensors).may_depend):
    print(f"  z{latent}: {', '.join(f'z{j}' for j in np.flatnonzero(row))}")
print("levels:", certify(sensors).levels)
print("levels if independent:", certify(sensors, independent_latents=True).levels)

# %% ... or one more sensor each, which tells them apart without that assumption
more = Structure([*sensors.support.astype(int), [1, 1, 0]])
print("levels with a fourth sensor:", certify(more).levels)

# %% Two views: what do they share, and is the shared part separated from the private ones?
views = between(sensors, [0], [1])
print(
    f"\nshared: {sorted(views.intersection)}, only A: {sorted(views.only_a)}, only B: {sorted(views.only_b)}"
)
for guarantee in views.guarantees[:2]:
    print("-", guarantee.verdict)

# %% Sparse enough? A triangular model fits any data, so the truth has to be sparser
for n_observed in (5, 10, 15):
    structure = diverse(n_observed, 5, random_state=0)
    bound = triangular_edges(n_observed, 5)
    print(f"{n_observed} variables: {structure.n_edges} edges against {bound} of the triangular alternative")

# %% A linear mixing can't do it, however sparse: its gradients never change
bent = np.random.default_rng(0).normal(size=(50, 4, 3)) * more.support
straight = np.broadcast_to(bent[0], (50, 4, 3))
print("\nnonlinear:", bool(nonlinearity(bent, more)), "- linear:", bool(nonlinearity(straight, more)))
