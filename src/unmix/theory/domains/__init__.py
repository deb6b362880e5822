"""Sufficient changes and sparse mixing: what several domains identify."""

from ._change_ranks import RankCheck
from ._changes import INDEPENDENT, SufficientChanges, sufficient_changes
from ._domains import DomainCertificate, LatentPlan, certify_domains
