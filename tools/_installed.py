"""What an environment holds of the packages that unmix and its extras ask for, by the metadata of each."""

import re
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement

OURS = "unmix"


def canonical(name: str) -> str:
    """Return a name as indices compare it.

    >>> canonical("Jinja2"), canonical("causal_learn")
    ('jinja2', 'causal-learn')
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def reached(extras: Iterable[str] = ()) -> dict[str, Distribution]:
    """Return all installed packages that unmix needs with these extras, directly or through others."""
    found: dict[str, Distribution] = {}
    seen: set[tuple[str, str]] = set()
    wanted = [(OURS, extra) for extra in ("", *extras)]
    while wanted:
        name, extra = wanted.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            continue
        wanted += list(_needs(found[name], extra))
    return dict(sorted((name, each) for name, each in found.items() if name != OURS))


def _needs(package: Distribution, extra: str) -> Iterator[tuple[str, str]]:
    for text in package.requires or ():
        need = Requirement(text)
        if need.marker is None or need.marker.evaluate({"extra": extra}):
            yield from ((canonical(need.name), each) for each in ("", *need.extras))
