"""One self-contained HTML page about a fitted model: what was recovered, what can be trusted, and why.

The page needs no network and no scripts, adapts to phones and to dark screens, and never shows a score
without what raw data and a random rotation would have scored.
"""

from ._write import write

__all__ = ["write"]
