"""One self-contained HTML page about a fitted model: what was recovered, what can be trusted, and why;
about a model of images: pictures of what each latent does; a page to look around in; about a table before a
fit: how many latents it has, and which estimators it could support; about runs: whether they agree, up to
what, and which latents replicate; or about stored results: the papers' numbers and ours.

Pages need no network, and a script only to look around, to sort and to filter; they adapt to phones
and to dark screens, and never show a score without what raw data and a random rotation would have scored.
"""

from ._choice import choice
from ._comparison import compare
from ._deconfounding import deconfounding
from ._features import feature_replication, features
from ._replication import replication
from ._results import results
from ._show import show
from ._write import write
from .explorer import explore, explorer, serve

__all__ = [
    "write",
    "show",
    "explore",
    "explorer",
    "serve",
    "choice",
    "compare",
    "replication",
    "features",
    "feature_replication",
    "results",
    "deconfounding",
]
