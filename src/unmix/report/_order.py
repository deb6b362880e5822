"""The order in which a page shows latents: the trusted first, then the strong."""

import numpy as np

from ._material import Material

VERDICTS = ("yes", "not checked", "no")


def order_of(material: Material) -> list[int]:
    """Return the latents by verdict, where there is one of each, then by how much they move."""
    n = 0 if material.fitted.codes is None else material.fitted.codes.shape[1]
    found = material.fitted.loadings if n else None
    strength = np.zeros(n) if found is None else np.square(found.values).mean(0)
    return sorted(range(n), key=lambda j: (_rank(material, j), -strength[j]))


def _rank(material: Material, j: int) -> int:
    """Return the place of the verdict on the unit that holds a latent."""
    trust = material.trust
    if trust is None:
        return 0
    held = (VERDICTS.index(v) for unit, v in zip(trust.units, trust.verdicts, strict=True) if j in unit)
    return next(held, len(VERDICTS))
