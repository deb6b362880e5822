"""Print the lowest versions that the dependencies in pyproject.toml allow, one requirement on each line.

python tools/lowest.py pyproject.toml > lowest.txt
"""

import sys
import tomllib
from pathlib import Path


def lowest(text: str) -> list[str]:
    r"""Pin every core dependency to the number after `>=`.

    >>> lowest('[project]\ndependencies = ["numpy>=1.26", "scipy>=1.11,<2"]')
    ['numpy==1.26.*', 'scipy==1.11.*']
    """
    needed = tomllib.loads(text)["project"]["dependencies"]
    return [
        f"{name}=={bound.partition(',')[0]}.*" for name, _, bound in (each.partition(">=") for each in needed)
    ]


if __name__ == "__main__":
    sys.stdout.write("\n".join(lowest(Path(sys.argv[1]).read_text())) + "\n")
