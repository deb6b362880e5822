"""Tables with batches: how far batch and label go together, and what to do about batches.

`unmix.deconfound(table, batch=...)` does all of it at once: the room itself is that call. `fit_transform`
adjusts a table, `evaluate` compares methods on one, `components` says which independent components are
technical and by what evidence. What a method learns, it learns from controls, or from all rows without their
labels; labels only score. Free of torch, except where independent components are looked for.
"""

import sys
from inspect import signature
from types import ModuleType

from ._anchored import Adjustment, anchored, fit_anchored
from ._components import Components, components
from ._confounding import Confounding, confounding
from ._deconfound import fit_transform, names_out
from ._design import Design, design
from ._evaluate import MAX_ROWS, confounding_of, evaluate, judged, known_of, some_batches
from ._files import Source, adjust_file, open_source
from ._judge import Known
from ._meta import joined_by_id, names_of_rows, shared_key
from ._methods import DEFAULT, METHODS
from ._query import columns_in, matching
from ._scores import Evaluation, Score
from ._trees import Fold, concentration, held_out_aurocs, hoyer
from ._whole import Deconfounded, deconfounded

__all__ = [
    "deconfounded",
    "Deconfounded",
    "fit_transform",
    "evaluate",
    "judged",
    "Known",
    "known_of",
    "confounding_of",
    "some_batches",
    "MAX_ROWS",
    "Evaluation",
    "Score",
    "confounding",
    "Confounding",
    "design",
    "Design",
    "matching",
    "columns_in",
    "joined_by_id",
    "names_of_rows",
    "shared_key",
    "names_out",
    "open_source",
    "Source",
    "adjust_file",
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


class _Room(ModuleType):
    __call__ = staticmethod(deconfounded)
    __signature__ = signature(deconfounded)  # else the first argument is taken for `self`


sys.modules[__name__].__class__ = _Room
