"""The sparsest invertible affine image of a white code: search rows, keep an independent set of the best."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from ._descent import descend
from ._spikes import contrast
from ._starts import hyperplanes, modes, neighbour_differences, random_units
from ._supports import support_intersections

WIDTHS = (0.5, 0.2, 0.1, 0.05)
_INDEPENDENT = 0.1  # least part of a row outside the span of the better ones
_ROUNDS, _PATIENCE = 8, 3
ENOUGH = 20  # samples for each row
_CLEAR = 3.0  # contrast of a spike that is beyond doubt
_SIDED = 3.0  # standard errors of a mean that has a side
_GAIN = 1e-3  # of the summed shares; less is no better basis


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Rows u and offsets c such that u.y + c is sparse; always as many independent rows as y has columns.

    Attributes
    ----------
    rows : (z, z) tensor of unit vectors, the sparsest first
        Each with the mean of its values above zero or, where that is too near zero to tell, with its largest
        entry: many starts end at one hyperplane from either side, and last digits say which one is best.
    offsets : (z,) tensor
    shares : (z,) tensor
        Smoothed share of samples off each hyperplane.
    searched : (z,) bool tensor
        False for rows that only complete the basis, where the search found too few.
    n_rounds : int
    """

    rows: Float[Tensor, "z z"]
    offsets: Float[Tensor, " z"]
    shares: Float[Tensor, " z"]
    searched: Tensor
    n_rounds: int

    def cpu(self) -> "SparseRows":
        """Return the same on the CPU."""
        tensors = ("rows", "offsets", "shares", "searched")
        return replace(self, **{name: getattr(self, name).cpu() for name in tensors})

    @property
    def smallest_singular_value(self) -> float:
        """Return how far the rows are from dependent; 1 for orthogonal rows."""
        return float(torch.linalg.svdvals(self.rows)[-1])


def sparsest_rows(
    y: Float[Tensor, "n z"],
    generator: torch.Generator,
    *,
    n_starts: int | None = None,
    solver: str = "descent",
    widths: tuple[float, ...] = WIDTHS,
    on_round: Callable[[float], None] = lambda share: None,
) -> SparseRows:
    """Find an affine basis in which a white code is sparsest.

    Each round starts rows outside the span of those that are clear by now: in random directions, on y itself
    and on differences of neighbours, and where supports of components intersect. They descend while the width
    of the cost shrinks, and the best independent rows of all rounds are taken. The search ends when a round
    did not find sparser rows, or three did not while only some rows have clear spikes, or after 8 rounds.

    Parameters
    ----------
    y : (n, z) tensor
        With mean 0 and identity covariance.
    generator : torch.Generator
        On the CPU.
    n_starts : int, optional
        Starts of each kind and round, by default 2 z and at least 30.
    solver : {"descent", "ransac", "subspaces"}
        Where rows come from: all starts below; hyperplanes through random samples; intersections of supports.
    widths : tuple of float
        Of the cost, from wide to narrow.
    on_round : callable
        Told before each round which share of the most rounds is done.

    Returns
    -------
    SparseRows

    Examples
    --------
    >>> generator = torch.Generator().manual_seed(0)
    >>> z = torch.randn(2000, 3, generator=generator, dtype=torch.float64)
    >>> z = z * (torch.rand(2000, 3, generator=generator) < 0.5)
    >>> y = (z - z.mean(0)) @ torch.linalg.inv(torch.linalg.cholesky(torch.cov(z.T))).T
    >>> found = sparsest_rows(y, generator)
    >>> z_hat = y @ found.rows.T + found.offsets
    >>> [round(float(share), 1) for share in (z_hat.abs() < 1e-3).double().mean(0)]
    [0.5, 0.5, 0.5]

    References
    ----------
    Xu, Lachapelle and Magliacane (2026), Theorem 3.9 and Eq. (6), arXiv:2604.13218.
    """
    single = y.float()
    search = _search(single, solver, n_starts or max(30, 2 * y.shape[1]), widths, generator)
    pool = basis = _no_rows(single)
    known, total, rounds, idle = single[:0], torch.inf, 0, 0
    most = _ROUNDS if len(y) >= ENOUGH * y.shape[1] else 1  # fewer samples fit many rows by chance
    while rounds < most and idle < (1 if len(known) in (0, y.shape[1]) else _PATIENCE):
        on_round(rounds / most)
        rounds += 1
        rows, offsets = search(known)
        found = (rows, offsets, share_off(single, rows, offsets, widths[-1]))
        pool = tuple(map(torch.cat, zip(pool, found, strict=True)))
        basis = tuple(part[_best_independent(*pool)] for part in pool)
        clear = contrast(single @ basis[0].T + basis[1]) > _CLEAR
        known = basis[0][clear]
        before, total = total, float(basis[2].sum()) + y.shape[1] - len(basis[2])
        idle = idle + 1 if total > (1 - _GAIN) * before else 0
    return _polished(y, basis, widths, rounds)


Search = Callable[[Tensor], tuple[Tensor, Tensor]]


def _search(
    y: Tensor, solver: str, n_starts: int, widths: tuple[float, ...], generator: torch.Generator
) -> Search:
    """Return what a round does, given the rows that are known."""
    if solver == "ransac":
        # through z samples at a time, about z 2^-z of the draws hit; beyond twenty latents few do
        n_draws = min(20_000 * y.shape[1], 400_000)
        return lambda known: _ended(y, hyperplanes(y, n_draws, 2 * n_starts, generator), widths)
    if solver == "subspaces":
        return lambda known: _ended(y, support_intersections(y, 4 * n_starts, generator), widths)
    differences = _white_differences(y, generator)
    return lambda known: _from_directions(y, differences, known, n_starts, widths, generator)


def _ended(y: Tensor, starts: tuple[Tensor, Tensor], widths: tuple[float, ...]) -> tuple[Tensor, Tensor]:
    return descend(y, *starts, width=widths[-1])[:2]


def _no_rows(y: Tensor) -> tuple[Tensor, ...]:
    return y[:0], y[:0, 0], y[:0, 0]


def _white_differences(y: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor] | None:
    """Return whitened differences of neighbours and the map that whitens them, where there are enough."""
    differences = neighbour_differences(y, generator)
    if len(differences) < 4 * y.shape[1]:
        return None
    values, vectors = torch.linalg.eigh(differences.T @ differences / len(differences))
    if values[0] < 1e-8 * values[-1]:
        return None
    root = vectors / values.sqrt()
    return differences @ root, root


def _from_directions(
    y: Tensor,
    differences: tuple[Tensor, Tensor] | None,
    known: Tensor,
    n_starts: int,
    widths: tuple[float, ...],
    generator: torch.Generator,
) -> tuple[Tensor, Tensor]:
    rows = _outside(known, n_starts, generator)
    offsets = -modes(rows @ y.T)
    for width in widths[:-1]:
        rows, offsets, _ = descend(y, rows, offsets, width=width)
    if differences is not None:
        others = _on_differences(*differences, known, n_starts, widths[:-1], generator)
        rows = torch.cat([rows, others])
        offsets = torch.cat([offsets, -modes(others @ y.T)])
    normals, levels = support_intersections(y, n_starts, generator)
    rows, offsets = torch.cat([rows, normals]), torch.cat([offsets, levels])
    rows, offsets, _ = descend(y, rows, offsets, width=widths[-2])
    return descend(y, rows, offsets, width=widths[-1])[:2]


def _outside(found: Tensor, n_starts: int, generator: torch.Generator) -> Tensor:
    """Return starts outside the span of the rows that were found, or of all of them but one at a time.

    A row that mixes a missing latent with found ones gives way to the missing one there.
    """
    if len(found) < found.shape[1]:
        return random_units(n_starts, found, generator)
    dual = torch.linalg.pinv(found).T
    return torch.cat([dual / dual.norm(dim=1, keepdim=True), random_units(n_starts, found[:0], generator)])


def _on_differences(
    white: Tensor,
    root: Tensor,
    found: Tensor,
    n_starts: int,
    widths: tuple[float, ...],
    generator: torch.Generator,
) -> Tensor:
    """Descend on differences of neighbours, where all offsets are zero; return rows for y."""
    rows = _outside(found @ torch.linalg.inv(root).T, n_starts, generator)
    zero = torch.zeros_like(rows[:, 0])
    for width in widths:
        rows, zero, _ = descend(white, rows, zero, width=width, free_offsets=False)
    rows = rows @ root.T
    return rows / rows.norm(dim=1, keepdim=True)


def share_off(
    y: Float[Tensor, "n z"],
    rows: Float[Tensor, "s z"],
    offsets: Float[Tensor, " s"],
    width: float = WIDTHS[-1],
) -> Float[Tensor, " s"]:
    """Return the share of samples off the hyperplane, as the mean of r^2 / (r^2 + width^2).

    The logarithm that rows descend on also prefers small values off the hyperplane. It has fewer minima, but
    only the share orders them: by E ||z||_0, Eq. (4).
    """
    squares = torch.addmm(offsets[:, None], rows, y.T).square_()
    return (squares / (squares + width**2)).mean(1)


def _best_independent(rows: Tensor, offsets: Tensor, shares: Tensor) -> Tensor:
    """Return the greedy choice by share: the optimal one, as independent sets of vectors are a matroid."""
    chosen: list[int] = []
    rest = rows.clone()
    for index in shares.argsort().tolist():
        left = rest[index].norm()
        if left > _INDEPENDENT:
            chosen.append(index)
            unit = rest[index] / left
            rest = rest - (rest @ unit)[:, None] * unit
        if len(chosen) == rows.shape[1]:
            break
    return torch.tensor(chosen, device=rows.device, dtype=torch.long)


def _polished(y: Tensor, basis: tuple[Tensor, ...], widths: tuple[float, ...], rounds: int) -> SparseRows:
    """Refine in the precision of y, and complete the basis by the directions that are left."""
    rows, offsets, _ = (part.to(y) for part in basis)
    missing = y.shape[1] - len(rows)
    if missing:
        left = torch.linalg.qr(rows.T, mode="complete")[0].T[len(rows) :]
        rows = torch.cat([rows, left])
        offsets = torch.cat([offsets, -modes(left @ y.T)])
    better = descend(y, rows, offsets, width=widths[-1], tol=1e-10)
    kept = torch.arange(len(rows), device=y.device) < len(rows) - missing
    rows = torch.where(kept[:, None], better[0], rows)
    offsets = torch.where(kept, better[1], offsets)
    up = _which_way_up(rows, offsets, len(y))
    rows, offsets = up[:, None] * rows, up * offsets
    return SparseRows(rows, offsets, share_off(y, rows, offsets, widths[-1]), kept, rounds)


def _which_way_up(rows: Tensor, offsets: Tensor, n: int) -> Tensor:
    """Return signs that give values of mean `offsets`, on n samples of variance 1, means above zero.

    >>> _which_way_up(torch.tensor([[0.6, -0.8], [0.6, -0.8]]), torch.tensor([0.01, 0.5]), 100)
    tensor([-1.,  1.])
    """
    largest = rows.gather(1, rows.abs().argmax(1, keepdim=True))[:, 0]
    sided = offsets.abs() > _SIDED / n**0.5
    return torch.where(sided, offsets, largest).sign()
