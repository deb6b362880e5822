"""Numbers as labelled bars: scores beside the marks they have to beat, restarts beside the best one."""

from typing import Any

import numpy as np

from .._findings import Findings
from ._material import Material
from ._words import score_sentence

METRICS = {
    "mcc": (
        "MCC",
        "Mean correlation coefficient (MCC)",
        "Each true latent is paired with one estimated latent; the mean absolute correlation of the pairs. "
        "1 is perfect.",
    ),
    "r2": (
        "R²",
        "Information kept (R²)",
        "How well all estimated latents together predict the true ones, by a linear map, on samples it has "
        "not seen. It does not ask that they are told apart.",
    ),
    "infomec.modularity": (
        "InfoM",
        "Modularity (InfoM)",
        "How much of what a latent tells is about one factor alone. Latents that tell nothing score well, so "
        "that it means little without InfoE.",
    ),
    "infomec.explicitness": (
        "InfoE",
        "Explicitness (InfoE)",
        "How well all latents together predict each factor, by a linear map. It does not ask that they "
        "are told apart.",
    ),
    "infomec.compactness": (
        "InfoC",
        "Compactness (InfoC)",
        "How much of what is told about a factor is told by one latent alone.",
    ),
    "factor_vae_score": (
        "FactorVAE score",
        "FactorVAE score",
        "How often the latent that varies least, where one factor is held still, says which factor that is. "
        "It is high for rotations as well.",
    ),
    "mig": (
        "MIG",
        "Mutual information gap (MIG)",
        "For each factor, how much more the latent that tells most of it tells than the next one.",
    ),
}
RESTARTS = (
    "{n} fits from different random starts; the one with the lowest objective was kept, and the truth played "
    "no part in the choice. A start that fell behind was stopped early, and its number is from then. Bars "
    "show the distance from the best: several short ones mean that different starts came equally far."
)
MAX_RESTARTS = 12


def scores(material: Material) -> list[dict[str, Any]]:
    """Return one block per metric: this fit, raw x, rotation floor, chance, and what to make of them."""
    return [] if material.evaluation is None else score_bars(material.evaluation, material.identifying)


def score_bars(evaluation: Any, identifying: bool = True, *, raw: str = "raw x") -> list[dict[str, Any]]:
    """Return one block per metric; `raw` names what was scored in place of a fit."""
    return [_score(name, score, identifying, raw) for name, score in evaluation.items()]


def _score(key: str, score: Any, identifying: bool, raw: str) -> dict[str, Any]:
    short, name, meaning = METRICS.get(key, (key, key, ""))
    low, high = score.interval
    rows = [
        _measured("this fit", score.value, "ours", f"{low:.3f} to {high:.3f}"),
        _measured(raw, score.raw, "mark"),
        _measured("rotation floor", score.floor, "mark"),
        _measured("chance", score.null, "mark"),
    ]
    reading = score_sentence(key, short, score, identifying=identifying, raw=raw)
    return {"name": name, "meaning": meaning, "rows": rows, "reading": reading}


def bar(label: str, kind: str, text: str, percent: float, detail: str = "") -> dict[str, Any]:
    """Return one labelled bar; its kind is "ours" or "mark"."""
    return {"label": label, "kind": kind, "text": text, "detail": detail, "percent": percent}


def _measured(label: str, value: float | None, kind: str, detail: str = "") -> dict[str, Any]:
    text = "not measured" if value is None else f"{value:.3f}"
    return bar(label, kind, text, _percent(value or 0.0), detail)


def _percent(fraction: float) -> float:
    return round(100 * float(np.clip(fraction, 0, 1)), 2)


def restarts(findings: Findings) -> dict[str, Any]:
    """List the restarts by objective, lowest first; those dropped early have none and come last."""
    known = () if findings.restarts is None else findings.restarts
    objectives = np.asarray(known, dtype=float).ravel()
    finite = objectives[np.isfinite(objectives)]
    if len(objectives) < 2 or not len(finite):
        return {"restarts": [], "restarts_text": ""}
    order = np.argsort(np.where(np.isfinite(objectives), objectives, np.inf), kind="stable")
    spread = np.ptp(finite) or 1.0
    distances = (objectives - finite.min()) / spread
    rows = [
        _restart(int(k), objectives[k], distances[k], kept=bool(k == order[0])) for k in order[:MAX_RESTARTS]
    ]
    return {"restarts": rows, "restarts_text": RESTARTS.format(n=len(objectives))}


def _restart(k: int, objective: float, distance: float, *, kept: bool) -> dict[str, Any]:
    finished = np.isfinite(objective)
    text = f"{objective:.5g}" if finished else "dropped early"
    percent = _percent(distance) if finished else 100.0
    return bar(f"start {k}{', kept' if kept else ''}", "ours" if kept else "mark", text, percent)
