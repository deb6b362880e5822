"""One table: methods by what they give away, and by what they keep."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ._confounding import Confounding, confounding, refuse_if_determined
from ._design import Design, column, design, joined
from ._field import by_batch
from ._judge import Judge, Known, Progress
from ._methods import METHODS, Method, method_named
from ._scores import Evaluation

MAX_ROWS = 10_000  # that are compared
LEAST_ROWS = 1000
MAX_ENTRIES = 1 << 23  # of the rows that methods are compared on: each method makes several such tables


def evaluate(
    x: np.ndarray,
    metadata: Mapping[str, Any],
    *,
    batch: Sequence[str],
    control: str | None = None,
    label: Sequence[str] = (),
    task: Sequence[str] = (),
    relation: Sequence[str] = (),
    methods: Sequence[str] | Mapping[str, Method] = tuple(METHODS),
    max_rows: int = MAX_ROWS,
    random_state: int = 0,
    on_progress: Progress | None = None,
) -> Evaluation:
    """Compare methods on one table.

    Parameters
    ----------
    x : array of shape (n_samples, n_features)
    metadata : mapping from names to columns
    batch : sequence of str
        Columns that name the batch, from coarse to fine.
    control : str, optional
        Expression for rows that nothing was done to.
    label : sequence of str
        Columns that name what was done to a row; its replicates are looked for in other batches.
    task : sequence of str
        Columns that name one treatment, as a compound at a dose or a guide of a gene: the unit of profiles,
        and what trees tell from controls on batches held out.
    relation : sequence of str
        Columns that name what different labels share, such as a mechanism.
    methods : sequence of str, or mapping from names to functions (x, design, random_state=...) -> array
    max_rows : int
        Of more rows, whole batches are drawn until there are as many; of tables wider than 800 columns fewer.
    random_state : int
    on_progress : callable, optional
        Told what is being done, and the share that is done.

    Returns
    -------
    Evaluation
        For each method: whether the nearest neighbour of a control is of its batch (of the coarsest one,
        among other fine ones), on all controls and on those that the method was not fitted to; mean average
        precision of replicates and relations; AUROC on held-out batches; share of the variance of the table
        that can be read off the adjusted one. Intervals are those of resampled batches.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> plate = np.repeat(np.arange(10), 40)
    >>> x = rng.normal(size=(400, 5)) + 3 * rng.normal(size=(10, 5))[plate]
    >>> found = evaluate(x, {"plate": plate}, batch=["plate"], methods=["base", "anchored"])
    >>> found.scores["base"]["leak"].value > 0.7 > 0.2 > found.scores["anchored"]["leak"].value
    True
    """
    where = design(metadata, batch, control)
    known = known_of(metadata, label=label, task=task, relation=relation)
    chosen = some_batches(where, x.shape[1], max_rows, random_state)
    found = judged(
        x[chosen],
        where.rows(chosen),
        known.rows(chosen),
        methods=methods,
        random_state=random_state,
        on_progress=on_progress,
    )
    return replace(found, confounding=confounding_of(where, known))


def known_of(
    metadata: Mapping[str, Any],
    *,
    label: Sequence[str] = (),
    task: Sequence[str] = (),
    relation: Sequence[str] = (),
) -> Known:
    """Read what is known of each row off the metadata."""
    asked = {"label": label, "task": task, "relation": relation}
    return Known(*(_named(metadata, names, name) for name, names in asked.items()))


def _named(metadata: Mapping[str, Any], names: Sequence[str], asked: str) -> np.ndarray | None:
    return joined([column(metadata, name, asked) for name in names]) if names else None


def confounding_of(where: Design, known: Known) -> Confounding | None:
    """Measure how far the coarsest batch and the label go together; refuse where batches determine labels.

    Controls count when it is asked whether a batch determines the label, since they are what a batch can be
    told by, and not among the labels whose batches are counted.
    """
    label = known.label
    if label is None:
        return None
    refuse_if_determined(confounding(where.batch, label))
    rows = ~where.control if where.given and not where.control.all() else np.ones(len(label), dtype=bool)
    return confounding(np.asarray(where.outer_names)[where.outer[rows]], label[rows])


def judged(
    x: np.ndarray,
    where: Design,
    known: Known,
    *,
    methods: Sequence[str] | Mapping[str, Method] = tuple(METHODS),
    random_state: int = 0,
    on_progress: Progress | None = None,
) -> Evaluation:
    """Compare methods on the rows given; the parameters are those of `evaluate`, already read."""
    named = methods if isinstance(methods, Mapping) else {name: method_named(name) for name in methods}
    judge = Judge(x, where, known, random_state)
    scores = {}
    for k, (name, method) in enumerate(named.items()):
        if on_progress is not None:
            on_progress(name, k / len(named))
        scores[name] = judge.scores(name, method)
    return Evaluation(scores, None, tuple(judge.notes), judge.folds, len(x))


def some_batches(
    where: Design, n_features: int = 1, max_rows: int = MAX_ROWS, random_state: int = 0
) -> np.ndarray:
    """Draw whole batches until there are enough rows, fewer of wide tables; the rows stay in order.

    Batches that lie in coarser ones are drawn in pairs of one coarse batch, for what leaks is looked for in
    other batches of the same one.
    """
    most = min(max_rows, max(LEAST_ROWS, MAX_ENTRIES // n_features))
    if len(where) <= most:
        return np.arange(len(where))
    rng, parts = np.random.default_rng(random_state), by_batch(where)
    drawn, n = [], 0
    for k in _in_pairs(np.array([where.outer[rows[0]] for rows, _ in parts]), rng):
        if n and n + len(parts[k][0]) > most:
            break
        drawn.append(parts[k][0])
        n += len(parts[k][0])
    return np.sort(np.concatenate(drawn))


def _in_pairs(outer: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a random order of batches in which two of a coarse batch come together.

    >>> outer = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> pairs = outer[_in_pairs(outer, np.random.default_rng(0))].reshape(-1, 2)
    >>> bool((pairs[:, 0] == pairs[:, 1]).all())
    True
    """
    order = rng.permutation(len(outer))
    first, place = rng.permutation(outer.max() + 1), np.empty(len(outer), dtype=int)
    for k in np.unique(outer):
        own = order[outer[order] == k]
        place[own] = np.arange(len(own)) // 2
    return np.lexsort((rng.permutation(len(outer)), first[outer], place))
