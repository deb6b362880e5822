"""A model of images as one of a table: each pixel and colour is an observed variable."""

from typing import Any

import numpy as np

from unmix._findings import Findings, findings_of
from unmix._fitted import Fitted

from ._known import MOST_POINTS

_NUMBERS = 2**25  # of all Jacobians that are taken of a model of images


class PixelModel:
    """A model of images that is asked with rows of pixels, in the units of the images.

    Parameters
    ----------
    model : fitted estimator
        With `transform`, `inverse_transform` and `jacobian`.
    shape : tuple
        Of an image.
    kind : dtype
        Of its pixels.
    """

    def __init__(self, model: Any, shape: tuple[int, ...], kind: Any) -> None:
        self.model, self.shape, self.kind = model, shape, kind

    def transform(self, x: np.ndarray) -> np.ndarray:
        """Return the codes of rows."""
        return self.model.transform(self._images(x))

    def inverse_transform(self, z: np.ndarray) -> np.ndarray:
        """Return the rows of codes."""
        return np.asarray(self.model.inverse_transform(z), dtype=np.float32).reshape(len(z), -1)

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        """Return the decoder's Jacobians at rows."""
        return self.model.jacobian(self._images(x))

    def findings(self) -> Findings:
        """Return what the model found."""
        return findings_of(self.model)

    def _images(self, x: np.ndarray) -> np.ndarray:
        return x.astype(self.kind).reshape(-1, *self.shape)


def fitted_to(model: Any, x: Any) -> Fitted:
    """Return a model beside its data; images become rows of pixels, Jacobians no more than fit in memory."""
    if model is None or np.ndim(x) != 4:
        return Fitted(model, x)
    images = np.asarray(x)
    rows = images.reshape(len(images), -1).astype(np.float32)
    codes = np.asarray(model.transform(images))
    most = min(MOST_POINTS, max(1, _NUMBERS // (rows.shape[1] * codes.shape[1])))
    return Fitted(PixelModel(model, images.shape[1:], images.dtype), rows, codes=codes, most=most)
