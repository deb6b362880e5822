"""Estimators that recover latents: `fit`, `transform`, `inverse_transform`, `save`, and `load`.

They follow scikit-learn's API, take arrays and give arrays, and never see ground truth: this room does not
import `data`, `metrics` or `theory`.
"""

from unmix._names import ESTIMATORS
from unmix.solvers import causal_graph as causal_graph

from ._autoencoder import Autoencoder as Autoencoder
from ._beta_vae import BetaVAE as BetaVAE
from ._cg_vae import CGVAE as CGVAE
from ._diverse_dictionary import DiverseDictionaryLearning as DiverseDictionaryLearning
from ._fast_ica import FastICA as FastICA
from ._fit_many import fit_many as fit_many
from ._foreign import load_sae as load_sae
from ._foreign import save_sae as save_sae
from ._ivae import IVAE as IVAE
from ._jacobian_sparse_autoencoder import JacobianSparseAutoencoder as JacobianSparseAutoencoder
from ._labelled import LabelledSparseAutoencoder as LabelledSparseAutoencoder
from ._latent_estimator import LatentEstimator as LatentEstimator
from ._number import found_number as found_number
from ._pdgmm import PDGMM as PDGMM
from ._slot_autoencoder import SlotAutoencoder as SlotAutoencoder
from ._sparse_autoencoder import SparseAutoencoder as SparseAutoencoder
from ._sparse_basis import SparseBasis as SparseBasis
from ._storage import load as load
from ._vade import VaDE as VaDE

__all__ = [
    *ESTIMATORS,
    "LatentEstimator",
    "causal_graph",
    "found_number",
    "fit_many",
    "load",
    "load_sae",
    "save_sae",
]
