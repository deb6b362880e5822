"""What each latent stands for, in the names that the data bring: numbers on codes and loadings, no torch.

For each latent: the observed variables that it moves most, groups of them that it moves more than chance
would, its relation to every other column of the table, its extreme rows by id, and its histogram. Every
number stands beside what noise would give. A description names a latent; whether it can be trusted is the
business of `unmix.evidence`.
"""

from ._describe import Description, describe, described
from ._enrichment import Enrichment, enrichment
from ._groups import groups_of_names, read_groups
from ._latent import LEVEL, Group, Latent
from ._relations import Relation, Relations, relations
from ._rows import Histogram
from ._table import Observed, observed
from ._variables import Variable, strongest

__all__ = [
    "describe",
    "Description",
    "Latent",
    "LEVEL",
    "Variable",
    "strongest",
    "groups_of_names",
    "read_groups",
    "enrichment",
    "Enrichment",
    "relations",
    "Relations",
    "Relation",
    "Group",
    "Histogram",
    "described",
    "Observed",
    "observed",
]
