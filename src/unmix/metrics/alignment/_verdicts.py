"""What `unmix.trust` says of the runs, where these are models: beside each latent, and in sentences."""

from collections.abc import Mapping
from typing import Any

import numpy as np

TRUST = "trust"  # head of the column
SHORT = {"yes": "yes", "no": "no", "not checked": "?"}
CAPTION = " Trust: the probability that it is right, and yes, no, or ? for not checked."


def check_verdicts(found: Any, verdicts: Mapping[str, Any]) -> None:
    """Refuse verdicts on other runs, or on a reference with another number of latents."""
    unknown = [name for name in verdicts if name not in found.names]
    if unknown:
        raise ValueError(
            f"`verdicts` must be of the runs {list(found.names)}, got {unknown[0]!r}. Rename it."
        )
    if found.names[0] in verdicts:
        n = sum(map(len, verdicts[found.names[0]].units))
        if n != found.n_latents:
            raise ValueError(
                f"`verdicts` must be about the {found.n_latents} latents of {found.names[0]}, got {n}. "
                "Judge the model whose codes were compared."
            )


def verdict_on(trust: Any, latent: int) -> dict[str, Any]:
    """Return what is said of one latent, or of the slot that it belongs to."""
    unit = next(k for k, latents in enumerate(trust.units) if latent in latents)
    return {
        "verdict": trust.verdicts[unit],
        "probability": float(trust.probability[unit]),
        "weakest": trust.weakest[unit].name,
        "reason": trust.reasons[unit],
    }


def cell(trust: Any, latent: int) -> str:
    """Write the verdict on one latent in two words, which have room in a line of 80 columns."""
    told = verdict_on(trust, latent)
    return f"{told['probability']:.2f} {SHORT[told['verdict']]}"


def sentences(found: Any) -> list[str]:
    """Say what is known of each run beyond agreement; nothing where no run is a model."""
    if not found.verdicts:
        return []
    return [*(_of_run(found, name) for name in found.names), *_both(found)]


def _of_run(found: Any, name: str) -> str:
    trust = found.verdicts.get(name)
    if trust is None:
        return f"{name}: not judged, so that agreement is all that is known of it."
    return f"{name}: {trust.headline} (effort {trust.effort})."


def _both(found: Any) -> list[str]:
    """Count the latents that replicate and are trusted: neither stands for the other."""
    trust = found.verdicts.get(found.names[0])
    if trust is None:
        return []
    trusted = np.array([verdict_on(trust, j)["verdict"] == "yes" for j in range(found.n_latents)])
    again = found.n_replicated == len(found.runs)
    others = f"; of the {(~again).sum():,} others {trusted[~again].sum():,}" if not again.all() else ""
    return [
        f"Replicated in every run: {again.sum():,}, of which {trusted[again].sum():,} are trusted{others}."
    ]
