"""Near-identifiability: pairs of runs, near isometries, softmax heads, constants of ICA."""

from ._decoder import DecoderCertificate, certify_decoder
from ._ica_constants import Curvature, ica_constant, ica_curvature, whitening_constants
from ._isometry import isometric_constant, near_isometry_bound
from ._pair import PairCertificate, certify_pair
from ._softmax import SoftmaxDiversity, softmax_diversity
