"""What the page says of each latent: the verdict and its reasons, what it moves, what it is near."""

from typing import Any

import numpy as np

from .._trust import VERDICTS

NEAR = 4  # neighbours that are named
VARIABLES = 12  # strongest observed variables of a latent
_BINS = 24


def judged(trust: Any, latent: int) -> dict[str, Any]:
    """Return the verdict on a latent, its weakest link and all evidence; of a slot that of the whole slot."""
    unit = None if trust is None else next((k for k, of in enumerate(trust.units) if latent in of), None)
    if unit is None:
        return {"p": None, "tone": "open", "word": "not judged", "reason": "", "evidence": []}
    tone, word = VERDICTS[trust.verdicts[unit]]
    return {
        "p": float(trust.probability[unit]),
        "tone": tone,
        "word": word,
        "reason": trust.reasons[unit],
        "evidence": [_item(each, unit) for each in trust.evidence],
    }


def _item(link: Any, unit: int) -> dict[str, str]:
    measured, null = link.figures(unit)
    strength = float(link.strength[unit])
    tone = "open" if np.isnan(strength) else "good" if strength > 0 else "stop"
    return {"name": link.name, "measured": measured, "null": null, "words": link.words[unit], "tone": tone}


def bars(values: np.ndarray) -> list[int]:
    """Count a column into bars, for a small picture."""
    known = values[np.isfinite(values)]
    return np.histogram(known, bins=_BINS)[0].tolist() if len(known) else []


def neighbours(codes: np.ndarray, loadings: np.ndarray | None = None) -> list[list[dict[str, Any]]]:
    """Return for each latent those whose codes, or whose columns of loadings, are most like its own.

    >>> z = np.random.default_rng(0).normal(size=(100, 2))
    >>> neighbours(z @ [[1.0, 0.0, 1.0], [0.0, 1.0, 0.1]])[0][0]
    {'latent': 2, 'value': 1.0, 'by': 'codes'}
    """
    found = [_nearest(_cosines(codes - codes.mean(0)), "codes")]
    if loadings is not None:
        found.append(_nearest(_cosines(loadings), "what they move"))
    return [[each for of in found for each in of[j]] for j in range(codes.shape[1])]


def _cosines(columns: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(columns, axis=0)
    unit = columns / np.where(length > 0, length, 1)
    return np.asarray(unit.T @ unit)


def _nearest(similar: np.ndarray, by: str) -> list[list[dict[str, Any]]]:
    sizes = np.abs(similar)
    np.fill_diagonal(sizes, -1)
    order = np.argsort(-sizes, axis=1, kind="stable")[:, : min(NEAR, len(sizes) - 1)]
    return [
        [{"latent": int(k), "value": round(float(similar[j, k]), 2), "by": by} for k in order[j]]
        for j in range(len(sizes))
    ]


def plane(codes: np.ndarray) -> np.ndarray:
    """Return a map of the rows: the two directions of most variance of standardised codes.

    >>> plane(np.random.default_rng(0).normal(size=(20, 1))).shape
    (20, 2)
    """
    spread = codes.std(0)
    z = (codes - codes.mean(0)) / np.where(spread > 0, spread, 1)
    values, vectors = np.linalg.eigh(z.T @ z)
    found = z @ vectors[:, np.argsort(-values, kind="stable")[:2]]
    return np.column_stack([found, np.zeros((len(found), 2 - found.shape[1]))])
