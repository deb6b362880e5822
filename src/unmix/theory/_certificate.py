"""A certificate: what a theorem says about the case at hand."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from operator import index
from typing import Any

import numpy as np

from unmix._findings import findings_of
from unmix._html import told
from unmix.structure import Structure

ANSWER = ("identifies", "missing", "reasons", "certificates")  # what every answer has


@dataclass(frozen=True)
class Certificate:
    """Whether the conclusion of a theorem holds here, given what it assumes, and why.

    A failing certificate is a value, not an exception: `if certificate: ...` asks, `print(certificate)`
    explains.

    Attributes
    ----------
    theorem : str
        The statement, with its source.
    holds : bool
    assumes : tuple of str
        What was not checked and has to be believed.
    reasons : tuple of str
        Why it holds or fails.

    Examples
    --------
    >>> failing = Certificate("Sufficient diversity", False, (), ("z0 and z1 have the same children",))
    >>> bool(failing)
    False
    >>> print(failing)
    Sufficient diversity fails: z0 and z1 have the same children.
    """

    theorem: str
    holds: bool
    assumes: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.holds

    @property
    def verdict(self) -> str:
        """The sentence without what it assumes."""
        why = f": {'; '.join(self.reasons)}" if self.reasons else ""
        return f"{self.theorem} {'holds' if self.holds else 'fails'}{why}."

    def __str__(self) -> str:
        return f"{self.verdict} {assumed(self.assumes)}".rstrip()

    def _repr_html_(self) -> str:
        return told(f"{self.verdict}\n{assumed(self.assumes)}", self.holds)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return plain(asdict(self))


def assumed(assumes: Iterable[str]) -> str:
    """Write what has to be believed, or nothing."""
    listed = "; ".join(assumes)
    return f"Assumed, not checked: {listed}." if listed else ""


def plain(value: Any) -> Any:
    """Turn a value into what JSON knows, all the way down; a number that is not finite becomes None."""
    if isinstance(value, Structure):
        return value.support.astype(int).tolist()
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def attributes(answer: Any, *names: str) -> dict[str, Any]:
    """Return attributes by name as plain values, ready for JSON."""
    return {name: plain(getattr(answer, name)) for name in names}


def checked_structure(structure: Any) -> Structure:
    """Refuse anything but a Structure: a bare matrix does not say what its rows are."""
    if isinstance(structure, Structure):
        return structure
    fitted = findings_of(structure).structure is not None
    hint = "Pass `structure_` of the model." if fitted else "Wrap it: Structure(matrix)."
    raise TypeError(f"`structure` must be a Structure, got {type(structure).__name__}. {hint}")


def positions(values: Any, name: str) -> tuple[int, ...]:
    """Return whole numbers as they are; fractions, text and masks are refused, never rounded."""
    found = tuple(values) if isinstance(values, Iterable) else (None,)
    if any(isinstance(each, bool | np.bool_) or not hasattr(each, "__index__") for each in found):
        raise TypeError(f"`{name}` must hold whole numbers, got {values!r:.60}. List positions, from 0.")
    return tuple(map(index, found))


def finite_table(values: Any, name: str, shape: str = "(n_samples, n_latents)") -> np.ndarray:
    """Return a table of finite numbers with at least one row and one column."""
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or 0 in table.shape or not np.isfinite(table).all():
        raise ValueError(f"`{name}` must be a finite table {shape}, got shape {table.shape}.")
    return table


def with_margin(certificate: Any) -> str:
    """Write a verdict, with the margin of a type of mechanistic independence."""
    margin, unit = getattr(certificate, "margin", None), getattr(certificate, "unit", "")
    known = "" if margin is None or not unit else f" (margin {margin:.3g} {unit})"
    return f"{certificate.verdict[:-1]}{known}."


def names(indices: Iterable[int], letter: str = "z", most: int = 6) -> str:
    """Write a set of variables for a reader: "z0, z2 and 5 more"."""
    ordered = sorted(indices)
    shown = ", ".join(f"{letter}{index}" for index in ordered[:most])
    return shown if len(ordered) <= most else f"{shown} and {len(ordered) - most} more"
