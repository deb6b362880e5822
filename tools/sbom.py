"""Write a bill of materials (CycloneDX 1.5, JSON) of what is installed for unmix, without a network.

python tools/sbom.py out/sbom.json [--extras trees,cluster]
"""

import argparse
import json
import sys
from importlib.metadata import Distribution, version
from pathlib import Path
from typing import Any

from _installed import OURS, canonical, reached


def component(package: Distribution) -> dict[str, Any]:
    """Describe one package: name, version, licence where it says one, and its address among packages."""
    name, number = canonical(package.metadata["Name"]), package.version
    said = package.metadata.get("License-Expression") or package.metadata.get("License") or ""
    licence = said.strip().splitlines()[0][:100] if said.strip() else None
    found = {"type": "library", "bom-ref": purl(name, number), "name": name, "version": number}
    found |= {"purl": purl(name, number)}
    return found | ({"licenses": [{"license": {"name": licence}}]} if licence else {})


def purl(name: str, number: str) -> str:
    """Return the address of a Python package.

    >>> purl("numpy", "2.0.0")
    'pkg:pypi/numpy@2.0.0'
    """
    return f"pkg:pypi/{name}@{number}"


def bill(extras: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the document."""
    ours = {"type": "library", "name": OURS, "version": version(OURS)}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": ours | {"bom-ref": purl(OURS, version(OURS))}},
        "components": [component(package) for package in reached(extras).values()],
    }


def main() -> None:
    """Write the file that is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--extras", default="", help="with commas between them")
    given = parser.parse_args()
    document = bill(tuple(filter(None, given.extras.split(","))))
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(document, indent=1) + "\n")
    sys.stdout.write(f"{len(document['components'])} packages: {given.out}\n")


if __name__ == "__main__":
    main()
