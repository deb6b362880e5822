"""`python -m unmix`: the command line where the package is not installed."""

from .cli import main

if __name__ == "__main__":  # workers import this module too
    main()
