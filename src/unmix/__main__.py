"""`python -m unmix`: the command line where the package is not installed."""

import os
import sys

if sys.path[0] == os.getcwd() != os.path.dirname(os.path.dirname(os.path.abspath(__file__))):
    del sys.path[0]  # where Python puts the current folder, a file of which could pass for a library

from .cli import main

if __name__ == "__main__":  # workers import this module too
    main()
