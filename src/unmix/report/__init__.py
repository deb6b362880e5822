"""One self-contained HTML page about a fitted model: what was recovered, what can be trusted, and why;
about runs: whether they agree, up to what, and which latents replicate; or about stored results: the papers'
numbers and ours.

Pages need no network, and a script only to sort and filter results; they adapt to phones and to dark screens,
and never show a score without what raw data and a random rotation would have scored.
"""

from ._comparison import compare
from ._deconfounding import deconfounding
from ._replication import replication
from ._results import results
from ._write import write

__all__ = ["write", "compare", "replication", "results", "deconfounding"]
