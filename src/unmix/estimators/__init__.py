"""Estimators that recover latents: `fit`, `transform`, `inverse_transform`, `save`, and `load`.

They follow scikit-learn's API, take arrays and give arrays, and never see ground truth: this room does not
import `data`, `metrics` or `theory`.
"""

from unmix.solvers import causal_graph

from ._autoencoder import Autoencoder
from ._beta_vae import BetaVAE
from ._cg_vae import CGVAE
from ._diverse_dictionary import DiverseDictionaryLearning
from ._fast_ica import FastICA
from ._ivae import IVAE
from ._labelled import LabelledSparseAutoencoder
from ._latent_estimator import LatentEstimator
from ._pdgmm import PDGMM
from ._slot_autoencoder import SlotAutoencoder
from ._sparse_basis import SparseBasis
from ._storage import load
from ._vade import VaDE

__all__ = [
    "Autoencoder",
    "BetaVAE",
    "CGVAE",
    "DiverseDictionaryLearning",
    "FastICA",
    "IVAE",
    "LabelledSparseAutoencoder",
    "LatentEstimator",
    "PDGMM",
    "SlotAutoencoder",
    "SparseBasis",
    "VaDE",
    "causal_graph",
    "load",
]
