"""What `replicate` returns: for each latent of a reference, where and how it is found again."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from . import _verdicts
from ._listing import CAPTION, CAVEAT, HEADS, SUMMARY, aligned, line, meaning
from ._spans import Subspace
from ._verdicts import TRUST, cell, check_verdicts, sentences, verdict_on

STATUSES = ("alone", "subspace", "none", "constant")
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
        out. One that is clearly above |correlation| says that this run mixes the latent.
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
        """Return one latent's entry as plain values; its subspace by number."""
        partner, group = int(self.partner[latent]), int(self.subspace[latent])
        numbers = ("correlation", "span", "noise", "rotated")
        return {
            "run": self.name,
            "status": str(self.status[latent]),
            "partner": None if partner < 0 else partner,
            **{name: float(getattr(self, name)[latent]) for name in numbers},
            "subspace": None if group < 0 else group,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return how many latents have each status, and the subspaces; entries of latents are in `found`."""
        groups = [{name: list(part) for name, part in group._asdict().items()} for group in self.subspaces]
        return {"run": self.name, "n_latents": self.n_latents, **self.counts, "subspaces": groups}


@dataclass(frozen=True, eq=False)
class Replication:
    """Which latents of the first of several runs are found in the others; see `replicate`.

    Attributes
    ----------
    names : tuple of str
        Of all runs, the reference first.
    n_latents, n_rows, n_held : int
        Latents of the reference; all rows, and those held out.
    threshold : float
        The correlation that was asked for.
    runs : tuple of Counterparts
        One per other run.
    notes : tuple of str
        What to bear in mind.
    caveat : str
        What agreement does not say.
    verdicts : mapping of str to Trust
        What `unmix.trust` says of runs that are models, by name; see `beside`.
    """

    names: tuple[str, ...]
    n_latents: int
    n_rows: int
    n_held: int
    threshold: float
    runs: tuple[Counterparts, ...]
    notes: tuple[str, ...] = ()
    caveat: str = CAVEAT
    verdicts: Mapping[str, Any] = field(default_factory=dict)

    def beside(self, verdicts: Mapping[str, Any]) -> "Replication":
        """Return the same with the verdicts of `unmix.trust` on runs that are models.

        Parameters
        ----------
        verdicts : mapping of str to Trust
            By the names of runs. That on the reference is shown beside each of its latents.
        """
        check_verdicts(self, verdicts)
        return replace(self, verdicts=verdicts)

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
        return meaning(self)

    @property
    def known(self) -> list[str]:
        """What is known beyond agreement: the verdict on each run that is a model, and on what replicates."""
        return sentences(self)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        plain = {name: getattr(self, name) for name in ("n_latents", "n_rows", "n_held", "threshold")}
        alone, replicated = self.n_alone.tolist(), self.n_replicated.tolist()
        trust = self.verdicts.get(self.names[0])
        latents = [
            {"latent": j, "alone_in": alone[j], "replicates_in": replicated[j]}
            | ({} if trust is None else {"trust": verdict_on(trust, j)})
            | {"runs": [run.found(j) for run in self.runs]}
            for j in range(self.n_latents)
        ]
        words = {"meaning": self.meaning, "caveat": self.caveat, "notes": list(self.notes)}
        runs = [run.to_dict() for run in self.runs]
        return {"names": list(self.names), **plain, **words, "runs": runs, "latents": latents}

    def summary(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return heads and rows of a table of the other runs: the share of latents with each status."""
        return SUMMARY, [
            (run.name, f"{run.n_latents:,}", *(f"{n / self.n_latents:.0%}" for n in run.counts.values()))
            for run in self.runs
        ]

    def lines(self, limit: int = MAX_LINES) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return heads and at most about `limit` rows of the list, latent by latent and run by run."""
        times, others = self.n_replicated, len(self.runs)
        shown, trust = range(self.n_latents - self.n_hidden(limit)), self.verdicts.get(self.names[0])
        heads = HEADS if trust is None else (HEADS[0], TRUST, *HEADS[1:])
        return heads, [
            (str(j), *(() if trust is None else (cell(trust, j),)), f"{times[j]}/{others}", *line(run, j))
            for j in shown
            for run in self.runs
        ]

    def n_hidden(self, limit: int = MAX_LINES) -> int:
        """Return how many latents a list of so many lines leaves out."""
        return max(0, self.n_latents - max(1, limit // len(self.runs)))

    def __str__(self) -> str:
        tables = (aligned(*self.lines()), aligned(*self.summary()))
        notes = (f"Note: {note}" for note in self.notes)
        told = (self.meaning, self.caveat, *self.known, *notes)
        return "\n".join([tables[0], self._caption(), "", tables[1], "", *told])

    def __rich__(self) -> Any:
        from rich.console import Group
        from rich.table import Table

        drawn = []
        for (heads, rows), caption in ((self.lines(), self._caption()), (self.summary(), None)):
            drawn.append(Table(*heads, box=None, pad_edge=False, caption=caption, title=" "))
            for row in rows:
                drawn[-1].add_row(*row)
        return Group(*drawn)

    def _caption(self) -> str:
        hidden = self.n_hidden()
        trust = _verdicts.CAPTION if self.names[0] in self.verdicts else ""
        return CAPTION + trust + (f" {hidden:,} more latents are in the JSON document." if hidden else "")
