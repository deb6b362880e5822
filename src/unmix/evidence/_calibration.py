"""The stored coefficients of the chains, and how they were obtained."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

from ._chain import Chain


@cache
def stored() -> dict[str, Any]:
    """Return what `calibration.json` says: the threshold, the chains, and the worlds they come from."""
    return json.loads(files(__package__).joinpath("calibration.json").read_text(encoding="utf-8"))


def threshold() -> float:
    """Return the probability from which on a unit is trusted."""
    return float(stored()["threshold"])


def chain_for(kind: str, effort: str) -> Chain:
    """Return the chain of an argument at an effort; one that was never calibrated has the plain one."""
    found = stored()["chains"].get(kind, {}).get(effort)
    if found is None:
        return Chain()
    return Chain(found["slopes"], found["offsets"], found["rest"])
