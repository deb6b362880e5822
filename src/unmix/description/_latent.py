"""What one latent stands for."""

from dataclasses import asdict, dataclass
from typing import Any

from ._relations import Relation
from ._rows import Histogram
from ._variables import BOTH_WAYS, Variable, sign_of

FEW = 0.5  # of the variance, carried by five rows
LEVEL = 0.05  # of corrected p below which groups and columns are told
NAMING = 1.15  # ratio from which on a group names a latent: of thousands of variables 1.1 is beyond chance


@dataclass(frozen=True)
class Group:
    """A group of variables that a latent moves more than chance would.

    Attributes
    ----------
    name : str
    size : int
        Number of variables.
    ratio : float
        Mean size of their loadings over that of all variables; noise gives 1.
    p : float
        Corrected for all groups and latents.
    mixed : float
        What 95% of random mixes of the latents stay below.
    direction : float
        From -1 to 1: whether they all go the same way.
    """

    name: str
    size: int
    ratio: float
    p: float
    mixed: float
    direction: float

    @property
    def special(self) -> bool:
        """Whether a random mix of the latents would hardly do as much."""
        return not self.ratio <= self.mixed

    @property
    def sign(self) -> str:
        """Plus or minus; nothing where some of its variables go up and others down."""
        return sign_of(self.direction) if abs(self.direction) >= BOTH_WAYS else ""

    def __str__(self) -> str:
        mixed = "" if self.mixed != self.mixed else f", a mix {self.mixed:.1f}"
        return f"{self.sign}{self.name} {self.ratio:.1f}× (noise 1.0{mixed})"


@dataclass(frozen=True, eq=False)
class Latent:
    """What one latent stands for.

    Attributes
    ----------
    latent : int
    share : float
        The mean over variables of their squared loading: where latents are uncorrelated, the share of the
        variance of standardised data that it moves.
    variables : tuple of Variable
        Those it moves most.
    groups : tuple of Group
        Those that stand out at the level of 5%, corrected.
    metadata : tuple of Relation
        To every column, the clearest first.
    lowest, highest : tuple of str
        Rows at both ends, by id.
    histogram : Histogram
    carried : float
        The share of its variance that five rows carry: one that is near 1 tells of these rows alone.
    by_rows : bool
        Whether its rows have names while the variables have none, as those of an embedding.
    """

    latent: int
    share: float
    variables: tuple[Variable, ...]
    groups: tuple[Group, ...]
    metadata: tuple[Relation, ...]
    lowest: tuple[str, ...]
    highest: tuple[str, ...]
    histogram: Histogram
    carried: float = 0.0
    by_rows: bool = False

    @property
    def few(self) -> str:
        """Say that a latent is a matter of a few rows, where it is."""
        return f"five rows carry {self.carried:.0%} of its variance" if self.carried >= FEW else ""

    @property
    def related(self) -> tuple[Relation, ...]:
        """The columns that it goes with more than chance would, corrected."""
        return tuple(each for each in self.metadata if each.p <= LEVEL)

    @property
    def label(self) -> str:
        """A few words to call it by: groups, those beyond a random mix first; variables; or rows."""
        if self.by_rows:
            return f"from {', '.join(self.lowest[:3])} to {', '.join(self.highest[:3])}"
        words = self._named_by or self.variables[:2]
        return ", ".join(f"{each.sign} {each.name}".strip() for each in words)

    @property
    def _named_by(self) -> list[Group]:
        """The groups that name it, where some are moved by plainly more than the average variable."""
        strong = [group for group in self.groups if group.ratio >= NAMING]
        return sorted(strong, key=lambda group: not group.special)[:2]

    @property
    def line(self) -> str:
        """One line."""
        moves = ", ".join(map(str, self.variables[:2]))
        called = f"{self.label} ({self.variables[0]})" if self._named_by or self.by_rows else moves
        known = [called, *map(str, self.related[:2]), self.few]
        return f"z{self.latent}: {'; '.join(words for words in known if words)}"

    def __str__(self) -> str:
        parts = (
            ("moves", ", ".join(map(str, self.variables[:5]))),
            ("groups", ", ".join(map(str, self.groups[:4]))),
            ("goes with", "; ".join(map(str, self.related[:4]))),
            ("note", self.few),
            ("rows", f"lowest {', '.join(self.lowest)}; highest {', '.join(self.highest)}"),
        )
        told = [f"  {name}: {words}" for name, words in parts if words]
        return "\n".join([f"z{self.latent}: {self.label} ({self.share:.0%} of the variance)", *told])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "latent": self.latent,
            "label": self.label,
            "share": self.share,
            "variables": [asdict(each) for each in self.variables],
            "groups": [asdict(each) for each in self.groups],
            "metadata": [asdict(each) for each in self.metadata],
            "carried": self.carried,
            "lowest": list(self.lowest),
            "highest": list(self.highest),
            "histogram": {"counts": self.histogram.counts.tolist(), "edges": self.histogram.edges.tolist()},
        }
