"""The shape that certificates of near-identifiability share."""

from dataclasses import dataclass, fields
from typing import Any

from unmix._html import told

from .._certificate import Certificate, assumed, attributes

PAPER = "Nelson et al. 2026"


@dataclass(frozen=True, eq=False, kw_only=True)
class NearReport:
    """Conditions checked one by one, what is then identified, and what is missing for more.

    Attributes
    ----------
    certificates : tuple of Certificate
        One per condition and one per conclusion; the first is the conclusion that `bool` asks for.
    identifies : str
        What is identified, up to what.
    missing : tuple of str
        What would have to hold for more.
    """

    certificates: tuple[Certificate, ...]
    identifies: str
    missing: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.certificates[0].holds

    @property
    def reasons(self) -> tuple[str, ...]:
        """One sentence per certificate."""
        return tuple(certificate.verdict for certificate in self.certificates)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON; what is not finite is None."""
        own = attributes(self, *(field.name for field in fields(self)))
        return own | {"holds": bool(self), "reasons": list(self.reasons)}

    def _repr_html_(self) -> str:
        return told(str(self), bool(self))

    def __str__(self) -> str:
        believed = dict.fromkeys(word for part in self.certificates for word in part.assumes)
        more = [f"For more: {'; '.join(self.missing)}."] if self.missing else []
        lines = [self.identifies, *(f"- {reason}" for reason in self.reasons), assumed(believed), *more]
        return "\n".join(line for line in lines if line)
