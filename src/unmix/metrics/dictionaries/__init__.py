"""Sparse autoencoders side by side: which features come back, by dictionaries and by codes; and which are
dead, dense, twice there, or never on without another.
"""

from ._census import Census, census
from ._features import replicate_features
from ._floor import participation_ratio, random_dictionary
from ._result import FeatureReplication, Level
