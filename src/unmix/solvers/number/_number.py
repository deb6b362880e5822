"""What the search for the number of latents found."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

RESOLUTION = 0.1  # nats that a latent must save in each row: one that x tells to R^2 = 0.18 saves as much
NEXT = RESOLUTION / 2  # what one more may still save where the latents end
SURE = 2.0  # standard errors
BENT = 0.5  # nats for each latent, more than laws such as the exponential save in a linear mixing
ENOUGH = 0.9  # share of the latents that were allowed from which an end can't be told from the limit


class Trial(NamedTuple):
    """One bottleneck.

    Attributes
    ----------
    n_allowed, n_latents : int
        Latents that it might use, and that carry something.
    length : float
        Nats for a held-out row, less half log 2 pi for each variable.
    bent : bool
        An autoencoder rather than factor analysis.
    """

    n_allowed: int
    n_latents: int
    length: float
    bent: bool


@dataclass(frozen=True, eq=False)
class Number:
    """How many latents a table has; see `find_number`.

    Attributes
    ----------
    n_latents : int or None
        None where nothing stops: latents that save less and less follow each other without an end.
    n_supported : int
        The fewest latents that encode as well as any number does, whether or not they end there.
    most : int
        Latents that were allowed.
    gain, error, after : float
        Nats that the last latent saves in a held-out row, the standard error, and what one more would save.
    trials : tuple of Trial
    n_rows, n_held_out : int
    """

    n_latents: int | None
    n_supported: int
    most: int
    gain: float
    error: float
    after: float
    trials: tuple[Trial, ...]
    n_rows: int
    n_held_out: int

    @property
    def lengths(self) -> dict[int, float]:
        """The shortest held-out code by the number of latents in use."""
        return {n: each.length for n, each in shortest(self.trials).items()}

    @property
    def n_linear(self) -> int:
        """The number of latents that factor analysis alone would ask for."""
        linear = shortest(each for each in self.trials if not each.bent)
        return min(linear, key=lambda n: linear[n].length + RESOLUTION * n)

    @property
    def bent(self) -> bool:
        """Whether the mixing seems to bend: fewer latents do if they may, or as many encode much better."""
        fewer = self.n_linear > self.n_supported and self.saved > RESOLUTION
        return fewer or self.saved > BENT * self.n_supported

    @property
    def saved(self) -> float:
        """The nats that an autoencoder saves beyond factor analysis, with as many latents."""
        n = self.n_supported
        lengths = [shortest(t for t in self.trials if t.bent == bent).get(n) for bent in (False, True)]
        linear, bent = (None if found is None else found.length for found in lengths)
        return 0.0 if linear is None or bent is None else max(0.0, linear - bent)

    def __str__(self) -> str:
        saved = f"{self.gain:.2f} +- {self.error:.2f} nats in a held-out row"
        if self.n_latents is not None:
            noun = "latent" if self.n_latents == 1 else "latents"
            return f"{self.n_latents} {noun}: the last saves {saved}, one more {max(self.after, 0):.2f}."
        if self.n_supported == 0:
            return "No latents: the variables say nothing about each other that is found again."
        return (
            f"Nothing stops: of {self.most} latents {self.n_supported} pay, the last saves {saved}, one more "
            f"{max(self.after, 0):.2f}."
        )


def shortest(trials: Iterable[Trial]) -> dict[int, Trial]:
    """Return the trial with the shortest code for each number of latents in use."""
    found: dict[int, Trial] = {}
    for each in trials:
        if each.n_latents not in found or each.length < found[each.n_latents].length:
            found[each.n_latents] = each
    return dict(sorted(found.items()))
