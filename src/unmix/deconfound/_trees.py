"""The paper's evaluation: trees that tell one treatment from controls, on batches they have not seen."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

PARAMETERS = {  # of the paper; what it does not say is LightGBM's default
    "objective": "binary",
    "is_unbalance": True,
    "learning_rate": 0.05,
    "num_leaves": 31,
    "feature_fraction": 0.6,
    "reg_alpha": 5.0,
    "reg_lambda": 1.0,
    "min_gain_to_split": 0.8,
    "min_data_in_leaf": 30,
}
CONCENTRATIONS: dict[str, Callable[[float, float], float]] = {
    "share": lambda top, rest: (top - rest) / (top - 0.5),
    "relative": lambda top, rest: top / rest - 1,
    "over_bottom": lambda top, rest: (top - rest) / (rest - 0.5),
    "difference": lambda top, rest: top - rest,
}


class Fold(NamedTuple):
    """What trees reach for one task on one set of held-out batches."""

    task: str
    fold: int
    method: str
    auroc: float
    hoyer: float
    concentration: float
    top: float
    rest: float


def hoyer(counts: Any) -> float:
    """Return the sparsity (sqrt(d) - ||p||_1 / ||p||_2) / (sqrt(d) - 1) of counts; NaN where all are zero.

    >>> round(hoyer([0.5, 0.25, 0.25, 0]), 7), hoyer([1, 1, 1]), hoyer([0, 1])
    (0.3670068, 0.0, 1.0)
    """
    p = np.abs(np.asarray(counts, dtype=float))
    root = np.sqrt(len(p))
    if p.sum() == 0 or len(p) < 2:
        return float("nan")
    return max(0.0, float((root - p.sum() / np.linalg.norm(p)) / (root - 1)))


def concentration(top: float, rest: float, mode: str = "share") -> float:
    """Return how much more the top features know than the rest; NaN where the top features know nothing.

    The mode "share" is (A_T - A_B) / (A_T - 1/2), the share of the skill above chance that goes with them.

    >>> concentration(0.8, 0.5), concentration(0.5, 0.4)
    (1.0, nan)
    """
    if mode not in CONCENTRATIONS:
        raise ValueError(
            f"`mode` must be one of {', '.join(CONCENTRATIONS)}, got {mode!r}. Choose one of these."
        )
    return float(CONCENTRATIONS[mode](top, rest)) if top > 0.5 else float("nan")


def need_trees() -> Any:
    """Import LightGBM, or say how to get it."""
    try:
        import lightgbm
    except ImportError:
        raise ImportError("`task` needs LightGBM: pip install 'unmix[trees]'.") from None
    return lightgbm


def tasks_of(
    task: np.ndarray, control: np.ndarray, batch: np.ndarray, *, n_splits: int = 5, min_rows: int = 50
) -> list[str]:
    """List the treatments with enough rows in enough batches to be held out, the most frequent first."""
    names, counts = np.unique(task[~control], return_counts=True)
    usable = [
        (-int(count), str(name))
        for name, count in zip(names, counts, strict=True)
        if count >= min_rows and len(np.unique(batch[(task == name) & ~control])) >= n_splits
    ]
    return [name for _, name in sorted(usable)]


def grouped_folds(
    positive: np.ndarray, batch: np.ndarray, n_splits: int, random_state: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Split rows so that no batch is on both sides, and both classes are in every fold."""
    from sklearn.model_selection import StratifiedGroupKFold

    splitter = StratifiedGroupKFold(n_splits, shuffle=True, random_state=random_state)
    folds = list(splitter.split(positive, positive, batch))
    if any(len(np.unique(positive[part])) < 2 for fold in folds for part in fold):
        raise ValueError(
            f"`task` must have treated and control rows in every fold, got one class only in one of {n_splits}. "
            "Use fewer folds or a treatment in more batches."
        )
    return folds


def held_out_aurocs(
    tables: Mapping[str, np.ndarray],
    positive: np.ndarray,
    batch: np.ndarray,
    *,
    task: str = "",
    n_splits: int = 5,
    top_share: float = 0.25,
    mode: str = "share",
    random_state: int = 0,
    on_fold: Callable[[], None] = lambda: None,
) -> list[Fold]:
    """Score tables of the same rows by trees on batches that were held out.

    Parameters
    ----------
    tables : mapping from methods to arrays of shape (n_samples, n_features)
    positive : array of bool of shape (n_samples,)
        Treated rows; the others are controls.
    batch : array of shape (n_samples,)
    task : str
        Name of the treatment, for the result.
    n_splits : int
    top_share : float
        Features that count as the top ones, by how often trees split on them.
    mode : {"share", "relative", "over_bottom", "difference"}
        As for `concentration`.
    random_state : int
    on_fold : callable
        Called after each fold of each table.

    Returns
    -------
    list of Fold
    """
    found = []
    for k, (train, test) in enumerate(grouped_folds(positive, batch, n_splits, random_state)):
        for method, values in tables.items():
            scores = _fold(values, positive, train, test, top_share, random_state)
            auroc, sparsity, top, rest = scores
            found.append(Fold(task, k, method, auroc, sparsity, concentration(top, rest, mode), top, rest))
            on_fold()
    return found


def _fold(values, positive, train, test, top_share, seed):
    """Return the AUROC of all features, their sparsity, and the AUROC of the top ones and of the rest."""
    model, auroc = _trees(values, positive, train, test, seed)
    used = model.feature_importance("split")
    n_top = max(1, round(top_share * values.shape[1]))
    order = np.argsort(-used, kind="stable")
    parts = [
        _trees(values[:, part], positive, train, test, seed)[1] if len(part) else 0.5
        for part in (order[:n_top], order[n_top:])
    ]
    return auroc, hoyer(used), *parts


def _trees(values, positive, train, test, seed):
    from sklearn.metrics import roc_auc_score

    lightgbm = need_trees()
    settings = {**PARAMETERS, "verbosity": -1, "num_threads": 1, "seed": seed}
    rows = lightgbm.Dataset(values[train], positive[train].astype(int), free_raw_data=True)
    model = lightgbm.train(settings, rows, num_boost_round=100)
    return model, float(roc_auc_score(positive[test], model.predict(values[test])))
