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


class ImageModel:
    """A fitted model of images whose decoder is known: a grey picture, plus each latent times its pattern."""

    def __init__(self, patterns, *, as_bytes=False, slopes=True):
        self.patterns = np.asarray(patterns, dtype=float)  # latents, height, width, channels
        self.image_shape_, self.as_bytes = self.patterns.shape[1:], as_bytes
        if slopes:
            self.jacobian = self._jacobian

    @property
    def flat(self):
        return self.patterns.reshape(len(self.patterns), -1)

    def transform(self, x):
        seen = np.asarray(x, dtype=float) / (255 if self.as_bytes else 1) - 0.5
        return seen.reshape(len(seen), -1) @ np.linalg.pinv(self.flat)

    def inverse_transform(self, z):
        seen = (0.5 + np.asarray(z, dtype=float) @ self.flat).reshape(len(z), *self.image_shape_)
        return np.rint(255 * seen.clip(0, 1)).astype(np.uint8) if self.as_bytes else seen

    def _jacobian(self, x):
        return np.repeat(self.flat.T[None], len(x), axis=0) * (255 if self.as_bytes else 1)


def image_model(n_latents=3, shape=(8, 8, 1), n_images=60, *, size=0.1, random_state=0, **how):
    """A model with patterns that do not overlap, and images that it reconstructs."""
    rng = np.random.default_rng(random_state)
    owner = rng.permutation(np.arange(np.prod(shape)) % n_latents).reshape(shape)
    patterns = np.stack([(owner == j) * rng.choice([-1.0, 1.0], shape) for j in range(n_latents)])
    model = ImageModel(patterns * np.linspace(1, 2, n_latents)[:, None, None, None], **how)
    return model, model.inverse_transform(size * rng.uniform(-2, 2, (n_images, n_latents)))
