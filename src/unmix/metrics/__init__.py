"""Scores of codes against the truth, and what each score is worth.

Every metric is a function of plain arrays, truth first. `evaluate` gives each one its interval, its null
(chance), its floor (a random rotation of the truth, which identifies nothing) and the score of the raw
observations: a number without these misleads.
"""

from ._beta_vae import beta_vae_score
from ._block_r2 import block_r2
from ._convexity import Convexity, convexity
from ._dci import DCI, dci
from ._distances import content_distance, frechet_distance, kernel_distance
from ._factor_vae import factor_vae_score
from ._floor import rotation_floor
from ._graph import cpdag, shd
from ._infomec import InfoMEC, infomec
from ._irs import irs
from ._mcc import Matching, match_components, mcc
from ._mig import mig
from ._modularity import ModularityExplicitness, modularity_explicitness
from ._r2 import r2
from ._sap import sap
from ._slots import slot_identifiability
from ._sparse_codes import (
    CodeScores,
    dead_share,
    density,
    explained_variance,
    feature_jacobian_sparsity,
    l0,
    loss_recovered,
    reconstruction_cosine,
    score_codes,
)
from ._sparsity import concentration, hoyer_sparsity
from ._structure import StructureRecovery, structure_f1, structure_recovery
from ._support import rows_found, support_f1
from ._udr import udr
from .alignment import (
    Alignment,
    Counterparts,
    Diameter,
    MapError,
    Replication,
    Subspace,
    align,
    diameter,
    replicate,
)
from .dictionaries import (
    Census,
    FeatureReplication,
    Level,
    census,
    participation_ratio,
    random_dictionary,
    replicate_features,
)
from .evaluation import Evaluation, Score, evaluate

__all__ = [
    "evaluate",
    "Evaluation",
    "Score",
    "mcc",
    "match_components",
    "Matching",
    "r2",
    "block_r2",
    "factor_vae_score",
    "beta_vae_score",
    "slot_identifiability",
    "udr",
    "content_distance",
    "frechet_distance",
    "kernel_distance",
    "dci",
    "DCI",
    "infomec",
    "InfoMEC",
    "mig",
    "sap",
    "irs",
    "modularity_explicitness",
    "ModularityExplicitness",
    "hoyer_sparsity",
    "concentration",
    "shd",
    "cpdag",
    "rotation_floor",
    "structure_f1",
    "structure_recovery",
    "StructureRecovery",
    "support_f1",
    "rows_found",
    "align",
    "Alignment",
    "MapError",
    "replicate",
    "Replication",
    "Counterparts",
    "Subspace",
    "replicate_features",
    "FeatureReplication",
    "Level",
    "census",
    "Census",
    "participation_ratio",
    "random_dictionary",
    "diameter",
    "Diameter",
    "convexity",
    "Convexity",
    "score_codes",
    "CodeScores",
    "explained_variance",
    "reconstruction_cosine",
    "l0",
    "density",
    "dead_share",
    "loss_recovered",
    "feature_jacobian_sparsity",
]
