"""What an estimator rests on, and whether the data show it."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Support:
    """One thing that data must have for an estimator to identify latents.

    Attributes
    ----------
    name : str
        What was looked for.
    methods : tuple of str
        The estimators that rest on it.
    holds : bool or None
        None where it can't be looked for without more being known.
    measured, null : str
        What the data show, and what data without it show.
    words : str
        What that means.
    needs : str
        What must be known, or be true, besides.
    """

    name: str
    methods: tuple[str, ...]
    holds: bool | None
    measured: str
    null: str
    words: str
    needs: str

    @property
    def verdict(self) -> str:
        """One word."""
        return {True: "yes", False: "no", None: "not looked at"}[self.holds]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self) | {"methods": list(self.methods)}

    def __str__(self) -> str:
        head = f"{self.name} ({', '.join(self.methods)}): {self.verdict}"
        return f"{head}. {self.words} Needs: {self.needs}"
