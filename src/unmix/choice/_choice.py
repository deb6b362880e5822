"""What was found before a fit."""

from dataclasses import dataclass
from typing import Any

from unmix.solvers.number import RESOLUTION, Number

from ._agreement import Agreement
from ._support import Support


@dataclass(frozen=True, eq=False, repr=False)
class Choice:
    """How many latents a table has, and which estimators it could support; see `choose`.

    Attributes
    ----------
    number : Number
        With every bottleneck that was tried.
    agreement : tuple of Agreement
        Of linear components of two halves, for several numbers of latents.
    supports : tuple of Support
        One for each thing that an estimator may rest on.
    n_rows, n_features : int
    seconds : float
    """

    number: Number
    agreement: tuple[Agreement, ...]
    supports: tuple[Support, ...]
    n_rows: int
    n_features: int
    seconds: float = 0.0

    @property
    def n_latents(self) -> int | None:
        """The number of latents; None where nothing stops."""
        return self.number.n_latents

    @property
    def methods(self) -> tuple[str, ...]:
        """The estimators that the data could support."""
        return tuple(name for each in self.supports if each.holds for name in each.methods)

    @property
    def headline(self) -> str:
        """The answer in a sentence."""
        return str(self.number)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "n_latents": self.n_latents,
            "n_supported": self.number.n_supported,
            "headline": self.headline,
            "most": self.number.most,
            "gain": self.number.gain,
            "error": self.number.error,
            "after": self.number.after,
            "trials": [each._asdict() for each in self.number.trials],
            "agreement": [each._asdict() for each in self.agreement],
            "supports": [each.to_dict() for each in self.supports],
            "methods": list(self.methods),
            "n_rows": self.n_rows,
            "n_features": self.n_features,
            "seconds": self.seconds,
        }

    @property
    def meaning(self) -> str:
        """How the number was found."""
        found = self.number
        linear = f"Linear latents alone would have to be {found.n_linear}: the mixing bends."
        return (
            f"{found.n_held_out:,} of {found.n_rows:,} rows were held out and encoded by up to {found.most} "
            f"latents. A latent counts if it saves {RESOLUTION:g} nats in each of them. "
            f"{linear if found.bent else 'Linear latents would be as many.'}"
        )

    @property
    def survival(self) -> str:
        """What survives at the number of latents, in a sentence; empty where it was not measured."""
        n = max(1, self.number.n_supported)
        here = next((each for each in self.agreement if each.n_latents == n), None)
        if here is None:
            return ""
        return (
            f"With {n}, linear components of two halves agree to {here.mean:.2f}, those of Gaussian data to "
            f"{here.null:.2f}."
        )

    def __str__(self) -> str:
        parts = [self.headline, self.meaning, self.survival]
        lines = [" ".join(filter(None, parts)), "", *map(str, self.supports)]
        return "\n".join([*lines, "", self.advice])

    @property
    def advice(self) -> str:
        """What to do next."""
        if self.number.n_supported == 0:
            return "There is nothing to fit: no latent is shared by the variables."
        if not self.methods:
            return (
                "None of the checks found what an estimator rests on: expect latents that can't be trusted."
            )
        return f"Try {' or '.join(self.methods)}, and ask `unmix.trust` about the result."
