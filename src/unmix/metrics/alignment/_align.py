"""Do two runs agree? The best signed permutation, rigid, linear and ICA map between two representations."""

import os
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...rows import Rows, changed, gathered, only
from ._clouds import centred, clouds, condensed, mean_of
from ._diameter import diameter
from ._maps import ICA, linear, rigid, signed_permutation
from ._result import Alignment, MapError

_SHUFFLED = 2**15  # rows, at most, that the error of shuffled rows is measured on


def align(
    z1: ArrayLike | str | os.PathLike[str] | Rows,
    z2: ArrayLike | str | os.PathLike[str] | Rows,
    *,
    scale: bool = False,
    space: str = "representation",
    held_out: float = 0.0,
    exact_diameter: bool | str = "auto",
    random_state: int = 0,
) -> Alignment:
    """Measure how far two representations of the same inputs agree, and up to which transformation.

    z1 is mapped to z2 by the best signed permutation, rigid similarity, affine map, and by ICA: components
    found in each table alone, matched by order and sign only, and carried back. Each error is
    mean_i ||map(z1_i) - z2_i|| / diameter(z2). The first three shrink in this order, since each family
    contains the one before; ICA's lies near the rigid one if independent components settle the rotation.

    Parameters
    ----------
    z1, z2 : array-like of shape (n_samples, n_codes1), (n_samples, n_codes2), or path
        Row i of both must come from the same input. Widths may differ; unmatched columns predict the mean.
        Long tables, and NPY, Parquet and safetensors files and folders of them, are read in blocks, with the
        same answer.
    scale : bool
        Let the signed permutation have one common scale, as the rigid map has.
    space : {"representation", "components"}
        Where ICA's error is measured: in z2, or between the matched components of unit variance themselves,
        over their diameter. The efficiency is always that of the former, which the other maps share.
    held_out : float
        Share of rows, drawn at random, that the maps do not see and on which errors are measured; 0 fits
        and measures on the same rows, as the paper does.
    exact_diameter : {"auto", True, False}
        As in `diameter`.
    random_state : int
        Draws the rows held out, the shuffled rows and the starts of ICA.

    Returns
    -------
    Alignment

    Examples
    --------
    >>> z = np.random.default_rng(0).laplace(size=(500, 3))
    >>> turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    >>> found = align(z, 2 * z @ turn)
    >>> f"{found.permutation:.2f} {found.rigid:.2f} {found.ica:.2f} {found.efficiency:.2f}"
    '0.09 0.00 0.00 1.00'
    >>> print(found.meaning)
    The runs agree up to a rotation, and ICA on each alone removes it: ...

    References
    ----------
    Nelson et al. (2026), Statistical and structural identifiability in representation learning, section 4.2
    and appendix A.7.2, arXiv:2603.11970. Schönemann (1966) for the rotation, Kuhn (1955) for the assignment.
    """
    if space not in ("representation", "components"):
        raise ValueError(f"`space` must be 'representation' or 'components', got {space!r}. Choose one.")
    first, second = clouds(z1, z2)
    fit, scored = _split(first.n_rows, held_out, random_state)
    c1, c2 = (centred(run, mean_of(only(run, fit))) for run in (first, second))
    width = diameter(second, exact=exact_diameter)
    few = condensed(only(c1, fit), only(c2, fit))
    matched = ICA(only(c1, fit), only(c2, fit), few, random_state)
    matrices = {
        "permutation": signed_permutation(*few, scale=scale),
        "rigid": rigid(*few),
        "linear": linear(*few),
        "ica": matched.matrix,
    }
    told = _left(only(c1, scored), only(c2, scored), matrices)
    errors = {name: _error(told.distances[name], told.total, width.value, m) for name, m in matrices.items()}
    efficiency, why = ica_efficiency(*(errors[name].mean for name in ("permutation", "rigid", "ica")))
    if space == "components":
        errors["ica"] = _between_components(c1, c2, matched, scored, exact_diameter)
    return Alignment(
        permutation=errors["permutation"].mean,
        rigid=errors["rigid"].mean,
        linear=errors["linear"].mean,
        ica=errors["ica"].mean,
        efficiency=efficiency,
        diameter=width.value,
        diameter_exact=width.exact,
        mean=told.mean / width.value,
        shuffled=_shuffled(c1, c2, fit, scored, random_state) / width.value,
        errors=errors,
        shape1=(first.n_rows, first.n_features),
        shape2=(second.n_rows, second.n_features),
        n_scored=len(scored),
        notes=(*why, *_notes(few[0], len(fit), matched, held_out)),
    )


def ica_efficiency(permutation: float, rigid: float, ica: float) -> tuple[float, tuple[str, ...]]:
    """Return (e_perm - e_ica) / (e_perm - e_rigid), or NaN and the reason why there is none."""
    gain = permutation - rigid
    if gain < 1e-3:
        return float("nan"), (f"no efficiency: rigid gains {max(gain, 0.0):.1e} over the permutation.",)
    return (permutation - ica) / gain, ()


class _Left(NamedTuple):
    """What maps leave of the rows of b: distances by map, the variance of b times rows, its mean length."""

    distances: dict[str, np.ndarray]
    total: float
    mean: float


def _left(a: Rows, b: Rows, matrices: dict[str, np.ndarray]) -> _Left:
    """Measure ||a M - b|| row by row for every map, in one pass over both tables and one over b."""
    middle, total = mean_of(b), 0.0
    distances: dict[str, list[np.ndarray]] = {name: [] for name in (*matrices, "")}
    for first, second in zip(a.blocks(), b.blocks(), strict=True):
        for name, matrix in matrices.items():
            distances[name].append(np.linalg.norm(_mapped(first, matrix) - second, axis=1))
        distances[""].append(np.linalg.norm(second, axis=1))
        total += float(((second - middle) ** 2).sum())
    joined = {name: np.concatenate(parts) for name, parts in distances.items()}
    return _Left(joined, total, float(joined.pop("").mean()))


def _mapped(rows: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Multiply rows by a matrix; one that only picks columns, as a permutation does, needs no sums."""
    if np.count_nonzero(matrix, axis=0).max() > 1:
        return np.asarray(rows @ matrix)
    source = np.abs(matrix).argmax(0)
    return np.asarray(rows[:, source] * matrix[source, np.arange(matrix.shape[1])])


def _error(distances: np.ndarray, total: float, width: float, matrix: np.ndarray) -> MapError:
    """Summarise distances over the width, and the share of the variance that the map explains."""
    r2 = 1 - float((distances**2).sum()) / total if total > 0 else 0.0
    mean, median, worst = distances.mean() / width, np.median(distances) / width, distances.max() / width
    return MapError(float(mean), float(median), float(worst), r2, matrix)


def _between_components(
    c1: Rows, c2: Rows, matched: ICA, scored: np.ndarray, exact_diameter: bool | str
) -> MapError:
    """Measure ICA's error between the matched components of unit variance, over their diameter."""
    m1, m2 = matched.first.unmix, matched.second.unmix
    s1 = changed(c1, lambda block: block @ m1, m1.shape[1])
    s2 = changed(c2, lambda block: block @ m2, m2.shape[1])
    width = diameter(s2, exact=exact_diameter).value
    told = _left(only(s1, scored), only(s2, scored), {"ica": matched.match})
    return _error(told.distances["ica"], told.total, width, matched.match)


def _shuffled(c1: Rows, c2: Rows, fit: np.ndarray, scored: np.ndarray, random_state: int) -> float:
    """Return the mean distance that the linear map leaves when rows are shuffled, of long tables of some."""
    rng = np.random.default_rng(random_state)
    order = rng.permutation(c1.n_rows)
    if c1.n_rows <= _SHUFFLED:
        a, b = gathered(c1, order), np.asarray(gathered(c2, np.arange(c2.n_rows)))
    else:
        kept = np.sort(order[:_SHUFFLED])
        a, b = gathered(c1, rng.permutation(kept)), gathered(c2, kept)
        fit, scored = (np.flatnonzero(np.isin(kept, part)) for part in (fit, scored))
    return float(np.linalg.norm(a[scored] @ linear(a[fit], b[fit]) - b[scored], axis=1).mean())


def _split(n: int, held_out: float, random_state: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows to fit on and the rows to score on; the same, all of them, when none are held out."""
    if not 0 <= held_out < 1:
        raise ValueError(f"`held_out` must be a share in [0, 1), got {held_out}. A fifth is usual.")
    if held_out == 0:
        return np.arange(n), np.arange(n)
    order, n_scored = np.random.default_rng(random_state).permutation(n), max(1, round(held_out * n))
    if n - n_scored < 3:
        raise ValueError(
            f"`held_out` must leave at least 3 rows to fit on, got {n - n_scored} of {n}. Lower it."
        )
    return np.sort(order[n_scored:]), np.sort(order[:n_scored])


def _notes(few: np.ndarray, n: int, matched: ICA, held_out: float) -> tuple[str, ...]:
    d = few.shape[1]
    singular = np.linalg.svd(few, compute_uv=False)
    notes = {
        f"{n} rows for {d} columns: on the rows it was fitted to the linear map looks better than it is; "
        "hold rows out.": n < 5 * d and held_out == 0,
        "the first table is close to rank deficient (condition number over 1e6): its linear map is not "
        "unique.": n <= d or singular[-1] * 1e6 < singular[0],
        f"{matched.n_gaussian} of ICA's components look Gaussian: if they agree, it is by these rows and not "
        "by their distribution.": matched.n_gaussian > 1,  # one alone is what the others leave
        "ICA did not settle within its iterations.": not matched.settled,
    }
    return tuple(note for note, applies in notes.items() if applies)
