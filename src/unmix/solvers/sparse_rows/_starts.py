"""Where the rows of a sparse basis begin: random directions, differences of neighbours, hyperplanes."""

import torch
from jaxtyping import Float
from torch import Tensor

_BINS, _REACH = 160, 4.0
_CHUNK = 1024
_DRAWS = 10_000


def random_units(
    n_starts: int, avoid: Float[Tensor, "k z"], generator: torch.Generator
) -> Float[Tensor, "s z"]:
    """Draw unit vectors orthogonal to the given ones."""
    drawn = torch.randn(n_starts, avoid.shape[1], generator=generator, dtype=torch.float64).to(avoid)
    if len(avoid):
        basis = torch.linalg.qr(avoid.T)[0]
        drawn = drawn - drawn @ basis @ basis.T
    return drawn / drawn.norm(dim=1, keepdim=True)


def modes(values: Float[Tensor, "s n"]) -> Float[Tensor, " s"]:
    """Return the middle of the fullest of 160 bins between -4 and 4, for each line of values."""
    bins = ((values + _REACH) * (_BINS / (2 * _REACH))).long().clamp(0, _BINS - 1)
    counts = torch.zeros(len(values), _BINS, device=values.device, dtype=values.dtype)
    counts.scatter_add_(1, bins, torch.ones_like(values))
    return (counts.argmax(1).to(values) + 0.5) * (2 * _REACH / _BINS) - _REACH


def neighbour_differences(y: Float[Tensor, "n z"], generator: torch.Generator) -> Float[Tensor, "m z"]:
    """Return the difference of each sample to one of its nearest neighbours, without those that are zero.

    Neighbours mostly belong to one component of the mixture. Their difference is then sparse around 0,
    wherever the components meet: the offsets drop out, and with them the local minima that jumps between
    the components make. The neighbour is drawn from about as many as a component has samples, if there are
    ten components for each variable: the very nearest differ by noise most of all.
    """
    n, z = y.shape
    n_neighbours = min(max(n // (10 * z), 1), 100, n - 1)
    parts = []
    for start in range(0, n, _CHUNK):
        part = y[start : start + _CHUNK]
        distances = torch.cdist(part, y)
        here = torch.arange(len(part), device=y.device)
        distances[here, start + here] = torch.inf
        nearest = distances.topk(n_neighbours, largest=False).indices
        drawn = torch.randint(n_neighbours, (len(part),), generator=generator).to(y.device)
        parts.append(part - y[nearest[here, drawn]])
    differences = torch.cat(parts)
    return differences[differences.abs().amax(1) > 1e-9]


def hyperplanes(
    y: Float[Tensor, "n z"], n_draws: int, n_kept: int, generator: torch.Generator
) -> tuple[Float[Tensor, "s z"], Float[Tensor, " s"]]:
    """Draw hyperplanes through z samples each and keep different ones that hold most other samples (RANSAC).

    References
    ----------
    Fischler and Bolles (1981), Random sample consensus.
    """
    judged = y[torch.randperm(len(y), generator=generator)[:512].to(y.device)]
    rows, offsets, counts = y[:0], y[:0, 0], y[:0, 0]
    for first in range(0, n_draws, _DRAWS):
        more_rows, more_offsets = _through_samples(y, min(_DRAWS, n_draws - first), generator)
        held = ((more_rows @ judged.T + more_offsets[:, None]).abs() < 0.03).to(y.dtype).mean(1)
        rows, offsets = torch.cat([rows, more_rows]), torch.cat([offsets, more_offsets])
        counts = torch.cat([counts, held])
        kept = _best_different(rows, counts, n_kept)
        rows, offsets, counts = rows[kept], offsets[kept], counts[kept]
    return rows, offsets


def _through_samples(y: Tensor, n_draws: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Return unit normals and offsets of the hyperplanes through random samples."""
    n, z = y.shape
    # u.(y - far) = 1 has no solution for planes through `far`, and many go through the mean
    far = 7.0 * random_units(1, y[:0], generator)
    chosen = torch.randint(n, (n_draws, z), generator=generator).to(y.device)
    normals, failed = torch.linalg.solve_ex(y[chosen] - far, y.new_ones(n_draws, z, 1))
    normals = normals[failed == 0, :, 0]
    norms = normals.norm(dim=1)
    return normals / norms[:, None], -(normals @ far[0] + 1) / norms


def _best_different(rows: Tensor, counts: Tensor, n_kept: int) -> Tensor:
    """Return the best rows of which no two are nearly parallel."""
    left = counts.clone()
    kept: list[int] = []
    while len(kept) < n_kept and left.max() > 0:
        kept.append(int(left.argmax()))
        left[(rows @ rows[kept[-1]]).abs() > 0.98] = 0
    return torch.tensor(kept, device=rows.device, dtype=torch.long)
