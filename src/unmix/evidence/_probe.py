"""What one set of variables tells about another: a flexible probe, scored on rows that it has not seen."""

from collections.abc import Sequence

import numpy as np

from unmix._threads import threads

Slots = Sequence[Sequence[int]]

_WIDTHS, _RIDGES = (0.1, 0.4), (1e-3, 3e-2, 1.0)  # of the kernel, for each dimension; and of its solution


def readable(inputs: np.ndarray, targets: np.ndarray) -> float:
    """Return the share of the least readable target that a smooth function of the inputs tells.

    Ridge regression on the inputs and a Gaussian kernel of them, fitted to two thirds of the rows; width and
    ridge are chosen on half of the rest, and the other half is scored, then the two change places.

    Examples
    --------
    >>> z = np.random.default_rng(0).normal(size=(300, 2))
    >>> bool(readable(z, np.sin(z)) > 0.99), bool(readable(z[:, :1], z) < 0.1)
    (True, True)
    """
    return float(shares(inputs, targets).min())


def mutual(codes: np.ndarray, slots: Slots, others: np.ndarray, their: Slots) -> np.ndarray:
    """Return how far each pair of slots of two codes can be read off each other; 0 for unlike sizes."""
    there = [shares(codes[:, list(a)], others) for a in slots]
    back = [shares(others[:, list(b)], codes) for b in their]
    return np.array(
        [
            [
                min(there[k][list(b)].min(), back[j][list(a)].min()) * (len(a) == len(b))
                for j, b in enumerate(their)
            ]
            for k, a in enumerate(slots)
        ]
    )


@threads(1)
def shares(inputs: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the share of each target that is told, nothing being 0 and everything 1."""
    inputs, targets = _standard(inputs), _standard(targets)
    cut = np.arange(len(inputs)) % 6
    fit, tests = cut < 4, (cut == 4, cut == 5)
    left = np.array([_left(inputs, targets, fit, tests, width) for width in _WIDTHS])
    left = left.reshape(-1, 2, targets.shape[1])  # settings, halves, targets
    best = left.mean(2).argmin(0)[::-1]  # each half is scored by the setting that the other one likes
    return np.clip(1 - np.mean([left[best[half], half] for half in (0, 1)], axis=0), 0, 1)


def _left(
    inputs: np.ndarray, targets: np.ndarray, fit: np.ndarray, tests: tuple[np.ndarray, ...], width: float
) -> np.ndarray:
    """Return the share not told for each ridge, half and target, with kernels of one width."""
    kernel = _kernel(inputs, inputs[fit], width / inputs.shape[1])
    values, vectors = np.linalg.eigh(kernel[fit])
    turned = vectors.T @ targets[fit]
    errors = []
    for ridge in _RIDGES:
        weights = vectors @ (turned / (np.maximum(values, 0) + ridge)[:, None])
        errors.append([_unread(targets[t], kernel[t] @ weights) for t in tests])
    return np.array(errors)


def _unread(targets: np.ndarray, told: np.ndarray) -> np.ndarray:
    spread = targets.var(0)  # of these rows: fewer of them vary less by chance, which is nothing told
    return np.square(targets - told).mean(0) / np.where(spread > 0, spread, 1)


def _kernel(a: np.ndarray, b: np.ndarray, gamma: float) -> np.ndarray:
    apart = np.square(a).sum(1)[:, None] + np.square(b).sum(1) - 2 * a @ b.T
    return np.exp(-gamma * np.maximum(apart, 0)) + (1 + a @ b.T) / (1 + a.shape[1])


def _standard(values: np.ndarray) -> np.ndarray:
    spread = values.std(0)
    return (values - values.mean(0)) / np.where(spread > 0, spread, 1)
