"""Tables of wells whose batches and treatments are known."""

import numpy as np


def world(n_batches=12, n_controls=20, n_treated=12, seed=0, shift=2.0):
    """Draw plates of controls and three treatments: eight factors, two of which shift from plate to plate."""
    rng = np.random.default_rng(seed)
    plate = np.repeat(np.arange(n_batches), n_controls + n_treated)
    gene = np.tile(np.repeat(["-", "A", "B", "C"], [n_controls, *[n_treated // 3] * 3]), n_batches)
    z = rng.laplace(size=(len(plate), 8))
    z[:, :2] += shift * rng.normal(size=(n_batches, 2))[plate]
    for k, name in enumerate("ABC"):
        z[gene == name, 2 + k] += 3
    return z @ rng.normal(size=(8, 10)), {"plate": plate, "gene": gene}
