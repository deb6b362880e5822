"""Restarts that do not stay finite."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager


class Stopped:
    """Restarts that stopped because a number was no longer finite, and why."""

    def __init__(self, n_members: int) -> None:
        self.n_members, self.reasons = n_members, dict[int, str]()

    def words(self, number: int) -> str:
        """Name a restart."""
        return f"restart {number + 1} of {self.n_members}"

    @contextmanager
    def survived(self, number: int) -> Iterator[None]:
        """Note what stops a restart, so that the others go on."""
        try:
            yield
        except FloatingPointError as error:
            self.reasons[number] = f"{self.words(number)}: {error}"

    def tell(self) -> None:
        """Warn of those that stopped; raise if none is left."""
        told = "\n".join(self.reasons.values())
        if len(self.reasons) == self.n_members:
            raise FloatingPointError(told)
        if told:
            warnings.warn(f"a restart stopped, and the others went on. {told}", RuntimeWarning, stacklevel=2)
