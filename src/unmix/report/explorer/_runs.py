"""Other runs beside the one that is shown: matched latent by latent."""

from collections.abc import Mapping
from typing import Any

import numpy as np

WORDS = {"alone": "replicates", "subspace": "within a subspace", "none": "not found", "constant": "constant"}


def beside(codes: np.ndarray, others: Mapping[str, np.ndarray]) -> list[dict[str, Any]]:
    """Return for each other run its latents, and where each latent of the first is found in it."""
    if not others:
        return []
    from ...metrics import replicate

    found = replicate([codes, *others.values()], names=["this run", *others])
    return [_run(run, other.shape[1]) for run, other in zip(found.runs, others.values(), strict=True)]


def _run(run: Any, n_latents: int) -> dict[str, Any]:
    pairs = [
        {
            "status": str(status),
            "word": WORDS[str(status)],
            "partner": int(partner),
            "r": None if np.isnan(r) else round(float(r), 3),
            "noise": round(float(noise), 3),
        }
        for status, partner, r, noise in zip(
            run.status, run.partner, run.correlation, np.nan_to_num(run.noise, nan=1.0), strict=True
        )
    ]
    taken = {pair["partner"] for pair in pairs if pair["status"] == "alone"}
    unmatched = [k for k in range(n_latents) if k not in taken]
    return {"name": run.name, "n_latents": n_latents, "pairs": pairs, "unmatched": unmatched}
