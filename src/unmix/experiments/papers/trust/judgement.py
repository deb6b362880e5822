"""Chains calibrated on some families and judged on others, each left out in turn.

`python -m unmix.experiments.papers.trust.judgement results` reads `trust.calibration`, judges every family by
a chain that has not seen it, writes the coefficients from all of them into the package, and prints the table.
"""

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from unmix._files import atomic_write
from unmix.evidence import ARGUMENTS_BY_KIND, EFFORTS, Chain, calibrate
from unmix.evidence._calibration import stored

from ...engine import Store
from .calibration import FAMILIES

TARGET = Path(__file__).parents[3] / "evidence" / "calibration.json"
EXPERIMENT = "trust.calibration"
THRESHOLD = 0.91  # the least hundredth at which precision over families left out (seeds 1000 to 1039, every
# kind alike), less its standard error over data sets, is .97 at effort quick and .98 at full
FRESH, ENOUGH = (
    7000,
    100,
)  # seeds from which on nothing was chosen by: neither the threshold, nor links, nor families
Row = tuple[str, int, int, dict[str, float]]  # family, data set, seed, and what is known of a unit
_BINS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0)


@dataclass(frozen=True, eq=False)
class Units:
    """Units of one kind of argument over all its data sets: strengths of links, and whether they are right.

    Attributes
    ----------
    kind : str
    family : ndarray of str, shape (n,)
    world : ndarray of int, shape (n,)
        The data set that each unit is of.
    right : ndarray of bool, shape (n,)
    links : mapping of (effort, link) to ndarray of shape (n,)
    seed : ndarray of int, shape (n,)
        Of the data set; empty where it is not known.
    """

    kind: str
    family: np.ndarray
    world: np.ndarray
    right: np.ndarray
    links: Mapping[tuple[str, str], np.ndarray]
    seed: np.ndarray = field(default_factory=lambda: np.empty(0, int))

    def parts(self, effort: str, chosen: np.ndarray) -> dict[str, dict[str, np.ndarray]]:
        """Return what is measured at an effort, of chosen units."""
        allowed = EFFORTS[: EFFORTS.index(effort) + 1]
        found: dict[str, dict[str, np.ndarray]] = {}
        for (needed, name), strength in self.links.items():
            if needed in allowed:
                part = found.setdefault(ARGUMENTS_BY_KIND[self.kind].part(name), {})
                here = strength[chosen]  # which estimators of one kind may measure at different efforts
                part[name] = np.where(np.isnan(here), part.get(name, np.nan), here)
        return found

    @cached_property
    def weight(self) -> np.ndarray:
        """Let every family count alike, and units of one data set, which share their fate, for less."""
        sizes = np.array([(self.family == name).sum() for name in self.family])
        return 0.5 * len(self.family) / (len(set(self.family)) * sizes)

    def chain(self, effort: str, without: str | None = None) -> Chain:
        """Calibrate on all families but one."""
        kept = self.family != without
        return calibrate(self.parts(effort, kept), self.right[kept], self.weight[kept])

    @cache  # noqa: B019 - a few objects, which live as long as the process
    def left_out(self, effort: str) -> np.ndarray:
        """Return the probability of each unit by the chain that has not seen its family."""
        return self.stated_by(self, effort)

    def stated_by(self, others: "Units", effort: str) -> np.ndarray:
        """Return the probability of each unit by the chain of others that have not seen its family."""
        found = np.empty(len(self.right))
        for name in np.unique(self.family):
            here = self.family == name
            found[here] = others.chain(effort, without=name).probability(self.parts(effort, here))
        return found

    def taken(self, chosen: np.ndarray) -> "Units":
        """Return some of the units."""
        links = {name: strength[chosen] for name, strength in self.links.items()}
        family, world, right = (each[chosen] for each in (self.family, self.world, self.right))
        return Units(self.kind, family, world, right, links, self.seed[chosen])


def read(records: Iterable[Mapping[str, Any]], families: Mapping[str, Any] = FAMILIES) -> dict[str, Units]:
    """Gather stored runs by kind of argument."""
    rows: dict[str, list[Row]] = defaultdict(list)
    for world, record in enumerate(records):
        name = record["settings"]["family"]
        if record["error"] is None and name in families:
            known = name, world, record["seed"]
            rows[families[name].kind].extend((*known, unit) for unit in _units(record["values"]))
    return {kind: _gathered(kind, found) for kind, found in sorted(rows.items())}


def _units(values: Mapping[str, float | None]) -> list[dict[str, float]]:
    table: dict[str, dict[str, float]] = defaultdict(dict)
    for key, value in values.items():
        name, bar, unit = key.rpartition("|")
        if bar:
            table[unit][name] = np.nan if value is None else value
    return list(table.values())


def _gathered(kind: str, rows: list[Row]) -> Units:
    families, worlds, seeds = (np.array([row[k] for row in rows]) for k in range(3))
    units = [row[3] for row in rows]
    names = dict.fromkeys(name for unit in units for name in unit if name != "right")
    links = {_place(name): np.array([unit.get(name, np.nan) for unit in units]) for name in names}
    return Units(kind, families, worlds, np.array([unit["right"] > 0 for unit in units]), links, seeds)


def _place(name: str) -> tuple[str, str]:
    effort, _, link = name.partition("|")
    return effort, link


@dataclass(frozen=True)
class Line:
    """One family, or several, judged by chains that have not seen it."""

    name: str
    n_worlds: float
    n_units: float
    right: float
    trusted: float
    both: float
    clean: float

    @property
    def precision(self) -> float:
        """Share of the trusted that is right."""
        return self.both / self.trusted if self.trusted else float("nan")

    @property
    def recall(self) -> float:
        """Share of the right that is trusted."""
        return self.both / self.right if self.right else float("nan")

    @property
    def counts(self) -> tuple[float, ...]:
        """The numbers, in order."""
        return self.n_worlds, self.n_units, self.right, self.trusted, self.both, self.clean

    def scaled(self, n_worlds: int) -> "Line":
        """Return what so many data sets would have given."""
        return Line(self.name, *(count * n_worlds / self.n_worlds for count in self.counts))


def line(name: str, world: np.ndarray, right: np.ndarray, trusted: np.ndarray) -> Line:
    """Count; a world is clean where no unit is trusted."""
    worlds = np.unique(world)
    clean = sum(not trusted[world == each].any() for each in worlds)
    counts = (len(right), right.sum(), trusted.sum(), (right & trusted).sum())
    n_units, n_right, n_trusted, n_both = map(int, counts)
    return Line(name, len(worlds), n_units, n_right, n_trusted, n_both, int(clean))


def lines(
    units: Mapping[str, Units],
    effort: str,
    threshold: float = THRESHOLD,
    families: Mapping[str, Any] = FAMILIES,
    earlier: Mapping[str, Units] | None = None,
) -> tuple[Line, ...]:
    """Judge every family; then the families and the null families of each kind; then all, each kind alike.

    The chains are those of all other families, or of the same among earlier units of a kind.
    """
    found, kinds = [], []
    for kind, each in units.items():
        past = (earlier or {}).get(kind)
        stated = each.left_out(effort) if past is None else each.stated_by(past, effort)
        trusted = stated >= threshold
        null = np.array([families[name].null for name in each.family])
        for name in (name for name in families if name in each.family):
            found.append(_chosen(name, each, trusted, each.family == name))
        kinds.append(_chosen(f"{kind}, all", each, trusted, ~null | null))
        if null.any():
            kinds.append(_chosen(f"{kind}, null", each, trusted, null))
    return (*found, *kinds, *_alike(kinds))


def fresh(units: Mapping[str, Units], effort: str) -> tuple[Line, ...]:
    """Judge the data sets of fresh seeds by chains from earlier ones, of other families.

    A kind with fewer than a hundred of them is judged by all its data sets; where no kind has as many
    there is nothing to tell.
    """
    late = {kind: each.seed >= FRESH for kind, each in units.items()}
    enough = [kind for kind, new in late.items() if len(np.unique(units[kind].world[new])) >= ENOUGH]
    new = {kind: each.taken(late[kind]) if kind in enough else each for kind, each in units.items()}
    old = {kind: units[kind].taken(~late[kind]) for kind in enough}
    return lines(new, effort, earlier=old) if enough else ()


def _chosen(name: str, units: Units, trusted: np.ndarray, here: np.ndarray) -> Line:
    return line(name, units.world[here], units.right[here], trusted[here])


def _alike(kinds: Iterable[Line]) -> Iterator[Line]:
    """Add up kinds as if each had a hundred data sets, so that none counts for more since it is cheap."""
    for which in ("all", "null"):
        scaled = [each.scaled(100) for each in kinds if each.name.endswith(f", {which}")]
        if scaled:
            counts = zip(*(each.counts for each in scaled), strict=True)
            yield Line(f"every kind alike, {which}", *(round(sum(column)) for column in counts))


def reliability(
    units: Mapping[str, Units], effort: str
) -> tuple[tuple[float, float, float, float, int], ...]:
    """Return for bins of probability its mean, the share that is right, its Wilson interval, and a count."""
    p = np.concatenate([each.left_out(effort) for each in units.values()])
    right = np.concatenate([each.right for each in units.values()])
    rows = []
    for low, high in pairwise(_BINS):
        here = (p >= low) & ((p < high) | (high == 1.0))
        if here.any():
            rows.append(
                (float(p[here].mean()), float(right[here].mean()), *wilson(right[here]), int(here.sum()))
            )
    return tuple(rows)


def wilson(right: np.ndarray, z: float = 1.96) -> tuple[float, float]:
    """Return the Wilson interval of a share.

    >>> [round(end, 2) for end in wilson(np.array([True] * 9 + [False]))]
    [0.6, 0.98]
    """
    n, p = len(right), float(np.mean(right))
    middle, reach = (p + z**2 / (2 * n)), z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    return float((middle - reach) / (1 + z**2 / n)), float((middle + reach) / (1 + z**2 / n))


def coefficients(units: Mapping[str, Units], seeds: Iterable[int]) -> dict[str, Any]:
    """Return what the package stores: the threshold, the chains, and how they were obtained."""
    return {
        "threshold": THRESHOLD,
        "obtained": {
            "by": f"unmix reproduce {EXPERIMENT}, then python -m unmix.experiments.papers.trust.judgement",
            "seeds": sorted(set(seeds)),
            "families": {kind: sorted(set(each.family.tolist())) for kind, each in units.items()},
            "units": {kind: len(each.right) for kind, each in units.items()},
        },
        "chains": {
            kind: {effort: each.chain(effort).to_dict() for effort in EFFORTS} for kind, each in units.items()
        },
    }


def records_of(folder: str | Path, experiment: str = EXPERIMENT) -> list[dict[str, Any]]:
    """Read the stored runs of the calibration."""
    found = (record for record in Store(folder).records() if record["experiment"] == experiment)
    return [record for record in found if record["budget"] != "smoke"]


def main(folder: str) -> None:
    """Store the coefficients, and print how the families left out were judged."""
    records = records_of(folder)
    units = read(records)
    document = coefficients(units, (record["seed"] for record in records))
    for part in ("chains", "obtained"):  # features of sparse autoencoders are judged apart, see `planted`
        document[part] |= {kind: known for kind, known in stored()[part].items() if kind == "dictionary"}
    atomic_write(TARGET, json.dumps(document, indent=1) + "\n")
    for effort in EFFORTS:
        print(effort, *lines(units, effort), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1])
