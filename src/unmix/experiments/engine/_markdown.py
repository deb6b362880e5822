"""Stored results in words: how many numbers are better, within or worse, and why the worse ones are."""

from collections.abc import Iterable
from pathlib import Path

from ..._files import atomic_write
from ._summary import JUDGED, REFERENCES, Line, Table

BEGIN, END = "<!-- results -->", "<!-- /results -->"
PAPERS = {
    "ddl": "Diverse dictionary learning",
    "pdgmm": "Degenerate Gaussian mixtures",
    "nearid": "Near-identifiability",
    "cg": "Changes and sparse mixing",
    "mechanistic": "Mechanistic independence",
    "scale": "Ten times the dimensions",
    "floor": "Floors of scores",
    "seeds": "Agreement of runs",
}
_NOTHING = "No results are stored yet."
_SMOKE = "Only runs of the smoke budget are stored, which are too short to be judged."
_UNKNOWN = "Not looked into yet."


def write_markdown(path: str | Path, tables: Iterable[Table]) -> Path:
    """Write a summary of results: all of it, or only the counts into a file with marks for them.

    Parameters
    ----------
    path : str or Path
        A file that has the lines `<!-- results -->` and `<!-- /results -->` keeps everything outside them.
    tables : iterable of Table
        From `summarise`.

    Returns
    -------
    Path
        The file written.
    """
    path, tables = Path(path), tuple(tables)
    around = _around_marks(path)
    text = summary(tables) if around is None else f"{around[0]}{BEGIN}\n{counts(tables)}\n{END}{around[1]}"
    return atomic_write(path, text)


def has_marks(path: str | Path) -> bool:
    """Whether a file has marks for the counts, so that everything outside them is kept."""
    return _around_marks(Path(path)) is not None


def _around_marks(path: Path) -> tuple[str, str] | None:
    """Return what stands before and after the marks; None where there are none."""
    old = path.read_text(encoding="utf-8") if path.is_file() else ""
    before, begin, rest = old.partition(BEGIN)
    _, end, after = rest.partition(END)
    return (before, after) if begin and end else None


def counts(tables: Iterable[Table]) -> str:
    """Return a Markdown table of verdicts, a line for each paper, and what the references say.

    Examples
    --------
    >>> counts([])
    'No results are stored yet.'
    """
    tables = tuple(tables)
    judged = largest(tables)
    if not judged:
        return _SMOKE if tables else _NOTHING
    lines = [
        "| Paper | better | within | worse | failed | no published number |",
        "|---|---|---|---|---|---|",
    ]
    for paper, name in PAPERS.items():
        own = [line for table in judged if table.experiment.startswith(f"{paper}.") for line in table.lines]
        if own:
            lines.append(f"| {name} | {' | '.join(map(str, _verdicts(own)))} |")
    every = [line for table in judged for line in table.lines]
    lines.append(f"| **all** | {' | '.join(f'**{n}**' for n in _verdicts(every))} |")
    return "\n".join([*lines, "", _floors(every)])


def summary(tables: Iterable[Table]) -> str:
    """Return the counts, what is worse than the paper's under the reason for it, and then every table."""
    tables = tuple(tables)
    judged = largest(tables)
    parts = ["# The papers' numbers, and ours", "", counts(tables), ""]
    if worse := _worse(judged):
        parts += ["## Worse than the paper", ""]
        parts += [text for reason, numbers in worse.items() for text in (f"- {reason}", *numbers)]
        parts += [""]
    for table in judged:
        parts += [*_listing(table), ""]
    return "\n".join(parts)


def largest(tables: Iterable[Table]) -> list[Table]:
    """Keep the largest budget of each experiment, of those that are judged."""
    kept: dict[tuple[str, str], Table] = {}
    for table in tables:  # the largest budget comes first
        if table.budget in JUDGED:
            kept.setdefault((table.experiment, table.data), table)
    return list(kept.values())


def _verdicts(lines: list[Line]) -> list[int]:
    own = [line.verdict for line in lines if line.row not in REFERENCES]
    return [own.count(verdict) for verdict in ("better", "within", "worse", "failed", "")]


def _floors(lines: list[Line]) -> str:
    """Say how many published numbers, and how many of ours, are no better than codes that learned nothing."""
    compared = [line for line in lines if line.paper is not None]
    paper, ours = (sum(any(who in note for note in line.notes) for line in compared) for who in _WHO)
    return (
        f"Of {len(compared)} published numbers, {paper} are no better than raw x or a random rotation of the "
        f"truth on our data; of ours beside them, {ours}."
    )


_WHO = ("the paper", "ours")


def _worse(tables: list[Table]) -> dict[str, list[str]]:
    """Gather the numbers that are worse than the paper's by the reason for it."""
    found: dict[str, list[str]] = {}
    for table in tables:
        for line in table.lines:
            if line.verdict == "worse":
                found.setdefault(line.reason or _UNKNOWN, []).append(_number(table, line))
    return found


def _number(table: Table, line: Line) -> str:
    where = f"`{table.experiment}`, {line.row}, {line.column}, {line.value}"
    seeds = "1 seed" if line.n == 1 else f"{line.n} seeds"
    ours, paper = _mean(line.ours, line.our_spread), _mean(line.paper, line.spread)
    return f"    - {where}: {ours} ({seeds}), paper {paper}"


def _listing(table: Table) -> list[str]:
    """Write a table as it is stored: the commands that made it, and a line for each number."""
    lines = [
        f"## {table.experiment}: {_plain(table.title)}",
        "",
        *(f"    {' '.join(command.split())}" for command in table.commands),
        "",
        *([f"Made on: {'; '.join(table.machines)}.", ""] if table.machines else []),
        "| Method | Data | Score | Paper | Ours | Seeds | Verdict |",
        "|---|---|---|---|---|---|---|",
    ]
    for line in table.lines:
        cells = (
            line.row,
            line.column,
            line.value + (" ↓" if line.better == "lower" else ""),
            _mean(line.paper, line.spread),
            _mean(line.ours, line.our_spread),
            str(line.n),
            "; ".join(filter(None, (line.verdict, *line.notes, *line.failures))),
        )
        lines.append(f"| {' | '.join(map(_plain, cells))} |")
    return lines


def _mean(mean: float | None, spread: float | None) -> str:
    return "" if mean is None else f"{mean:.3g}" + ("" if spread is None else f" ± {spread:.3g}")


def _plain(text: str) -> str:
    """Escape names, which may be a user's, and errors: neither Markdown nor HTML may read markup in them."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
