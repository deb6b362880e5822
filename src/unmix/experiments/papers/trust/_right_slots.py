"""When a slot is right: its code is an invertible function of one true slot, and of nothing else."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from unmix.data import LatentDataset
from unmix.evidence._probe import mutual

from ._family import RIGHT, Units

_MOST = 1200  # samples: a kernel of them is solved for each slot


def right_slots(data: LatentDataset, codes: np.ndarray, units: Units) -> np.ndarray:
    """Return for each slot whether it and one true slot can be read off each other, in every dimension.

    A slot that reads off the truth as a function (R2 >= .95^2, as a correlation of .95 would give) has less
    than a tenth of its variance from elsewhere, also where slots depend on each other. One slot of all
    latents separates nothing, and is wrong wherever there are more. Each true slot can be claimed once.

    References
    ----------
    Brady et al. (2023), Provably learning object-centric representations, section 3 (slot identifiability),
    arXiv:2305.14229.
    """
    rows = np.random.default_rng(0).permutation(len(codes))[:_MOST]
    table = mutual(codes[rows], units, data.z[rows], data.partition)
    found = np.zeros(len(units), bool)
    mine, theirs = linear_sum_assignment(-table)
    found[mine] = table[mine, theirs] >= RIGHT**2
    return found
