"""What `replicate` returns: for each latent of a reference, where and how it is found again."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._spans import Subspace

STATUSES = ("alone", "subspace", "none", "constant")
WORDS = {
    "alone": "replicates alone",
    "subspace": "replicates as part of a subspace",
    "none": "does not replicate",
    "constant": "not there: constant in the reference",
}
CAVEAT = (
    "Agreement is not identification: runs that start alike, or see the same data, also agree on latents that "
    "are wrong. What does not replicate is ruled out; what replicates is not ruled in."
)
_HEADS = ("latent", "run", "verdict", "with", "corr.", "span", "noise", "rotated")
_SUMMARY = ("run", "latents", "alone", "subspace", "not", "constant")
MAX_LINES = 60


@dataclass(frozen=True, eq=False)
class Counterparts:
    """Each latent of the reference in one other run; all arrays have one entry per latent of the reference.

    Attributes
    ----------
    name : str
    n_latents : int
        Of this run.
    status : array of str
        "alone", "subspace", "none", or "constant" where the reference's latent never varies.
    partner : array of int
        The nearest latent of this run, chosen on the rows to fit; -1 where there is none.
    correlation : array
        With that latent, on the rows held out.
    span : array
        Multiple correlation with all latents of this run, or with the nearest of a wide one, on the rows held
        out; for those that replicate alone |correlation|.
    noise : array
        The rate at which unrelated latents would do as well: for a correlation the best of all on the rows to
        fit and then the same one on the rows held out, for a span one combination on the rows held out.
    rotated : array
        What the best single latent of a random rotation of this run would score on average.
    subspaces : tuple of Subspace
        `latents` of the reference, `counterparts` of this run.
    subspace : array of int
        The number of the latent's subspace, or -1.
    """

    name: str
    n_latents: int
    status: np.ndarray
    partner: np.ndarray
    correlation: np.ndarray
    span: np.ndarray
    noise: np.ndarray
    rotated: np.ndarray
    subspaces: tuple[Subspace, ...]
    subspace: np.ndarray

    @property
    def counts(self) -> dict[str, int]:
        """How many latents of the reference have each status."""
        return {status: int((self.status == status).sum()) for status in STATUSES}

    def found(self, latent: int) -> dict[str, Any]:
        """Return one latent's entry as plain values."""
        group = int(self.subspace[latent])
        inside = None if group < 0 else self.subspaces[group]._asdict()
        numbers = {name: float(getattr(self, name)[latent]) for name in ("correlation", "span", "noise")}
        status, partner = str(self.status[latent]), int(self.partner[latent])
        return {
            "run": self.name,
            "status": status,
            "partner": None if partner < 0 else partner,
            **numbers,
            "rotated": float(self.rotated[latent]),
            "subspace": inside,
        }


@dataclass(frozen=True, eq=False)
class Replication:
    """Which latents of the first of several runs are found in the others; see `replicate`.

    Attributes
    ----------
    names : tuple of str
        Of all runs, the reference first.
    n_latents, n_rows, n_held : int
        Of the reference; all rows, and those held out.
    threshold : float
        The correlation that was asked for.
    runs : tuple of Counterparts
        One per other run.
    notes : tuple of str
        What to bear in mind.
    """

    names: tuple[str, ...]
    n_latents: int
    n_rows: int
    n_held: int
    threshold: float
    runs: tuple[Counterparts, ...]
    notes: tuple[str, ...] = ()

    caveat = CAVEAT

    @property
    def n_alone(self) -> np.ndarray:
        """In how many runs each latent replicates alone."""
        return np.sum([run.status == "alone" for run in self.runs], axis=0)

    @property
    def n_replicated(self) -> np.ndarray:
        """In how many runs each latent replicates, alone or as part of a subspace."""
        return self.n_alone + np.sum([run.status == "subspace" for run in self.runs], axis=0)

    @property
    def meaning(self) -> str:
        """One sentence on how many latents are found again."""
        n, others = self.n_latents, len(self.runs)
        everywhere, somehow = int((self.n_alone == others).sum()), int((self.n_replicated == others).sum())
        where = "the other run" if others == 1 else f"all {others} other runs"
        never = int((self.n_replicated == 0).sum())
        return (
            f"Of {n:,} latents of {self.names[0]}, {everywhere:,} replicate alone in {where}, "
            f"{somehow - everywhere:,} only with the help of a subspace, and {never:,} in none."
        )

    def latent(self, number: int) -> dict[str, Any]:
        """Return what is known of one latent: in how many runs it replicates, and its entry for each run."""
        return {
            "latent": number,
            "alone_in": int(self.n_alone[number]),
            "replicates_in": int(self.n_replicated[number]),
            "runs": [run.found(number) for run in self.runs],
        }

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        plain = {name: getattr(self, name) for name in ("n_latents", "n_rows", "n_held", "threshold")}
        summary = [{"run": run.name, "n_latents": run.n_latents, **run.counts} for run in self.runs]
        return {
            "runs": list(self.names),
            **plain,
            "meaning": self.meaning,
            "caveat": self.caveat,
            "notes": list(self.notes),
            "summary": summary,
            "latents": _latents(self),
        }

    def summary(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return heads and rows of a table of all other runs: the share of latents with each status."""
        return _SUMMARY, [
            (run.name, f"{run.n_latents:,}", *(f"{n / self.n_latents:.0%}" for n in run.counts.values()))
            for run in self.runs
        ]

    def lines(self, limit: int | None = MAX_LINES) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return heads and rows of the list, latent by latent and run by run."""
        n = self.n_latents if limit is None else min(self.n_latents, max(1, limit // len(self.runs)))
        return _HEADS, [(str(j), *line(run.found(j))) for j in range(n) for run in self.runs]

    def __str__(self) -> str:
        tables = [_aligned(*self.summary()), _aligned(*self.lines())]
        return "\n".join(["\n\n".join(tables), *self.left_out(), self.meaning, self.caveat, *self._said()])

    def __rich__(self) -> Any:
        from rich.console import Group
        from rich.table import Table

        drawn = []
        for (heads, rows), caption in ((self.summary(), None), (self.lines(), " ".join(self.left_out()))):
            drawn.append(Table(*heads, caption=caption or None))
            for row in rows:
                drawn[-1].add_row(*row)
        return Group(*drawn)

    def left_out(self, limit: int = MAX_LINES) -> list[str]:
        """Say how many latents a list of so many lines leaves out."""
        hidden = self.n_latents - max(1, limit // len(self.runs))
        return [f"{hidden:,} more latents are in the JSON document."] if hidden > 0 else []

    def _said(self) -> list[str]:
        return [f"Note: {note}" for note in self.notes]


def line(entry: dict[str, Any]) -> tuple[str, ...]:
    """Write one entry as words and numbers."""
    status = entry["status"]
    if status == "constant":
        return entry["run"], WORDS[status], "", "", "", "", ""
    numbers = (f"{entry['correlation']:+.2f}", f"{entry['span']:.2f}", rate(entry["noise"]))
    return entry["run"], WORDS[status], _company(entry), *numbers, f"{entry['rotated']:.2f}"


def _company(entry: dict[str, Any]) -> str:
    """Name the latents that this one is found with."""
    inside, partner = entry["subspace"], entry["partner"]
    if entry["status"] != "subspace" or inside is None:
        return "–" if partner is None else f"{'' if entry['status'] == 'alone' else 'nearest: '}{partner}"
    return f"{_few(inside['latents'])} here, {_few(inside['counterparts'])} there"


def _few(numbers: tuple[int, ...], limit: int = 6) -> str:
    shown = ", ".join(map(str, numbers[:limit]))
    return shown if len(numbers) <= limit else f"{shown}, ... ({len(numbers)})"


def rate(value: float) -> str:
    """Write a rate; what is very small is only said to be so."""
    return "< 1e-6" if value < 1e-6 else f"{value:.0e}" if value < 0.01 else f"{value:.2f}"


def _latents(found: Replication) -> list[dict[str, Any]]:
    alone, replicated = found.n_alone, found.n_replicated
    return [
        {
            "latent": j,
            "alone_in": int(alone[j]),
            "replicates_in": int(replicated[j]),
            "runs": [run.found(j) for run in found.runs],
        }
        for j in range(found.n_latents)
    ]


def _aligned(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in (heads, *rows))
