"""The shape that certificates of near-identifiability share."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from .._certificate import Certificate, assumed

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
        plain = {field.name: _plain(getattr(self, field.name)) for field in fields(self)}
        return plain | {"holds": bool(self), "reasons": list(self.reasons)}

    def __str__(self) -> str:
        believed = dict.fromkeys(word for part in self.certificates for word in part.assumes)
        more = [f"For more: {'; '.join(self.missing)}."] if self.missing else []
        lines = [self.identifies, *(f"- {reason}" for reason in self.reasons), assumed(believed), *more]
        return "\n".join(line for line in lines if line)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value.to_dict() if hasattr(value, "to_dict") else value
