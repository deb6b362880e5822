"""How few features carry a task: Hoyer's sparsity of importances, and concentration of skill."""

import numpy as np
from numpy.typing import ArrayLike

_FORMS = ("skill", "relative", "over_bottom", "difference")


def hoyer_sparsity(importances: ArrayLike) -> float:
    """Return (√d - ‖p‖₁ / ‖p‖₂) / (√d - 1): 0 when all d features count alike, 1 when only one counts.

    Parameters
    ----------
    importances : array-like of shape (n_features,) or (n_models, n_features)
        Importances such as split counts, in any unit; signs are ignored. At least two features. Rows are
        scored one by one and averaged.

    Returns
    -------
    float

    Examples
    --------
    >>> round(hoyer_sparsity([0.5, 0.25, 0.25, 0.0]), 7)
    0.3670068
    >>> hoyer_sparsity([1, 1, 1, 1]), hoyer_sparsity([0, 7, 0, 0])
    (0.0, 1.0)

    References
    ----------
    Hoyer (2004), Non-negative matrix factorization with sparseness constraints, section 3.1; used for split
    counts by Nelson et al. (2026), Statistical and structural identifiability in representation learning,
    section 4.4, arXiv:2603.11970.
    """
    rows = np.atleast_2d(np.asarray(importances, dtype=np.float64))
    if rows.ndim != 2 or rows.shape[1] < 2 or not len(rows):
        raise ValueError(
            f"`importances` must hold at least 2 features, got shape {np.shape(importances)}. "
            "One feature is neither sparse nor dense."
        )
    if not np.isfinite(rows).all() or not rows.any(1).all():
        raise ValueError(
            "`importances` must be finite and not all zero in any row, got one that is not. "
            "A model without a split has no sparsity: leave it out."
        )
    shares = np.abs(rows) / np.abs(rows).max(1, keepdims=True)
    ratio = shares.sum(1) / np.linalg.norm(shares, axis=1)
    root = np.sqrt(rows.shape[1])
    return float(np.clip((root - ratio) / (root - 1), 0.0, 1.0).mean())


def concentration(top: float, rest: float, *, form: str = "skill") -> float:
    """Return how much of a task's skill the top features hold alone, from two areas under the ROC curve.

    Parameters
    ----------
    top : float in [0, 1]
        AUROC on unseen samples of a model that sees only the most important features (25%, say).
    rest : float in [0, 1]
        AUROC of a model that sees all others.
    form : {"skill", "relative", "over_bottom", "difference"}
        With A and B for `top` and `rest`: (A - B) / (A - 1/2), the share of the skill above chance that is
        lost without the top features; A / B - 1; (A - B) / (B - 1/2), unsteady when B is near chance; A - B.

    Returns
    -------
    float
        At most 1 for "skill" when the rest is at chance or better. Where a denominator is not positive
        (no skill above chance to share out) the call is refused rather than answered with a NaN.

    Notes
    -----
    The paper's formula is not public. A plain difference can't reach its values, and "skill" is the ratio
    that makes them plausible: it is our choice.

    Examples
    --------
    >>> round(concentration(0.836, 0.520), 2), round(concentration(0.836, 0.520, form="difference"), 3)
    (0.94, 0.316)

    References
    ----------
    Nelson et al. (2026), section 4.4, arXiv:2603.11970.
    """
    for name, value in (("top", top), ("rest", rest)):
        if not 0 <= value <= 1:
            raise ValueError(f"`{name}` must be an AUROC in [0, 1], got {value}. Chance is 1/2.")
    if form not in _FORMS:
        raise ValueError(f"`form` must be one of {_FORMS}, got {form!r}. Choose one of them.")
    unit = {"skill": top - 0.5, "relative": rest, "over_bottom": rest - 0.5, "difference": 1.0}[form]
    if unit <= 0:
        needed, value = ("top", top) if form == "skill" else ("rest", rest)
        least = "0" if form == "relative" else "chance, 1/2,"
        raise ValueError(
            f"`{needed}` must be above {least} for form={form!r}, got {value}. Use form='difference'."
        )
    return float((top - rest) / unit)
