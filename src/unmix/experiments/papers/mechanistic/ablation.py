"""What finds the slots: the search, the proxy, both or neither, three slots.

Matthes, Han and Shen (2026), arXiv:2509.22196, whose proxy is compositional contrast; ours counts how many
observed variables a slot moves. Contrast needs patience, and the paper has it: it is also given ten times the
steps of the others. No published number is known to us.
"""

from ._common import AFTER, COUNTING, NOTHING, PATIENT, SEARCH, cells, run

__all__ = ["CELLS", "run"]

WORLDS = tuple({"n_slots": 3, "overlap": o} for o in (0.0, 0.5, 0.8))
CELLS = cells(WORLDS, (SEARCH, AFTER, COUNTING, NOTHING, PATIENT))
