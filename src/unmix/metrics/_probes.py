"""Probes that predict a factor from all codes and say how much each code helped.

A probe is a function `(codes, target, unseen, levels, random_state) -> (importances, predicted)`: `target`
holds labels 0 .. levels - 1, or standardised numbers where `levels` is 0.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import rankdata
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LassoCV

from ._checks import unit_rows

_ROUNDS, _RATE, _DEPTH = 50, 0.2, 3
_ALIKE = 1 - 1e-5  # rank correlation above which histograms hardly tell two codes apart
_BOOSTED = {
    "num_leaves": 2**_DEPTH,
    "max_depth": _DEPTH,
    "learning_rate": _RATE,
    "min_data_in_leaf": 1,
    "min_data_in_bin": 1,
    "max_bin": 511,  # with fewer, a bin more often straddles two levels that a code tells apart
    "min_gain_to_split": 0.01,  # of a total near n_samples: saves growing trees once everything is told
    "feature_pre_filter": False,
    "boost_from_average": False,  # the first guess is given, so that the values of nodes are gradients alone
    "num_threads": 1,  # trees are small: threads wait for each other longer than they work
    "force_col_wise": True,
    "deterministic": True,
    "verbosity": -1,
}

Probed = tuple[np.ndarray, np.ndarray]


def boosted_histograms(
    codes: np.ndarray, target: np.ndarray, unseen: np.ndarray, levels: int, random_state: int
) -> Probed:
    """Boost trees of depth 3 over histograms (lightgbm), 50 rounds at rate 0.2; importance is gain.

    Trees take the first of codes that divide the samples alike; what it gains is shared among these.
    """
    lightgbm = _lightgbm()
    objective = {"objective": "multiclass", "num_class": levels} if levels > 2 else {"objective": "binary"}
    parameters = {**_BOOSTED, **(objective if levels else {"objective": "regression"}), "seed": random_state}
    guess = _first_guess(target, levels)
    start = np.tile(guess, (len(target), 1)) if levels > 2 else np.full(len(target), guess)
    data = lightgbm.Dataset(codes, target, init_score=start, params=parameters)
    booster = lightgbm.train(parameters, data, _ROUNDS)
    raw = booster.predict(unseen, raw_score=True) + guess
    gains = _gains(booster.dump_model(), codes.shape[1])
    return shared_among_copies(gains, codes), _decided(raw, levels)


def boosting(
    codes: np.ndarray, target: np.ndarray, unseen: np.ndarray, levels: int, random_state: int
) -> Probed:
    """Boost trees as scikit-learn does by default: 100 rounds, depth 3, rate 0.1."""
    model = (GradientBoostingClassifier if levels else GradientBoostingRegressor)(random_state=random_state)
    model.fit(codes, target)
    return model.feature_importances_, model.predict(unseen)


def forest(
    codes: np.ndarray, target: np.ndarray, unseen: np.ndarray, levels: int, random_state: int
) -> Probed:
    """Average 100 random trees of depth 8 that may split on any code."""
    kind: Any = RandomForestClassifier if levels else RandomForestRegressor
    model = kind(n_estimators=100, max_depth=8, max_features=1.0, random_state=random_state)
    model.fit(codes, target)
    return model.feature_importances_, model.predict(unseen)


def lasso(
    codes: np.ndarray, target: np.ndarray, unseen: np.ndarray, levels: int, random_state: int
) -> Probed:
    """Fit sparse lines, to the number or to the indicator of each level; importance is Σ abs(weight)."""
    wanted = np.eye(levels)[target] if levels else target[:, None]
    folds = min(5, len(codes))
    models = [LassoCV(cv=folds, max_iter=10_000).fit(codes, column) for column in wanted.T]
    predicted = np.column_stack([model.predict(unseen) for model in models])
    weights = np.sum([np.abs(model.coef_) for model in models], axis=0)
    return weights, predicted.argmax(1) if levels else predicted[:, 0]


def _lightgbm() -> Any:
    try:
        import lightgbm
    except ImportError:
        raise ValueError(
            "The probe 'trees' needs lightgbm: pip install 'unmix[trees]', or use 'boosting' (slow), "
            "'forest' or 'lasso'."
        ) from None
    return lightgbm


def _first_guess(target: np.ndarray, levels: int) -> Any:
    """Return the best constant score: the logarithms of frequencies, the log odds, or the mean."""
    if not levels:
        return target.mean()
    frequency = np.bincount(target, minlength=levels) / len(target)
    return np.log(frequency) if levels > 2 else np.log(frequency[1] / frequency[0])


def _decided(raw: np.ndarray, levels: int) -> np.ndarray:
    if not levels:
        return raw
    return raw.argmax(1) if levels > 2 else (raw > 0).astype(int)


def shared_among_copies(gains: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Divide what codes gain evenly among those that put the samples in the same order, up or down.

    >>> code = np.random.default_rng(0).normal(size=(50, 1))
    >>> shared_among_copies(np.array([3.0, 0.0, 1.0]), np.hstack([code, -(code**3), code[::-1]])).tolist()
    [1.5, 1.5, 1.0]
    """
    ranks = unit_rows(rankdata(codes, axis=0).T)
    alike = np.abs(ranks @ ranks.T) > _ALIKE
    np.fill_diagonal(alike, True)
    if alike.sum() == len(gains):
        return gains
    _, group = connected_components(csr_array(alike), directed=False)
    return (np.bincount(group, gains) / np.bincount(group))[group]


def _gains(model: dict[str, Any], n_codes: int) -> np.ndarray:
    """Sum over splits the fall in squared residuals, (Σ_L r)² / n_L + (Σ_R r)² / n_R - (Σ r)² / n.

    LightGBM's own gain has Σ h, the curvature of the loss, in place of n. That curvature vanishes as levels
    are told apart, and would let the noise fitted last weigh as much as the signal found first.
    """
    gains = np.zeros(n_codes)
    open_nodes = [tree["tree_structure"] for tree in model["tree_info"]]
    while open_nodes:
        node = open_nodes.pop()
        if "split_feature" in node:
            children = [node["left_child"], node["right_child"]]
            gains[node["split_feature"]] += sum(map(_explained, children)) - _explained(node)
            open_nodes += children
    return np.maximum(gains, 0.0)


def _explained(node: dict[str, Any]) -> float:
    kind = "internal" if "split_feature" in node else "leaf"
    residuals = node[f"{kind}_value"] * node[f"{kind}_weight"]  # a node's value is -rate Σ r / Σ h
    return residuals**2 / node[f"{kind}_count"]
