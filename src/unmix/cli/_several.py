"""Options that take several words: `--batch experiment plate`, `--batch experiment,plate`, or given twice."""

from collections.abc import Collection, Sequence
from typing import Any

from typer.core import TyperCommand

SEVERAL = ("--batch", "--label", "--task", "--relation", "--compare")


class SeveralWords(TyperCommand):
    """A command whose options take all words up to the next option; its argument comes first."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Write each further word as the same option given again."""
        return super().parse_args(ctx, spread(args, SEVERAL))


def spread(args: Sequence[str], several: Collection[str]) -> list[str]:
    """Repeat an option before each of its words.

    >>> spread(["x.csv", "--batch", "experiment", "plate", "--out", "y.csv"], ["--batch"])
    ['x.csv', '--batch', 'experiment', '--batch', 'plate', '--out', 'y.csv']
    """
    out: list[str] = []
    option, taken = "", 0
    for word in args:
        if word.startswith("-"):
            option, taken = (word if word in several else ""), 0
        elif option:
            taken += 1
            out += [option] if taken > 1 else []
        out.append(word)
    return out
