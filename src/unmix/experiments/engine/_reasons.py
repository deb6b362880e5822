"""Why a number is as it is: sentences for cells, found by looking, kept in a file beside the results."""

import os
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from pathlib import Path

from ..._untrusted import read_json

FILE = "reasons.json"


@dataclass(frozen=True)
class Reason:
    """A sentence for all cells that its patterns fit; `*` stands for anything.

    Attributes
    ----------
    says : str
        The sentence.
    experiment, row, column, value : str
        Patterns, as of file names.

    Examples
    --------
    >>> reason = Reason("The seeds disagree.", experiment="ddl.*", column="n = 4*")
    >>> reason.fits("ddl.table5", "unmix default", "n = 4, noise", "mcc")
    True
    """

    says: str
    experiment: str = "*"
    row: str = "*"
    column: str = "*"
    value: str = "*"

    def fits(self, *cell: str) -> bool:
        """Whether it is about a cell: experiment, row, column and value."""
        patterns = (self.experiment, self.row, self.column, self.value)
        return all(fnmatchcase(text, pattern) for text, pattern in zip(cell, patterns, strict=True))


def read_reasons(folder: str | os.PathLike[str]) -> tuple[Reason, ...]:
    """Read `reasons.json` of a folder of results, a list of objects; none where there is no such file.

    Parameters
    ----------
    folder : path-like

    Returns
    -------
    tuple of Reason
        In the order of the file; the first that fits a cell counts.

    Examples
    --------
    >>> import tempfile
    >>> read_reasons(tempfile.mkdtemp())
    ()
    """
    path = Path(folder) / FILE
    if not path.is_file():
        return ()
    try:
        return tuple(_reason(entry) for entry in read_json(path))
    except (ValueError, TypeError, AttributeError):
        known = [field.name for field in fields(Reason)]
        raise ValueError(
            f"`{FILE}` must hold a list of objects with the texts {known}, of which the first is needed. "
            "Compare docs/reproduce.md."
        ) from None


def _reason(entry: dict[str, str]) -> Reason:
    if not all(isinstance(text, str) for text in entry.values()) or not entry.get("says", "").strip():
        raise TypeError
    return Reason(**entry)
