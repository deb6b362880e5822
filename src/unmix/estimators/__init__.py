"""Estimators that recover latents: `fit`, `transform`, `inverse_transform`, `save`, and `load`.

They follow scikit-learn's API, take arrays and give arrays, and never see ground truth: this room does not
import `data`, `metrics` or `theory`.
"""

from unmix._names import ESTIMATORS
from unmix._spelling import suggesting
from unmix.solvers import causal_graph as causal_graph

from ._autoencoder import Autoencoder as Autoencoder
from ._beta_tc_vae import BetaTCVAE as BetaTCVAE
from ._beta_vae import BetaVAE as BetaVAE
from ._bio_ae import BioAE as BioAE
from ._cg_gan import CGGAN as CGGAN
from ._cg_vae import CGVAE as CGVAE
from ._dis_co import DisCo as DisCo
from ._diverse_dictionary import DiverseDictionaryLearning as DiverseDictionaryLearning
from ._enc_diff import EncDiff as EncDiff
from ._factor_vae import FactorVAE as FactorVAE
from ._fast_ica import FastICA as FastICA
from ._fit_many import fit_many as fit_many
from ._foreign import load_sae as load_sae
from ._foreign import save_sae as save_sae
from ._gan import GAN as GAN
from ._ivae import IVAE as IVAE
from ._jacobian_sparse_autoencoder import JacobianSparseAutoencoder as JacobianSparseAutoencoder
from ._labelled import LabelledSparseAutoencoder as LabelledSparseAutoencoder
from ._latent_estimator import LatentEstimator as LatentEstimator
from ._number import found_number as found_number
from ._pdgmm import PDGMM as PDGMM
from ._pipelines import load as load
from ._pipelines import save as save
from ._qlae import QLAE as QLAE
from ._slot_autoencoder import SlotAutoencoder as SlotAutoencoder
from ._sparse_autoencoder import SparseAutoencoder as SparseAutoencoder
from ._sparse_basis import SparseBasis as SparseBasis
from ._untrained import untrained_dictionary as untrained_dictionary
from ._vade import VaDE as VaDE
from ._vq_vae import VQVAE as VQVAE

for _each in ESTIMATORS:  # a misspelt argument is answered by the one that was meant
    globals()[_each].__init__ = suggesting(globals()[_each].__init__, _each)

__all__ = [
    *ESTIMATORS,
    "LatentEstimator",
    "causal_graph",
    "found_number",
    "fit_many",
    "load",
    "load_sae",
    "save",
    "save_sae",
    "untrained_dictionary",
]
