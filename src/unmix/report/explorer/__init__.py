"""A page to look around in: latents sorted by trust, what each moves, its rows, and any two in a plane.

`explore` writes one HTML file that needs no network and opens from a folder; `serve` shows the same page for
more rows than a file should hold. Both are made from an `Explorer`: plain words about each latent, and
columns of one or two bytes a row, which the page filters and draws itself.
"""

from ._explore import explore, explorer
from ._page import Explorer
from ._serve import Server, serve

__all__ = ["Explorer", "Server", "explore", "explorer", "serve"]
