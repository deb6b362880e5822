"""`explain`: one answer from all that is known."""

from ._explain import explain, explained
from ._explanation import Explanation
from ._facts import Facts
from ._reading import Reading, Unused, resampled_structures
