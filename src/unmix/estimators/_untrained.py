"""A dictionary before training: what a shared beginning explains of agreement."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from unmix.objectives import SparseCoder

from ._sae_training import built, recipe_of


def untrained_dictionary(model: Any) -> np.ndarray:
    """Return the dictionary that a sparse autoencoder begins with, by the same rule and the same seed.

    Parameters
    ----------
    model : SparseAutoencoder
        Fitted. Without a number as `random_state`, as that of a file from elsewhere, it is a fresh draw.

    Returns
    -------
    ndarray of shape (n_components, n_features)
        With rows of unit length.

    Examples
    --------
    >>> from unmix.estimators import SparseAutoencoder
    >>> X = np.random.default_rng(0).laplace(size=(200, 5))
    >>> model = SparseAutoencoder(8, k=2, max_iter=2, batch_size=50, random_state=0).fit(X)
    >>> before = untrained_dictionary(model)
    >>> before.shape, bool(np.allclose(np.linalg.norm(before, axis=1), 1, atol=1e-5))
    ((8, 5), True)
    """
    n_components, n_features = model.dictionary_.shape
    seed = int(check_random_state(model.random_state).randint(2**31 - 1))
    recipe = recipe_of(model, n_features, 1, 1)
    made = built(lambda: SparseCoder(n_features, n_components, recipe), seed)
    return np.asarray(made.decoder.detach().numpy())
