"""The chain of features of sparse autoencoders, calibrated on planted dictionaries, family by family.

`python -m unmix.experiments.papers.trust.planted results` reads `trust.dictionaries`, judges every family by
a chain that has not seen it, writes the coefficients from all of them beside those of other arguments, which
stay as they are, and prints the table.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from unmix._files import atomic_write
from unmix.evidence import EFFORTS
from unmix.evidence._calibration import stored

from .dictionaries import FAMILIES
from .judgement import TARGET, Units, lines, read, records_of

EXPERIMENT, KIND = "trust.dictionaries", "dictionary"


def with_dictionaries(document: Mapping[str, Any], units: Units, seeds: Iterable[int]) -> dict[str, Any]:
    """Return what the package stores, with the chain of dictionaries and how it was obtained."""
    obtained = {
        "by": f"unmix reproduce {EXPERIMENT}, then python -m {__name__}",
        "seeds": sorted(set(seeds)),
        "families": sorted(set(units.family.tolist())),
        "units": len(units.right),
    }
    chain = {effort: units.chain(effort).to_dict() for effort in EFFORTS}
    return {
        **document,
        "obtained": {**document["obtained"], KIND: obtained},
        "chains": {**document["chains"], KIND: chain},
    }


def main(folder: str) -> None:
    """Store the coefficients, and print how the families left out were judged."""
    records = records_of(folder, EXPERIMENT)
    units = read(records, FAMILIES)
    document = with_dictionaries(stored(), units[KIND], (record["seed"] for record in records))
    atomic_write(TARGET, json.dumps(document, indent=1) + "\n")
    for effort in EFFORTS:
        print(effort, *lines(units, effort, families=FAMILIES), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1])
