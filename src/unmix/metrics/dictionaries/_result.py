"""What `replicate_features` returns: for each feature where and how it is found again."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ..alignment import CAVEAT, Counterparts, Replication
from ..alignment import _listing as listing
from ..alignment._verdicts import TRUST, cell, check_verdicts, sentences, verdict_on
from ._census import Census

HEADS = ("feature", "in", "run", "by atoms", "with", "cosine", "span", "noise", "by codes", "with", "corr.")
SUMMARY = ("run", "features", "by", "alone", "subspace", "no")
MAX_LINES = 40


class Level(NamedTuple):
    """How near the nearest atoms are: mean best |cosine|, and mean |cosine| of atoms assigned one to one.

    Both by "trained", "random" and "untrained"; nan where it was not measured.
    """

    best: Mapping[str, float]
    assigned: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class FeatureReplication:
    """Which features of the first of several sparse autoencoders the others have; see `replicate_features`.

    Attributes
    ----------
    names : tuple of str
        The reference first.
    sizes : tuple of int
        Features of each.
    n_observed : int
    effective : float
        The participation ratio of the data: at this dimension random atoms are compared.
    threshold : float
    atoms : tuple of Counterparts
        One per other dictionary: `correlation` and `span` are cosines, `rotated` is what the best of as many
        random atoms scores on average, and `noise` how often it does as well.
    levels : tuple of Level
        One per other dictionary, beside random and untrained ones.
    codes : Replication or None
    census : Census or None
        Of the reference.
    notes : tuple of str
    verdicts : mapping of str to Trust
        What `unmix.trust` says of them, by name; see `beside`.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    n_observed: int
    effective: float
    threshold: float
    atoms: tuple[Counterparts, ...]
    levels: tuple[Level, ...]
    codes: Replication | None = None
    census: Census | None = None
    notes: tuple[str, ...] = ()
    verdicts: Mapping[str, Any] = field(default_factory=dict)

    def beside(self, verdicts: Mapping[str, Any]) -> "FeatureReplication":
        """Return the same with the verdicts of `unmix.trust`, by the names of dictionaries."""
        check_verdicts(self, verdicts)
        return replace(self, verdicts=verdicts)

    @property
    def n_latents(self) -> int:
        """Features of the reference."""
        return self.sizes[0]

    @property
    def runs(self) -> tuple[Counterparts, ...]:
        """The same as `atoms`."""
        return self.atoms

    @property
    def n_alone(self) -> np.ndarray:
        """In how many dictionaries each feature replicates alone."""
        return np.sum([run.status == "alone" for run in self.atoms], axis=0)

    @property
    def n_replicated(self) -> np.ndarray:
        """In how many dictionaries each feature replicates, alone or as part of a subspace."""
        return self.n_alone + np.sum([run.status == "subspace" for run in self.atoms], axis=0)

    @property
    def caveat(self) -> str:
        """What agreement does not say."""
        return CAVEAT.replace("latents", "features")

    @property
    def meaning(self) -> str:
        """Sentences on how many features are found again, and what random and untrained ones would score."""
        by_codes = [] if self.codes is None else [_said("By codes, o", self.codes)]
        told = [_said("By atoms, o", self), *by_codes, *map(self._level, self.atoms, self.levels)]
        return " ".join([*told, *([] if self.census is None else [str(self.census)])])

    @property
    def known(self) -> list[str]:
        """What is known beyond agreement: the verdicts, where there are some."""
        return sentences(self)

    def _level(self, run: Counterparts, level: Level) -> str:
        words = {"random": "random atoms in the data's directions", "untrained": "untrained ones"}
        beside = [f"{words[key]} {level.best[key]:.2f}" for key in words if np.isfinite(level.best[key])]
        return (
            f"The nearest atom of {run.name} has a |cosine| of {level.best['trained']:.2f} on average; "
            f"{', '.join(beside)} (effective dimension {self.effective:.0f} of {self.n_observed})."
        )

    def found(self, feature: int) -> dict[str, Any]:
        """Return one feature's entry as plain values: by atoms, by codes, and what it is called besides."""
        by_codes = None if self.codes is None else [run.found(feature) for run in self.codes.runs]
        atoms = [_as_cosine(run.found(feature)) for run in self.atoms]
        trust = self.verdicts.get(self.names[0])
        return {
            "feature": feature,
            "alone_in": int(self.n_alone[feature]),
            "replicates_in": int(self.n_replicated[feature]),
            "atoms": atoms,
            "codes": by_codes,
            "called": [] if self.census is None else list(self.census.words(feature)),
            **({} if trust is None else {"trust": verdict_on(trust, feature)}),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        plain = {name: getattr(self, name) for name in ("n_observed", "effective", "threshold")}
        levels = [
            {"run": run.name, **{part: _numbers(getattr(level, part)) for part in Level._fields}}
            for run, level in zip(self.atoms, self.levels, strict=True)
        ]
        return {
            "names": list(self.names),
            "sizes": list(self.sizes),
            **plain,
            "meaning": self.meaning,
            "caveat": self.caveat,
            "notes": list(self.notes),
            "levels": levels,
            "atoms": [run.to_dict() for run in self.atoms],
            "codes": None if self.codes is None else [run.to_dict() for run in self.codes.runs],
            "census": None if self.census is None else self.census.to_dict(),
            "features": [self.found(j) for j in range(self.n_latents)],
        }

    def summary(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return heads and rows of a table of the others: the share of features with each status."""
        parts = [("atoms", self.atoms), *([] if self.codes is None else [("codes", self.codes.runs)])]
        return SUMMARY, [
            (run.name, f"{run.n_latents:,}", by, *(f"{(run.status == s).mean():.0%}" for s in _STATUSES))
            for by, runs in parts
            for run in runs
        ]

    def lines(self, limit: int = MAX_LINES) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return heads and at most about `limit` rows of the list, feature by feature."""
        trust = self.verdicts.get(self.names[0])
        heads = HEADS if trust is None else (HEADS[0], TRUST, *HEADS[1:])
        times, others = self.n_replicated, len(self.atoms)
        rows = []
        for j in range(self.n_latents - self.n_hidden(limit)):
            for k, run in enumerate(self.atoms):
                told = () if trust is None else (cell(trust, j),)
                rows.append(
                    (str(j), *told, f"{times[j]}/{others}", *listing.line(run, j)[:-1], *self._codes(k, j))
                )
        return heads, rows

    def _codes(self, run: int, feature: int) -> tuple[str, str, str]:
        if self.codes is None:
            return "", "", ""
        _, verdict, company, corr, *_ = listing.line(self.codes.runs[run], feature)
        return verdict, company, corr

    def n_hidden(self, limit: int = MAX_LINES) -> int:
        """Return how many features a list of so many lines leaves out."""
        return max(0, self.n_latents - max(1, limit // len(self.atoms)))

    def __str__(self) -> str:
        hidden = self.n_hidden()
        more = [f"{hidden:,} more features are in the JSON document."] if hidden else []
        notes = (f"Note: {note}" for note in self.notes)
        tables = (listing.aligned(*self.lines()), "\n".join(more), listing.aligned(*self.summary()))
        return "\n".join([*tables, "", self.meaning, self.caveat, *self.known, *notes])

    __repr__ = __str__


_STATUSES = ("alone", "subspace", "none")


def _said(begin: str, found: Any) -> str:
    view = SimpleNamespace(
        runs=found.runs,
        n_alone=found.n_alone,
        n_replicated=found.n_replicated,
        n_latents=found.n_latents,
        names=found.names,
    )
    return begin + listing.meaning(view)[1:].replace("latents of", "features of", 1)


def _as_cosine(entry: dict[str, Any]) -> dict[str, Any]:
    names = {"correlation": "cosine", "rotated": "random"}
    return {names.get(key, key): value for key, value in entry.items()}


def _numbers(values: Mapping[str, float]) -> dict[str, float | None]:
    return {name: float(value) if np.isfinite(value) else None for name, value in values.items()}
