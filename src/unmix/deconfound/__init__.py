"""Tables with batches: how far batch and label go together, and what to do about batches.

`fit_transform` adjusts a table, `evaluate` compares methods on one, `components` says which independent
components are technical and by what evidence. What a method learns, it learns from controls, or from all rows
without their labels; labels only score. Free of torch, except where independent components are looked for.
"""

from ._anchored import Adjustment, anchored, fit_anchored
from ._components import Components, components
from ._confounding import Confounding, confounding
from ._design import Design, design
from ._evaluate import evaluate
from ._methods import DEFAULT, METHODS
from ._query import matching
from ._scores import Evaluation, Score
from ._trees import Fold, concentration, held_out_aurocs, hoyer

__all__ = [
    "evaluate",
    "Evaluation",
    "Score",
    "confounding",
    "Confounding",
    "design",
    "Design",
    "matching",
    "METHODS",
    "DEFAULT",
    "anchored",
    "fit_anchored",
    "Adjustment",
    "components",
    "Components",
    "held_out_aurocs",
    "Fold",
    "hoyer",
    "concentration",
]
