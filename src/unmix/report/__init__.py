"""One self-contained HTML page about a fitted model: what was recovered, what can be trusted, and why;
or about two runs: whether they agree, and up to what.

The page needs no network and no scripts, adapts to phones and to dark screens, and never shows a score
without what raw data and a random rotation would have scored.
"""

from ._comparison import compare
from ._write import write

__all__ = ["write", "compare"]
