"""Do two runs agree? The best signed permutation, rigid, linear and ICA map between two representations."""

import numpy as np
from numpy.typing import ArrayLike

from .._checks import is_constant, table
from ._diameter import diameter
from ._maps import ICA, linear, rigid, signed_permutation
from ._result import Alignment, MapError


def align(
    z1: ArrayLike,
    z2: ArrayLike,
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
    z1, z2 : array-like of shape (n_samples, n_codes1), (n_samples, n_codes2)
        Row i of both must come from the same input. Widths may differ; unmatched columns predict the mean.
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
    first, second = _checked(z1, z2)
    if space not in ("representation", "components"):
        raise ValueError(f"`space` must be 'representation' or 'components', got {space!r}. Choose one.")
    fit, scored = _split(len(first), held_out, random_state)
    c1, c2 = first - first[fit].mean(0), second - second[fit].mean(0)
    width = diameter(second, exact=exact_diameter)
    matched = ICA(c1[fit], c2[fit], random_state)
    matrices = {
        "permutation": signed_permutation(c1[fit], c2[fit], scale=scale),
        "rigid": rigid(c1[fit], c2[fit]),
        "linear": linear(c1[fit], c2[fit]),
        "ica": matched.matrix,
    }
    errors = {name: _error(c1[scored], m, c2[scored], width.value) for name, m in matrices.items()}
    efficiency, why = ica_efficiency(*(errors[name].mean for name in ("permutation", "rigid", "ica")))
    if space == "components":
        s1, s2 = c1 @ matched.first.unmix, c2 @ matched.second.unmix
        s_width = diameter(s2, exact=exact_diameter).value
        errors["ica"] = _error(s1[scored], matched.match, s2[scored], s_width)
    c0 = c1[np.random.default_rng(random_state).permutation(len(c1))]
    return Alignment(
        permutation=errors["permutation"].mean,
        rigid=errors["rigid"].mean,
        linear=errors["linear"].mean,
        ica=errors["ica"].mean,
        efficiency=efficiency,
        diameter=width.value,
        diameter_exact=width.exact,
        mean=float(np.linalg.norm(c2[scored], axis=1).mean()) / width.value,
        shuffled=_error(c0[scored], linear(c0[fit], c2[fit]), c2[scored], width.value).mean,
        errors=errors,
        shape1=first.shape,
        shape2=second.shape,
        n_scored=len(scored),
        notes=(*why, *_notes(c1[fit], matched, held_out)),
    )


def ica_efficiency(permutation: float, rigid: float, ica: float) -> tuple[float, tuple[str, ...]]:
    """Return (e_perm - e_ica) / (e_perm - e_rigid), or NaN and the reason why there is none."""
    gain = permutation - rigid
    if gain < 1e-3:
        return float("nan"), (f"no efficiency: rigid gains {max(gain, 0.0):.1e} over the permutation.",)
    return (permutation - ica) / gain, ()


def _error(a: np.ndarray, matrix: np.ndarray, b: np.ndarray, width: float) -> MapError:
    """Measure ||a M - b|| row by row over the width, and the share of b's variance that a M explains."""
    distances = np.linalg.norm(a @ matrix - b, axis=1)
    total = float(((b - b.mean(0)) ** 2).sum())
    r2 = 1 - float((distances**2).sum()) / total if total > 0 else 0.0
    mean, median, worst = distances.mean() / width, np.median(distances) / width, distances.max() / width
    return MapError(float(mean), float(median), float(worst), r2, matrix)


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


def _notes(a: np.ndarray, matched: ICA, held_out: float) -> tuple[str, ...]:
    n, d = a.shape
    singular = np.linalg.svd(a, compute_uv=False)
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


def _checked(z1: ArrayLike, z2: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    first, second = table(z1, "z1"), table(z2, "z2")
    if len(first) != len(second):
        raise ValueError(
            f"`z2` must have as many rows as `z1`, got {len(second)} and {len(first)}. "
            "Row i of both must come from the same input."
        )
    if len(first) < 3:
        raise ValueError(f"`z1` must have at least 3 rows, got {len(first)}. Use more samples.")
    for values, name in ((first, "z1"), (second, "z2")):
        if is_constant(values).all():
            raise ValueError(f"`{name}` must vary, got the same row {len(values)} times. Check the run.")
    return first, second
