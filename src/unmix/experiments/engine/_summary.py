"""Stored results as tables: the paper's number, ours, the difference, and a verdict."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from ._cell import BUDGETS
from ._reasons import Reason

RAW, ROTATION = "raw x", "random rotation of the truth"
PIXELS, NOISE = "pixel PCA + ICA", "noise"
REFERENCES = (RAW, ROTATION, PIXELS, NOISE)
JUDGED = ("laptop", "full", "gpu")


@dataclass(frozen=True)
class Line:
    """One cell of a table with what was measured for it.

    Attributes
    ----------
    row, column, value, better, source : str
        As in the cell.
    paper, spread : float or None
        Published mean and standard deviation.
    ours, our_spread : float or None
        Mean and standard deviation over seeds (the latter None for a single seed).
    n : int
        Seeds that gave a number.
    difference : float or None
        Ours minus the paper's.
    verdict : {"better", "within", "worse", "not judged", "failed", ""}
        "within": apart by no more than both standard deviations together (the root of the sum of squares)
        and the precision of the published number. "not judged": too small a budget, or other data than the
        paper's. "": no published number.
    failures : tuple of str
        Errors of seeds that gave none.
    notes : tuple of str
        How our data differ from the paper's, and where the number, or the paper's, is no better than a
        reference.
    seconds : float
        Mean time of a run.
    reason : str
        Why the number is as it is, where somebody looked (`read_reasons`).
    """

    row: str
    column: str
    value: str
    better: str
    source: str
    paper: float | None
    spread: float | None
    ours: float | None
    our_spread: float | None
    n: int
    difference: float | None
    verdict: str
    failures: tuple[str, ...]
    notes: tuple[str, ...]
    seconds: float
    reason: str = ""


@dataclass(frozen=True)
class Table:
    """All lines of one experiment at one budget; `data` digests a folder that the user gave, if any."""

    experiment: str
    title: str
    budget: str
    data: str
    lines: tuple[Line, ...]
    commands: tuple[str, ...]
    codes: tuple[str, ...]
    machines: tuple[str, ...]
    n_runs: int

    def count(self, verdict: str) -> int:
        """Count the lines with a verdict."""
        return sum(line.verdict == verdict for line in self.lines)


def summarise(records: Iterable[dict[str, Any]], reasons: Sequence[Reason] = ()) -> tuple[Table, ...]:
    """Gather results into tables, one for each experiment and budget, the largest budget first.

    Of results that differ in nothing but the code that made them the latest is taken.

    Parameters
    ----------
    records : iterable of dict
        From `Store.records`.
    reasons : sequence of Reason
        Sentences for cells, from `read_reasons`; the first that fits counts.

    Returns
    -------
    tuple of Table

    Examples
    --------
    >>> summarise([])
    ()
    """
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for record in records:
        place = record["experiment"], record["budget"], record.get("data", "")
        groups.setdefault(place, []).append(record)
    order = sorted(groups, key=lambda place: (place[0], -BUDGETS.index(place[1]), place[2]))
    return tuple(_table(*place, _latest(groups[place]), reasons) for place in order)


def _latest(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Keep the newest result of each setting and seed, in an order that does not hang on their keys."""
    kept: dict[tuple[int, str], dict[str, Any]] = {}
    for record in sorted(records, key=lambda r: (r.get("finished", ""), *_which(r), r["code"])):
        kept[_which(record)] = record
    return list(kept.values())


def _which(record: dict[str, Any]) -> tuple[int, str]:
    return record["seed"], str(sorted(record["settings"].items()))


def _table(
    experiment: str, budget: str, data: str, records: list[dict[str, Any]], reasons: Sequence[Reason]
) -> Table:
    cells: dict[tuple[str, str, str], tuple[dict[str, Any], list[dict[str, Any]]]] = {}
    for record in records:
        for cell in record["cells"]:
            cells.setdefault((cell["row"], cell["column"], cell["value"]), (cell, []))[1].append(record)
    means = {place: _mean(_numbers(cell, found)) for place, (cell, found) in cells.items()}
    ordered = sorted(cells.values(), key=lambda entry: (_is_own(entry[1][0]), entry[0].get("place", 0)))
    lines = [_line(cell, found, budget, means, _reason(experiment, cell, reasons)) for cell, found in ordered]
    return Table(
        experiment=experiment,
        title=records[-1].get("title", experiment),
        budget=budget,
        data=data,
        lines=tuple(lines),
        commands=_different(record.get("command", "") for record in records),
        codes=_different(record["code"] for record in records),
        machines=_different(map(_machine, records)),
        n_runs=len(records),
    )


def _different(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, texts)))


def _is_own(record: dict[str, Any]) -> bool:
    """Whether a user's method made a result; its rows come last."""
    return ":" in str(record["settings"].get("method", ""))


def _reason(experiment: str, cell: dict[str, Any], reasons: Sequence[Reason]) -> str:
    place = experiment, cell["row"], cell["column"], cell["value"]
    return next((reason.says for reason in reasons if reason.fits(*place)), "")


def _line(
    cell: dict[str, Any],
    records: list[dict[str, Any]],
    budget: str,
    means: dict[Any, float | None],
    reason: str,
) -> Line:
    numbers = _numbers(cell, records)
    ours, spread = _mean(numbers), stdev(numbers) if len(numbers) > 1 else None
    failures = tuple(f"seed {r['seed']}: {_error(r)}" for r in sorted(records, key=_which) if r["error"])
    named = {name: cell[name] for name in ("row", "column", "value", "better", "source", "paper", "spread")}
    return Line(
        **named,
        ours=ours,
        our_spread=spread,
        n=len(numbers),
        difference=None if ours is None or cell["paper"] is None else ours - cell["paper"],
        verdict=verdict(cell, ours, spread, budget) if numbers or not failures else "failed",
        failures=failures,
        notes=tuple(_notes(cell, ours, means)),
        seconds=fmean(record["seconds"] for record in records),
        reason=reason,
    )


def verdict(cell: dict[str, Any], ours: float | None, spread: float | None, budget: str = "full") -> str:
    """Compare our mean with the paper's: better, within, or worse.

    Examples
    --------
    >>> cell = {"paper": 0.80, "spread": 0.03, "precision": 0.005, "better": "higher"}
    >>> verdict(cell, 0.84, 0.04), verdict(cell, 0.9, 0.04), verdict(cell, 0.7, 0.04)
    ('within', 'better', 'worse')
    """
    if ours is None or cell["paper"] is None:
        return ""
    if budget not in JUDGED or cell.get("other"):
        return "not judged"
    difference = ours - cell["paper"]
    if abs(difference) <= math.hypot(cell["spread"] or 0.0, spread or 0.0) + cell["precision"]:
        return "within"
    return "better" if (difference > 0) == (cell["better"] == "higher") else "worse"


def _notes(cell: dict[str, Any], ours: float | None, means: dict[Any, float | None]) -> Iterable[str]:
    """Say how our data differ, and where a number does not rise above a reference that learned nothing."""
    if cell["row"] in REFERENCES:
        return
    if cell.get("other") and cell["paper"] is not None:
        yield cell["other"]
    for reference in REFERENCES:
        floor = means.get((reference, cell["column"], cell["value"].partition(" of ")[0]))
        numbers = {"the paper": cell["paper"], "ours": ours}
        level = [who for who, number in numbers.items() if not _above(number, floor, cell["better"])]
        if level:
            yield f"no better than {reference} ({floor:.3f}): {', '.join(level)}"


def _above(number: float | None, floor: float | None, better: str) -> bool:
    """Whether a number beats a floor; where one of them is not known, nothing is said."""
    if number is None or floor is None:
        return True
    return number > floor if better == "higher" else number < floor


def _numbers(cell: dict[str, Any], records: list[dict[str, Any]]) -> list[float]:
    found = (record["values"].get(cell["value"]) for record in records if not record["error"])
    return [number for number in found if number is not None]


def _mean(numbers: list[float]) -> float | None:
    return fmean(numbers) if numbers else None


def _error(record: dict[str, Any]) -> str:
    return f"{record['error']['type']}: {record['error']['message']}"


def _machine(record: dict[str, Any]) -> str:
    machine = record.get("machine") or {}
    parts = (
        machine.get("system"),
        machine.get("processor"),
        f"{machine.get('cores')} cores",
        machine.get("gpu"),
    )
    return ", ".join(part for part in parts if part) if machine else ""
