"""Which latents replicate only together: ridge regression on the other run, judged on rows held out."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ._columns import Pair

_CARRY = 0.9  # a latent's subspace: the latents that carry this share of what is predicted of it
TOGETHER = 2048  # latents whose moments are in memory at a time
_FEW = 16  # latents whose candidates are gathered at a time


class Spans(NamedTuple):
    """How well each latent is predicted (multiple correlation, held out), and from which latents."""

    reach: np.ndarray
    members: list[np.ndarray]


class Moments(NamedTuple):
    """For b sets of m candidates: correlations among them, (b, m, m), and with q targets, (b, m, q)."""

    among: np.ndarray
    towards: np.ndarray


def spans(pair: Pair, candidates: np.ndarray | None, threshold: float) -> Spans:
    """Predict the latents of the first run from all latents of the second, or from their candidates."""
    which = np.arange(pair.first.width)
    if candidates is None:
        return _predicted(pair, which[None], np.arange(pair.second.width)[None], threshold)
    groups = np.array_split(which, -(-len(which) // TOGETHER))
    parts = [_predicted(pair, some[:, None], candidates[some], threshold) for some in groups]
    return Spans(np.concatenate([p.reach for p in parts]), [m for p in parts for m in p.members])


def _predicted(pair: Pair, targets: np.ndarray, sets: np.ndarray, threshold: float) -> Spans:
    """Fit on the rows to fit, predict those held out; targets are (b, q), sets of candidates (b, m).

    The ridge is the best one for many equal coefficients that explain as much as the threshold asks for.
    """
    fit, held = _moments(pair, targets, sets)
    return solved(pair, fit, held, targets, sets, threshold)


def solved(
    pair: Any, fit: Moments, held: Moments, targets: np.ndarray, sets: np.ndarray, threshold: float
) -> Spans:
    """Solve the regressions by the moments of the rows to fit, and judge them by those held out."""
    n_fit, m = pair.split.n_fit, sets.shape[1]
    ridge = m / n_fit * (1 - threshold**2) / threshold**2 + 1e-6
    slopes = np.linalg.solve(fit.among + ridge * np.eye(m, dtype=fit.among.dtype), fit.towards)
    moved = slopes * _units(pair, targets, sets)
    r2 = (moved * (2 * held.towards - held.among @ moved)).sum(1)
    carried = np.moveaxis(slopes * fit.towards, 1, 2).reshape(-1, m)  # Pratt's measure, which adds up to R2
    members = [_carriers(share, sets[row // targets.shape[1]]) for row, share in enumerate(carried)]
    return Spans(np.sqrt(np.clip(r2, 0, 1)).ravel().astype(float), members)


def _units(pair: Any, targets: np.ndarray, sets: np.ndarray) -> np.ndarray:
    """Return what turns slopes in the units of the rows to fit into those of the rows held out; (b, m, q)."""

    def ratio(spread: np.ndarray, over: int) -> np.ndarray:
        below = spread[over]
        return np.divide(spread[1 - over], below, out=np.zeros_like(below), where=below > 0)

    of_sets, of_targets = ratio(pair.second.spread, 0)[sets], ratio(pair.first.spread, 1)[targets]
    return of_sets[:, :, None] * of_targets[:, None, :]


def _moments(pair: Pair, targets: np.ndarray, sets: np.ndarray) -> tuple[Moments, Moments]:
    """Add up both parts' moments in one pass."""
    (b, m), q, dtype = sets.shape, targets.shape[1], pair.first.dtype
    found = [Moments(np.zeros((b, m, m), dtype), np.zeros((b, m, q), dtype)) for _ in range(2)]
    sizes = (pair.split.n_fit, pair.split.n_held)
    for span in pair.split.spans():
        for moments, y, x in zip(found, pair.first.both(span), pair.second.both(span), strict=True):
            _add(moments, np.ascontiguousarray(x.T), np.ascontiguousarray(y.T), targets, sets)
        pair.tick()
    fit, held = (Moments(s.among / n, s.towards / n) for s, n in zip(found, sizes, strict=True))
    return fit, held


def _add(moments: Moments, x: np.ndarray, y: np.ndarray, targets: np.ndarray, sets: np.ndarray) -> None:
    """Gather the candidates of a few targets at a time: x, y are (columns, rows)."""
    for start in range(0, len(sets), _FEW):
        some = slice(start, start + _FEW)
        gathered = x[sets[some]]
        moments.among[some] += gathered @ gathered.transpose(0, 2, 1)
        moments.towards[some] += gathered @ y[targets[some]].transpose(0, 2, 1)


def _carriers(share: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    """Return the fewest candidates that together carry most of what is predicted."""
    shares = np.maximum(share, 0)
    order = np.argsort(-shares)
    reached = np.cumsum(shares[order])
    return candidates[order[: int(np.searchsorted(reached, _CARRY * reached[-1])) + 1]]


class Subspace(NamedTuple):
    """Latents of the reference that lie in the span of some latents of another run."""

    latents: tuple[int, ...]
    counterparts: tuple[int, ...]


def subspaces(
    widths: tuple[int, int], edges: Sequence[tuple[int, np.ndarray]], single: dict[int, int]
) -> list[Subspace]:
    """Join latents that are carried by the same latents of the other run: connected components.

    `edges` are latents with their carriers, `single` those that replicate alone with their match. A component
    of a single pair is no subspace.
    """
    pairs = [(a, b) for a, carriers in edges for b in carriers.tolist()] + list(single.items())
    if not edges:
        return []
    rows, columns = (np.array(side) for side in zip(*pairs, strict=True))
    n = sum(widths)
    graph = coo_array((np.ones(len(rows)), (rows, columns + widths[0])), shape=(n, n))
    label = connected_components(graph, directed=False)[1]
    kept = list(dict.fromkeys(label[a] for a, _ in edges))
    nodes: dict[int, list[int]] = {group: [] for group in kept}
    for node in np.flatnonzero(np.isin(label, kept)).tolist():
        nodes[label[node]].append(node)
    return [_subspace(nodes[group], widths[0]) for group in kept]


def _subspace(nodes: list[int], n_first: int) -> Subspace:
    return Subspace(
        tuple(node for node in nodes if node < n_first),
        tuple(node - n_first for node in nodes if node >= n_first),
    )
