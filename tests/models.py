"""Fitted models that tests make by hand."""

import numpy as np

from unmix.evidence import Chain, Trust, link


class LinearModel:
    """A fitted model with x = W z, and what else it is given, such as `structure_`."""

    def __init__(self, weights, **fitted):
        self.weights = np.asarray(weights, dtype=float)
        vars(self).update(fitted)

    def transform(self, x):
        return np.asarray(x) @ np.linalg.pinv(self.weights).T

    def inverse_transform(self, z):
        return z @ self.weights.T

    def jacobian(self, x):
        return np.repeat(self.weights[None], len(x), axis=0)


def verdict(*strengths, name="zeros beyond generic ones", **changed):
    """A verdict on as many latents, from one item of evidence; a strength of nan was not measured."""
    words = [f"{s:+.1f} where noise gives 0" for s in strengths]
    known = {
        "method": "DiverseDictionaryLearning",
        "kind": "sparse",
        "theorem": "a theorem",
        "up_to": "order",
        "units": tuple((j,) for j in range(len(strengths))),
        "evidence": (link(name, strengths, 0.0, strengths, words),),
        "chain": Chain(),
        "effort": "quick",
        "threshold": 0.9,
    }
    return Trust(**known | changed)
