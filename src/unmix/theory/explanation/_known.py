"""What is known: everything that was given, and what follows from a fitted model."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from unmix._findings import Findings
from unmix._fitted import Fitted, thinned
from unmix.structure import Structure

from .._certificate import checked_structure, finite_table
from ._facts import Facts
from ._reading import Reading

MOST_POINTS = 1000  # Jacobians taken of a model
_NEEDED = {
    "structure": "a structure, a model that has one, or Jacobians",
    "jacobians": "Jacobians, or a model and its data x",
    "z": "codes z, or a model and its data x",
}


@dataclass(frozen=True, eq=False)
class Known:
    """What certifiers are asked with; a part that is unknown is None."""

    structure: Structure | None
    jacobians: np.ndarray | None
    z: np.ndarray | None
    latent_scale: np.ndarray | None
    unused: tuple[int, ...]
    learned: bool
    reading: Reading
    findings: Findings

    def need(self, name: str, option: str) -> Any:
        """Return a part, or say what an option needs."""
        found = getattr(self, name)
        if found is None:
            raise ValueError(f"`{option}` must be given with {_NEEDED[name]}, got none of them. Add one.")
        return found


def known(structure: Structure | None, fitted: Fitted, facts: Facts) -> Known:
    """Collect what was given, and ask the model for the rest."""
    if structure is not None:
        checked_structure(structure)
    learned = facts.jacobians is None
    codes = _floats(fitted.codes) if facts.z is None else finite_table(facts.z, "z")
    scale = None if codes is None else codes.std(0)
    samples = _jacobians(fitted) if learned else _floats(facts.jacobians)
    findings = fitted.findings
    found = _structure(findings, samples, scale) if structure is None else structure
    return Known(
        structure=found,
        jacobians=samples,
        z=codes,
        latent_scale=scale,
        unused=_unused(findings, found) if structure is None else (),
        learned=learned,
        reading=Reading(None if found is None else found.margin, fitted.explained, _restarts(findings)),
        findings=findings,
    )


def _floats(values: Any) -> np.ndarray | None:
    return None if values is None else np.asarray(values, dtype=np.float64)


def _jacobians(fitted: Fitted) -> np.ndarray | None:
    """Return Jacobians at rows spread over the data, with x in units of its standard deviations."""
    if fitted.jacobians is None:
        return None
    spread = np.asarray(fitted.x).std(0)
    units = np.where(spread > 0, spread, 1.0)
    return np.asarray(thinned(fitted.jacobians, MOST_POINTS), dtype=np.float64) / units[:, None]


def _structure(
    findings: Findings, jacobians: np.ndarray | None, scale: np.ndarray | None
) -> Structure | None:
    if findings.structure is not None or jacobians is None:
        return findings.structure
    return Structure.from_jacobian(jacobians, latent_scale=scale)


def _unused(findings: Findings, structure: Structure | None) -> tuple[int, ...]:
    """Return the latents of an estimate that move nothing, or vary in no component of its mixture."""
    masks = None if findings.mixture is None else findings.mixture.masks
    used = [] if structure is None else [structure.support]
    used += [] if masks is None else [np.asarray(masks, dtype=bool)]
    return tuple(sorted({j for table in used for j in np.flatnonzero(~table.any(0)).tolist()}))


def _restarts(findings: Findings) -> tuple[float, ...]:
    scores = () if findings.restarts is None else np.ravel(findings.restarts)
    return tuple(float(score) for score in scores if np.isfinite(score))
