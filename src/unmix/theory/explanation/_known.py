"""What is known: everything that was given, and what follows from a fitted model."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unmix.structure import Structure

from .._certificate import checked_structure
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

    model: Any
    structure: Structure | None
    jacobians: np.ndarray | None
    z: np.ndarray | None
    latent_scale: np.ndarray | None
    unused: tuple[int, ...]
    learned: bool
    reading: Reading

    def need(self, name: str, option: str) -> Any:
        """Return a part, or say what an option needs."""
        found = getattr(self, name)
        if found is None:
            raise ValueError(f"`{option}` must be given with {_NEEDED[name]}, got none of them. Add one.")
        return found


def known(
    structure: Structure | None, model: Any, x: ArrayLike | None, jacobians: Any, z: ArrayLike | None
) -> Known:
    """Collect what was given, and ask the model for the rest."""
    _check(structure, model, x)
    rows = x if x is None or hasattr(x, "shape") else np.asarray(x)  # a data frame stays one: it has names
    learned = jacobians is None
    codes = _codes(model, rows) if z is None else checked_codes(z)
    scale = None if codes is None else codes.std(0)
    samples = _jacobians(model, rows) if learned else np.asarray(jacobians, dtype=np.float64)
    own = structure is None
    structure = _structure(model, samples, scale) if structure is None else structure
    return Known(
        model=model,
        structure=structure,
        jacobians=samples,
        z=codes,
        latent_scale=scale,
        unused=_unused(model, structure) if own else (),
        learned=learned,
        reading=Reading(
            None if structure is None else structure.margin, _explained(model, rows), _restarts(model)
        ),
    )


def _check(structure: Any, model: Any, x: Any) -> None:
    if structure is not None:
        checked_structure(structure)
    if x is not None and model is None:
        raise ValueError("`x` must be given with a model, got no model. Pass codes as z=... instead.")


def checked_codes(z: ArrayLike) -> np.ndarray:
    """Return codes as a finite table."""
    codes = np.asarray(z, dtype=np.float64)
    if codes.ndim != 2 or 0 in codes.shape or not np.isfinite(codes).all():
        raise ValueError(f"`z` must be a finite table (n_samples, n_latents), got shape {codes.shape}.")
    return codes


def _codes(model: Any, x: Any) -> np.ndarray | None:
    if x is None or not hasattr(model, "transform"):
        return None
    return np.asarray(model.transform(x), dtype=np.float64)


def _jacobians(model: Any, x: Any) -> np.ndarray | None:
    """Return Jacobians at rows spread over the data, with x in units of its standard deviations."""
    if x is None or not hasattr(model, "jacobian"):
        return None
    spread = np.asarray(x).std(0)
    units = np.where(spread > 0, spread, 1.0)
    few = x[:: -(-len(x) // MOST_POINTS)]
    return np.asarray(model.jacobian(few), dtype=np.float64) / units[:, None]


def _structure(model: Any, jacobians: np.ndarray | None, scale: np.ndarray | None) -> Structure | None:
    if hasattr(model, "structure_"):
        return model.structure_
    return None if jacobians is None else Structure.from_jacobian(jacobians, latent_scale=scale)


def _unused(model: Any, structure: Structure | None) -> tuple[int, ...]:
    """Return the latents of an estimate that move nothing, or vary in no component of its mixture."""
    idle = set() if structure is None else set(np.flatnonzero(~structure.support.any(0)).tolist())
    masks = getattr(model, "masks_", None)
    resting = set() if masks is None else set(np.flatnonzero(~np.asarray(masks, dtype=bool).any(0)).tolist())
    return tuple(sorted(idle | resting))


def _explained(model: Any, x: Any) -> float | None:
    """Return the share of the variance of x that the model reconstructs."""
    if x is None or not (hasattr(model, "inverse_transform") and hasattr(model, "transform")):
        return None
    left = np.asarray(x) - np.asarray(model.inverse_transform(model.transform(x)))
    total = float(np.asarray(x).var(0).sum())
    return 1.0 - float(np.square(left).mean(0).sum()) / total if total > 0 else None


def _restarts(model: Any) -> tuple[float, ...]:
    scores = getattr(model, "restarts_", None)
    return () if scores is None else tuple(float(score) for score in np.ravel(scores) if np.isfinite(score))
