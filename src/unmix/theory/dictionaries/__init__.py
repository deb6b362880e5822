"""Dictionaries: when k-sparse codes are unique, when atoms are, and what remains where no bound says so."""

from ._certify import DictionaryCertificate, certify_dictionary
from ._cofiring import CoFiring, cofiring
from ._coherence import Bounds, cumulative_coherence, mutual_coherence, restricted_isometry, spark
from ._recovery import exact_recovery
