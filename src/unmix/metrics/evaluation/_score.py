"""A table of scores: a mapping, a frame, a terminal table and a file."""

import csv
import io
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from ..._files import atomic_write
from ..._html import panel, table, words
from ._terminal import drawn, folded

_HEADINGS = ("metric", "value", "interval", "null", "floor", "raw x", "probe", "n", "seconds", "reads as")
_FEW_HEADINGS = ("metric", "value", "interval", "null", "floor", "raw x", "reads as")
_CAPTION = (
    "null: shuffled rows. floor: random rotations of the truth. In brackets: what 95% of them stay below."
)
_SUFFIXES = (".csv", ".json", ".html", ".htm")


@dataclass(frozen=True)
class Score:
    """A metric's value and what is needed to read it.

    Attributes
    ----------
    value : float
    interval : (float, float)
        95% interval of the value over resampled data.
    null : float or None
        The value when the rows of the codes are shuffled: chance, at this sample size and width.
    floor : float or None
        The value of random rotations of the truth: everything known, nothing identified. None where the
        metric is undefined there, as compactness is with a single code.
    raw : float or None
        The value of the raw observations in place of the codes, when they were given.
    seconds : float
        Time for one evaluation of the metric; the parts of one metric share it.
    n_samples : int
        Samples used; slow metrics use a random part of many.
    probe : str
        What reads the codes.
    n_boot, n_draws : int
        Half-samples behind the interval; draws behind null and floor.
    factors : str or None
        Which factors were taken as discrete, where that matters to the metric.
    null_high, floor_high : float or None
        What 95% of shuffles, and of rotations, stay below: by quantiles of 20 draws or more, else by
        Student's t.
    beside : dict of str to float or None
        The value of each of the `references`, other codes of the same samples.
    """

    value: float
    interval: tuple[float, float]
    null: float | None
    floor: float | None
    raw: float | None
    seconds: float
    n_samples: int
    probe: str = ""
    n_boot: int = 0
    n_draws: int = 0
    factors: str | None = None
    null_high: float | None = None
    floor_high: float | None = None
    beside: dict[str, float | None] = field(default_factory=dict)

    @property
    def reading(self) -> str:
        """What the value is evidence of, by the low end of its interval: "chance", "floor" or "above floor".

        "floor" says that codes which identify nothing often score as much: one rotation in twenty, or more.
        "above chance" says that there is no floor to compare with.
        """
        null = self.null if self.null_high is None else self.null_high
        floor = self.floor if self.floor_high is None else self.floor_high
        if null is not None and self.interval[0] <= null:
            return "chance"
        if floor is None:
            return "above chance"
        return "floor" if self.interval[0] <= floor else "above floor"


@dataclass(frozen=True)
class Evaluation(Mapping[str, Score]):
    """Scores by the name of their metric; prints as a table.

    Attributes
    ----------
    scores : dict of str to Score
    factors : str
        Which factors were taken as discrete, and who said so.
    undefined : tuple of str
        Scores left out since the metric has no value on these data (modularity with a single factor, say).
    """

    scores: dict[str, Score]
    factors: str = ""
    undefined: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Score:
        return self.scores[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def chance(self) -> tuple[str, ...]:
        """The metrics whose values can't be told from those of shuffled codes.

        >>> Evaluation({"mcc": Score(0.1, (0.0, 0.2), 0.1, 0.7, None, 0.01, 100)}).chance
        ('mcc',)
        """
        return tuple(name for name, score in self.scores.items() if score.reading == "chance")

    @property
    def warning(self) -> str:
        """What is to be read before the numbers, or nothing."""
        if not self.chance:
            return ""
        return f"Can't be told from shuffled codes: {', '.join(self.chance)}. Do not read these values."

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns: "metric", then what `records` holds."""
        return ("metric", "value", "low", "high", *_MORE, *self.references)

    @property
    def references(self) -> tuple[str, ...]:
        """The names of other codes that were scored beside these."""
        return tuple(dict.fromkeys(name for score in self.scores.values() for name in score.beside))

    def column(self, name: str) -> list[Any]:
        """Return one column, a value per metric.

        >>> Evaluation({"mcc": Score(0.9, (0.8, 1.0), 0.1, 0.7, None, 0.01, 100)}).column("high")
        [1.0]
        """
        if name not in self.columns:
            raise ValueError(f"`name` must be one of {self.columns}, got {name!r}. Choose one of them.")
        return [record[name] for record in self.records()]

    def records(self) -> list[dict[str, Any]]:
        """Return one flat dictionary per metric."""
        return [_record(name, score) for name, score in self.scores.items()]

    def to_frame(self) -> Any:
        """Return a pandas DataFrame, a row per metric."""
        try:
            import pandas
        except ImportError:
            raise ValueError(
                "`to_frame` needs pandas: pip install pandas, or use `records`, `column` or `write`."
            ) from None
        return pandas.DataFrame(self.records(), columns=list(self.columns)).set_index("metric")

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return plain numbers, ready for JSON."""
        return {
            name: asdict(score) | {"interval": list(score.interval), "reading": score.reading}
            for name, score in self.scores.items()
        }

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the table as .csv, .json or .html, by the suffix, atomically."""
        suffix = Path(path).suffix.lower()
        if suffix not in _SUFFIXES:
            raise ValueError(f"`path` must end in {', '.join(_SUFFIXES)}, got {str(path)!r}. Rename it.")
        text = {".csv": self._csv, ".json": self._json}.get(suffix, self._html)()
        return atomic_write(path, text)

    def __str__(self) -> str:
        rows = [self._heads(_HEADINGS), *self._rows()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        return "\n".join([self.warning, *lines] if self.warning else lines)

    def _repr_html_(self) -> str:
        parts = words(self.warning or ""), table(self._heads(_HEADINGS), self._rows())
        return panel("Scores, beside what they have to beat", *parts, tone="care" if self.warning else "open")

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        from rich.text import Text

        wide = [self._heads(_HEADINGS), *self._rows()]
        fits = sum(max(map(len, column)) + 3 for column in zip(*wide, strict=True)) < options.max_width
        if self.warning:
            yield Text(self.warning, style="bold")
        yield drawn(wide if fits else folded(self._few_rows(), _FEW_HEADINGS, options.max_width))
        said = (self._caption(), "" if fits else self._probes())
        yield Text(" ".join(filter(None, said)), style="dim")

    def _heads(self, headings: tuple[str, ...]) -> tuple[str, ...]:
        """Return the headings, those of references after that of raw x."""
        at = headings.index("raw x") + 1
        return (*headings[:at], *self.references, *headings[at:])

    def _rows(self) -> list[tuple[str, ...]]:
        return [_row(name, score, self.references) for name, score in self.scores.items()]

    def _few_rows(self) -> list[tuple[str, ...]]:
        rows = [_few(name, score, self.references) for name, score in self.scores.items()]
        heads = self._heads(_FEW_HEADINGS)
        raw = any(score.raw is not None for score in self.scores.values()) or not self.references
        shown = [k for k, head in enumerate(heads) if raw or head != "raw x"]
        return [tuple(row[k] for k in shown) for row in (heads, *rows)]

    def _csv(self) -> str:
        text = io.StringIO()
        rows = csv.DictWriter(text, self.columns, lineterminator="\n")
        rows.writeheader()
        rows.writerows(self.records())
        return text.getvalue()

    def _json(self) -> str:
        return json.dumps(self.to_dict(), allow_nan=False, ensure_ascii=False, indent=1) + "\n"

    def _html(self) -> str:
        pages = import_module("unmix.report._answers")  # above this room: asked for only here
        return pages.scores_page(self._heads(_HEADINGS), self._rows(), self._caption(), self.warning)

    def _caption(self) -> str:
        left_out = f"Undefined here: {', '.join(self.undefined)}." if self.undefined else ""
        return " ".join(filter(None, (_CAPTION, self.factors, left_out)))

    def _probes(self) -> str:
        """Name the probes of DCI, whose scores don't compare, where there is no column for probes."""
        parts = [(*name.rpartition("."), score.probe) for name, score in self.scores.items()]
        found = {name: probe for name, _, part, probe in parts if part in _OF_DCI}
        return " ".join(f"Probe of {name}: {probe}." for name, probe in found.items())


_OF_DCI = ("disentanglement", "completeness", "informativeness")
_MORE = (
    *("null", "null_high", "floor", "floor_high", "raw", "probe"),
    *("n_samples", "n_boot", "n_draws", "seconds", "factors", "reading"),
)


def _record(name: str, score: Score) -> dict[str, Any]:
    low, high = score.interval
    rest = {column: getattr(score, column) for column in _MORE}
    return {"metric": name, "value": score.value, "low": low, "high": high} | rest | score.beside


def _row(name: str, score: Score, references: tuple[str, ...]) -> tuple[str, ...]:
    low, high = score.interval
    raw = "-" if score.raw is None else f"{score.raw:.3f}"
    bounds = (_drawn(score.null, score.null_high), _drawn(score.floor, score.floor_high))
    others = (_drawn(score.beside.get(reference), None) for reference in references)
    numbers = (f"{score.value:.3f}", f"{low:.3f} to {high:.3f}", *bounds, raw, *others)
    return (name, *numbers, score.probe, str(score.n_samples), f"{score.seconds:.3g}", score.reading)


def _few(name: str, score: Score, references: tuple[str, ...]) -> tuple[str, ...]:
    """Return what fits into eighty columns; files and dictionaries hold the rest."""
    low, high = score.interval
    null, floor, raw = (_short(value) for value in (score.null, score.floor, score.raw))
    above = f" ({score.floor_high:.2f})" if score.floor_high is not None else ""
    others = (_short(score.beside.get(reference)) for reference in references)
    beside = (null, floor + above, raw, *others)
    return name, f"{score.value:.3f}", f"{low:.2f}–{high:.2f}", *beside, score.reading


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _drawn(mean: float | None, high: float | None) -> str:
    if mean is None:
        return "-"
    return f"{mean:.3f}" if high is None else f"{mean:.3f} ({high:.2f})"
