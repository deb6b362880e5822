"""Scores of codes against the truth, and what each score is worth.

Every metric is a function of plain arrays, truth first. `evaluate` gives each one its interval, its null
(chance), its floor (a random rotation of the truth, which identifies nothing) and the score of the raw
observations: a number without these misleads.
"""

from ._align import align
from ._align_result import Alignment, MapError
from ._convexity import Convexity, convexity
from ._diameter import Diameter, diameter
from ._evaluate import Evaluation, Score, evaluate
from ._floor import rotation_floor
from ._mcc import Matching, match_components, mcc
from ._r2 import r2
from ._structure import structure_f1

__all__ = [
    "evaluate",
    "Evaluation",
    "Score",
    "mcc",
    "match_components",
    "Matching",
    "r2",
    "rotation_floor",
    "structure_f1",
    "align",
    "Alignment",
    "MapError",
    "diameter",
    "Diameter",
    "convexity",
    "Convexity",
]
