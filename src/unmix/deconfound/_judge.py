"""What one method gives away and keeps, on rows whose labels only the judge sees."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh

from ._design import Design
from ._field import by_batch, narrowed, spreads
from ._methods import Method
from ._neighbours import leak, profiles, related, replicates
from ._scores import Score, resampled
from ._trees import Fold, held_out_aurocs, need_trees, tasks_of

_NEIGHBOURS = 3000  # rows among which neighbours are looked for
_TASKS = 6
_BLOCK = 1024
_RANK = 1e-13  # of the largest variance: below, a direction is rounding
_MEANS = ("value", "low", "high", "chance")
_RELATED = ("relation_map", "relation_next", "relation_next_other_batch")

Progress = Callable[[str, float], None]


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of each row beside its batch; scored by, never fitted to."""

    label: np.ndarray | None = None
    task: np.ndarray | None = None
    relation: np.ndarray | None = None

    def rows(self, chosen: np.ndarray) -> "Known":
        """Return what is known of some rows."""
        return Known(*(None if part is None else part[chosen] for part in vars(self).values()))


class Judge:
    """Scores any method on the same rows."""

    def __init__(self, x: np.ndarray, where: Design, known: Known, random_state: int) -> None:
        self.x, self.where, self.known, self.seed = x, where, known, random_state
        self.halves = _halves(where, random_state)
        self.notes: list[str] = []
        self.tasks = self._tasks()
        self.folds: list[Fold] = []
        if self.halves is None:
            self.notes.append(
                "Controls that were not fitted to: not scored, some batch has a single control."
            )

    def scores(self, name: str, method: Method) -> dict[str, Score]:
        """Return all that neighbours, variances and trees say of a method; no table of it is kept."""
        adjusted = _checked(method(self.x, self.where, random_state=self.seed), len(self.x))
        found = {"leak": self._leak(adjusted, self.where.control)}
        if self.known.label is not None:
            found["replicate_map"] = self._replicates(adjusted)
        if self.known.relation is not None:
            found |= self._related(adjusted)
        found["variance_kept"] = variance_kept(self.x, adjusted)
        found |= self._trees(name, adjusted)
        del adjusted  # before there are others
        return found if self.halves is None else found | {"leak_held_out": self._held_out(method)}

    def _leak(self, adjusted: np.ndarray, control: np.ndarray) -> Score:
        rows = self._few(np.flatnonzero(control))
        apart = self.where.batch[rows] if self.where.nested else None
        found = leak(adjusted[rows], self.where.outer[rows], apart)
        return resampled(found.scores, self.where.outer[rows][found.rows], found.chance, self.seed)

    def _held_out(self, method: Method) -> Score:
        """Fit to half of the controls of each batch and score the other half, both ways."""
        assert self.halves is not None
        both = [
            self._leak(method(self.x, self.where.with_controls(fit), random_state=self.seed), other)
            for fit, other in (self.halves, self.halves[::-1])
        ]
        means = {name: float(np.mean([getattr(half, name) for half in both])) for name in _MEANS}
        return Score(**means, n=both[0].n)  # type: ignore[arg-type]

    def _replicates(self, adjusted: np.ndarray) -> Score:
        assert self.known.label is not None
        rows = self._few(self._treated())
        found = replicates(adjusted[rows], self.known.label[rows], self.where.batch[rows], self.seed)
        return resampled(found.scores, self.where.outer[rows][found.rows], found.chance, self.seed)

    def _related(self, adjusted: np.ndarray) -> dict[str, Score]:
        """Score profiles of treatments by what different labels share."""
        known, rows = self.known, self._treated()
        label = known.label if known.label is not None else known.task
        unit = known.task if known.task is not None else known.label
        assert label is not None and unit is not None and known.relation is not None
        means, first = profiles(adjusted[rows], unit[rows])
        at = rows[first]
        found = related(means, known.relation[at], label[at], self.where.outer[at], self.seed)
        batch = self.where.outer[at]
        return {
            name: resampled(part.scores, batch[part.rows], part.chance, self.seed)
            for name, part in zip(_RELATED, found, strict=True)
        }

    def _treated(self) -> np.ndarray:
        """Return the rows that something was done to: all, where nobody said which are controls."""
        return np.flatnonzero(~self.where.control) if self.where.given else np.arange(len(self.where))

    def _few(self, rows: np.ndarray) -> np.ndarray:
        if len(rows) <= _NEIGHBOURS:
            return rows
        return np.sort(np.random.default_rng(self.seed).choice(rows, _NEIGHBOURS, replace=False))

    def _tasks(self) -> list[str]:
        """Return the treatments that trees are asked about: the most frequent ones."""
        task, where = self.known.task, self.where
        if task is None:
            return []
        named = tasks_of(task, where.control, where.batch)[:_TASKS] if where.given else []
        if not named:
            self.notes.append("AUROC on held-out batches: not scored, no treatment has 50 rows in 5 batches.")
            return []
        need_trees()
        return named

    def _trees(self, name: str, adjusted: np.ndarray) -> dict[str, Score]:
        """Tell each of these treatments from controls on batches held out, with two errors over folds."""
        task, where, own = self.known.task, self.where, []
        for one in self.tasks:
            rows = np.flatnonzero(where.control | (task == one))
            tables, positive = {name: adjusted[rows].astype(np.float32)}, ~where.control[rows]
            own += held_out_aurocs(tables, positive, where.batch[rows], task=one, random_state=self.seed)
        self.folds += own
        chances = {"auroc": 0.5, "hoyer": float("nan"), "concentration": float("nan")}
        return {key: _over_folds(own, key, chance) for key, chance in chances.items()} if own else {}


def _checked(adjusted: np.ndarray, n_rows: int) -> np.ndarray:
    """Refuse what a method of one's own returns, if it is not a table of the same rows."""
    if np.ndim(adjusted) != 2 or len(adjusted) != n_rows:
        raise ValueError(
            f"`methods` must return one row for each of the {n_rows:,} rows, got shape {np.shape(adjusted)}. "
            "Is it on its side?"
        )
    return adjusted


def _over_folds(folds: list[Any], key: str, chance: float) -> Score:
    values = np.array([getattr(fold, key) for fold in folds])
    values = values[~np.isnan(values)]
    if not len(values):
        return Score(float("nan"))
    mean, error = (
        float(values.mean()),
        float(values.std(ddof=1) / len(values) ** 0.5) if len(values) > 1 else 0.0,
    )
    return Score(mean, mean - 2 * error, mean + 2 * error, chance, len(values))


def _halves(where: Design, random_state: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Divide the controls of every batch in two, or return None where a batch has but one."""
    first, second = np.zeros(len(where), dtype=bool), np.zeros(len(where), dtype=bool)
    rng = np.random.default_rng(random_state)
    for _, controls in by_batch(where):
        if len(controls) < 2:
            return None
        mixed = rng.permutation(controls)
        first[mixed[::2]], second[mixed[1::2]] = True, True
    return first, second


def variance_kept(original: np.ndarray, adjusted: np.ndarray) -> Score:
    """Return the share of the variance of a table that is a linear function of another one of the same rows.

    Columns count alike, whatever their units. Corrected for the number of columns, so that noise explains
    nothing: 0 is chance.

    >>> x = np.random.default_rng(0).normal(size=(200, 4))
    >>> variance_kept(x, x @ np.diag([1, 2, 3, 4])).value, round(variance_kept(x, x[:, :2]).value, 1)
    (1.0, 0.5)
    """
    if adjusted.shape[1] > len(adjusted):
        adjusted = narrowed(adjusted - adjusted.mean(0))[0]
    n, gram, cross, total = len(original), *_products(adjusted, original)
    squares, directions = eigh(gram, overwrite_a=True, driver="evr")  # which asks for the least memory
    told = squares > _RANK * max(squares[-1], np.finfo(float).tiny)
    rank = int(told.sum())
    if n < 2 * rank + 2:  # too few rows to tell noise from what was kept
        return Score(float("nan"))
    along = np.square(directions[:, told].T @ cross).sum(1)
    explained = (along / squares[told]).sum() / total
    share = 1 - (1 - explained) * (n - 1) / (n - rank - 1)
    return Score(round(float(np.clip(share, 0, 1)), 6), chance=0.0, n=n)


def _products(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return products of columns about their means, block by block, the other ones in units of their own."""
    gram, cross, total = np.zeros((x.shape[1],) * 2), np.zeros((x.shape[1], y.shape[1])), 0.0
    mean, other, units = x.mean(0), y.mean(0, dtype=np.float64), spreads(y)
    units = np.where(units > 0, units, 1.0)
    for start in range(0, len(x), _BLOCK):
        rows, others = x[start : start + _BLOCK] - mean, (y[start : start + _BLOCK] - other) / units
        gram += rows.T @ rows
        cross += rows.T @ others
        total += float(np.square(others).sum())
    return gram, cross, total
