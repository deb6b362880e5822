"""Which latents of a run are found again in other runs: alone, as part of a subspace, or not."""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from . import _sparse
from ._columns import Pair, Split, block_rows, columns, opened, precision
from ._matches import Judged, Matches, judge, match, tiles
from ._noise import best_of, both, rotated_share, tail
from ._replication import Counterparts, Replication
from ._spans import TOGETHER, Subspace, spans, subspaces

LEVEL = 0.05  # noise that does as well more often than this is no replication
WIDE = 1024  # up to this width a span is sought among all latents of a run
CANDIDATES = 64  # and beyond it among so many
_DENSE = SimpleNamespace(match=match, judge=judge, spans=spans)


def replicate(
    runs: Sequence[Any],
    *,
    names: Sequence[str] | None = None,
    threshold: float = 0.9,
    held_out: float = 1 / 3,
    candidates: int | None = None,
    random_state: int = 0,
    on_progress: Callable[[float], None] | None = None,
) -> Replication:
    """Say of each latent of the first run whether the others have it: alone, within a subspace, or not.

    Matches and regressions are found on some rows and judged on the others. A latent *replicates alone* where
    it and its nearest latent are each other's nearest and correlate by at least `threshold`; *as part of a
    subspace* where no single latent does, and a ridge regression on the latents of the other run predicts it
    with that multiple correlation; otherwise it *does not replicate*. Order, sign and scale of latents do not
    matter. Files are read block by block, several times; memory grows with the widths, not with the rows.
    Sparse codes, of which few latents are on in each row, are never made dense.

    Parameters
    ----------
    runs : sequence of array-like, sparse array, path or Rows
        At least two; the first is the reference. Row i of all must come from the same input. A path is that
        of an NPY, Parquet or safetensors file, or of a folder of them. Rows are taken as independent of each
        other: where they are not, as tokens of one text, noise does as well more often than is said.
    names : sequence of str, optional
        What the runs are called.
    threshold : float
        The correlation to ask for, between 0 and 1.
    held_out : float
        Share of rows, drawn at random, on which everything is judged.
    candidates : int, optional
        How many of the nearest latents a span is sought among; all of them up to 1,024, else 64; 16 where
        all runs are sparse.
    random_state : int
        Draws the rows held out.
    on_progress : callable, optional
        Is told the share of the work that is done, after each block.

    Returns
    -------
    Replication

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> z = rng.laplace(size=(1000, 4))
    >>> turned = z[:, 1:3] @ [[0.6, 0.8], [-0.8, 0.6]]
    >>> found = replicate([z, np.column_stack([turned, -2 * z[:, 0], rng.normal(size=1000)])])
    >>> found.runs[0].status.tolist()
    ['alone', 'subspace', 'subspace', 'none']
    >>> int(found.runs[0].partner[0]), found.runs[0].subspaces
    (2, (Subspace(latents=(1, 2), counterparts=(0, 1)),))
    >>> print(found.meaning)
    Of 4 latents of run 1, 3 replicate in the other run (1 alone, 2 with the help of a subspace), ...

    References
    ----------
    Li et al. (2016), Convergent learning: do different neural networks learn the same representations?,
    arXiv:1511.07543, for matching single units and subspaces. Pratt (1987), Dividing the indivisible, for the
    share of each regressor. Fisher (1915) for the law of a correlation.
    """
    called = _names(runs, names)
    _check_numbers(threshold, held_out, candidates)
    tables = opened(runs, called)
    if all(map(issparse, runs)):
        return _replicate_sparse(runs, called, threshold, held_out, candidates, random_state, on_progress)
    split = Split(tables[0].n_rows, held_out, random_state, block_rows(tables))
    _check_rows(split)
    tick = _clock(split, [table.n_features for table in tables], on_progress)
    dtype = precision(tables)
    read = [columns(table, name, split, dtype, tick) for table, name in zip(tables, called, strict=True)]
    others = [
        _counterparts(Pair(read[0], other, split, tick), name, threshold, _limit(other, candidates))
        for other, name in zip(read[1:], called[1:], strict=True)
    ]
    if on_progress is not None:
        on_progress(1.0)
    notes = _notes(read, split, candidates)
    return Replication(called, read[0].width, split.n_rows, split.n_held, threshold, tuple(others), notes)


def _replicate_sparse(
    runs: Sequence[Any],
    called: tuple[str, ...],
    threshold: float,
    held_out: float,
    candidates: int | None,
    random_state: int,
    on_progress: Callable[[float], None] | None,
) -> Replication:
    """Do the same for runs that are all sparse, each of which is held in memory."""
    split = Split(runs[0].shape[0], held_out, random_state, 8192)
    _check_rows(split)
    read = [_sparse.sparse_columns(run, name, split) for run, name in zip(runs, called, strict=True)]
    limit, others = candidates or _sparse.CANDIDATES, []
    for k, (other, name) in enumerate(zip(read[1:], called[1:], strict=True)):
        pair = _sparse.SparsePair(read[0], other, split)
        others.append(_counterparts(pair, name, threshold, limit, by=_sparse))
        if on_progress is not None:
            on_progress((k + 1) / (len(read) - 1))
    notes = _notes(read, split, limit)
    return Replication(called, read[0].width, split.n_rows, split.n_held, threshold, tuple(others), notes)


def _counterparts(pair: Any, name: str, threshold: float, limit: int | None, by: Any = None) -> Counterparts:
    """Find single matches and spans, judge them on the rows held out, and join latents into subspaces."""
    by = by or _DENSE
    matches = by.match(pair, limit or 1)
    held = by.judge(pair, matches.best)
    noise = _noise(pair, matches, held)
    alone = matches.mutual & (np.abs(held.correlation) >= threshold) & (noise <= LEVEL)
    found = by.spans(pair, matches.candidates if limit else None, threshold)
    spanned = _span_noise(pair, held, found.reach)
    together = ~alone & (found.reach >= threshold) & (spanned <= LEVEL)
    status = np.select([~pair.first.varies, alone, together], ["constant", "alone", "subspace"], "none")
    groups = _joined(pair, status, matches.best, found.members)
    n_live = min(int(pair.second.varies.sum()), pair.split.n_rows - 1)
    return Counterparts(
        name=name,
        n_latents=pair.second.width,
        status=status,
        partner=np.where(pair.first.varies, matches.best, -1),
        correlation=held.correlation,
        span=found.reach,
        noise=np.where(together, spanned, noise),
        rotated=found.reach * rotated_share(n_live),
        subspaces=groups,
        subspace=_numbers(groups, status),
    )


def _joined(
    pair: Any, status: np.ndarray, best: np.ndarray, members: list[np.ndarray]
) -> tuple[Subspace, ...]:
    """Join the latents that replicate as part of a subspace, with those alone whose match is part of it."""
    edges = [(a, members[a]) for a in np.flatnonzero(status == "subspace").tolist()]
    single = {a: int(best[a]) for a in np.flatnonzero(status == "alone").tolist()}
    return tuple(subspaces((pair.first.width, pair.second.width), edges, single))


def _noise(pair: Any, matches: Matches, held: Judged) -> np.ndarray:
    """Return the rate at which unrelated latents would do as well: the best of all on the rows to fit, and
    then that one on the rows held out.
    """
    split, k1, k2 = pair.split, held.kurtosis1, held.kurtosis2
    live = pair.second.spread[0] > 0
    if not live.any():
        return np.ones(pair.first.width)
    found = best_of(matches.strength, split.n_fit, k1[0], k2[0][live])
    kept = tail(held.correlation, split.n_held, k1[1], k2[1][matches.best])
    return np.where((pair.first.spread > 0).all(0), both(found, kept), 1.0)


def _span_noise(pair: Any, held: Judged, reach: np.ndarray) -> np.ndarray:
    """Return the rate at which one unrelated combination, as rare as can be, would reach each span."""
    n = pair.split.n_held
    return tail(reach, n, held.kurtosis1[1], np.full_like(reach, n))


def _numbers(groups: tuple[Subspace, ...], status: np.ndarray) -> np.ndarray:
    """Return the number of each latent's subspace, -1 for those that do not replicate as part of one."""
    number = np.full(len(status), -1)
    for k, group in enumerate(groups):
        number[list(group.latents)] = k
    return np.where(status == "subspace", number, -1)


def _limit(other: Any, candidates: int | None) -> int | None:
    """Return how many candidates a span is sought among; None is all."""
    asked = candidates or (other.width if other.width <= WIDE else CANDIDATES)
    return None if asked >= other.width else asked


def _names(runs: Sequence[Any], names: Sequence[str] | None) -> tuple[str, ...]:
    if isinstance(runs, np.ndarray | str) or len(runs) < 2:
        count = 1 if isinstance(runs, np.ndarray | str) else len(runs)
        raise ValueError(f"`runs` must be at least two runs, got {count}. The first one is the reference.")
    called = tuple(names) if names is not None else tuple(f"run {k + 1}" for k in range(len(runs)))
    if len(called) != len(runs):
        raise ValueError(f"`names` must have one name per run, got {len(called)} for {len(runs)} runs.")
    return called


def _check_numbers(threshold: float, held_out: float, candidates: int | None) -> None:
    if not 0 < threshold < 1:
        raise ValueError(f"`threshold` must be a correlation in (0, 1), got {threshold}. 0.9 is usual.")
    if not 0 < held_out < 1:
        raise ValueError(f"`held_out` must be a share in (0, 1), got {held_out}. A third is usual.")
    if candidates is not None and candidates < 1:
        raise ValueError(f"`candidates` must be at least 1, got {candidates}. Leave it out for the default.")


def _check_rows(split: Split) -> None:
    if min(split.n_held, split.n_fit) < 5:
        raise ValueError(
            f"`runs` must have at least 5 rows to fit and 5 held out, got {split.n_fit} and {split.n_held} "
            f"of {split.n_rows}. Use more rows, or another `held_out`."
        )


def _clock(
    split: Split, widths: list[int], on_progress: Callable[[float], None] | None
) -> Callable[[], None]:
    """Count the blocks of all passes."""
    if on_progress is None:
        return lambda: None
    per_pair = [
        len(list(tiles(widths[0], width))) + 1 + (-(-widths[0] // TOGETHER) if width > WIDE else 1)
        for width in widths[1:]
    ]
    total, done = split.n_blocks * (len(widths) + sum(per_pair)), 0

    def tick() -> None:
        nonlocal done
        done += 1
        on_progress(min(done / total, 1.0))

    return tick


def _notes(read: Sequence[Any], split: Split, candidates: int | None) -> tuple[str, ...]:
    limits = {limit for other in read[1:] if (limit := _limit(other, candidates))}
    constant = sum(int((~other.varies).sum()) for other in read[1:])
    rare = int(((read[0].spread == 0).any(0) & read[0].varies).sum())
    widest = max(_limit(other, candidates) or other.width for other in read[1:])
    few = split.n_fit < 3 * widest
    notes = {
        f"subspaces were sought among the {max(limits, default=0)} nearest latents of each run, not among "
        "all: one that needs more is not found.": bool(limits),
        f"{constant} latents of the other runs are constant and take no part.": constant > 0,
        f"{rare} latents of the reference vary so rarely that one part of the rows never sees it; they "
        "cannot replicate here.": rare > 0,
        f"{split.n_fit} rows to fit up to {widest} regressors: subspaces may be missed; use more rows.": few,
    }
    return tuple(note for note, applies in notes.items() if applies)
