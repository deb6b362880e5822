"""Commands: `unmix demo | simulate | fit | trust | transform | evaluate | certify | compare | ...`.

Each is a thin layer over the library: files in, files out, with `--json` for programs. Whatever needs torch
is imported inside the command that uses it, so that `unmix certify` and `--help` answer at once.
"""

from ._app import main

__all__ = ["main"]
