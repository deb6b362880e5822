"""To be written."""

from collections.abc import Iterator

from ._case import Case
from ._common import agreement, held_out_fit
from ._link import Link


def links(case: Case) -> Iterator[Link]:
    """What must hold."""
    yield held_out_fit(case)
    yield agreement(case)
