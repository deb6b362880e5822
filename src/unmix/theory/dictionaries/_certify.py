"""What is certain about a dictionary: its codes, its atoms, and what remains where bounds say nothing."""

from dataclasses import dataclass
from math import lgamma, log
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unmix._html import told

from .._certificate import Certificate
from ._cofiring import CoFiring, cofiring
from ._coherence import Bounds, mutual_coherence, restricted_isometry, spark, unit_atoms
from ._recovery import exact_recovery

_CODES = "Uniqueness of k-sparse codes (Donoho, Elad, 2003, Theorem 2.4)"
_ATOMS = "Uniqueness of dictionaries (Garfinkle, Hillar, 2019, Theorem 1)"
_ROUNDING = 1e-6
_EXACT = "x is a combination of at most k atoms, without noise"


@dataclass(frozen=True, eq=False)
class DictionaryCertificate:
    """What a dictionary, its codes and their supports make certain; see `certify_dictionary`.

    Attributes
    ----------
    k : int
    coherence : float
        mu, the largest |cosine| of two atoms.
    isometry : Bounds
        Of the restricted isometry constant of 2k atoms: below 1, k-sparse codes are unique.
    spark : Bounds
        Above 2k, k-sparse codes are unique, and otherwise not all of them are.
    codes : Certificate
        Whether every k-sparse code is unique given the dictionary.
    atoms : Certificate
        Whether the dictionary is unique given the data, up to order, sign and scale.
    cofiring : CoFiring or None
    recovery : ndarray
        The exact recovery coefficient of the supports of some rows; empty without codes.
    identified : ndarray of bool, shape (n_atoms,)
        Atoms that the theorem identifies: none where a bound is vacuous.
    """

    k: int
    coherence: float
    isometry: Bounds
    spark: Bounds
    codes: Certificate
    atoms: Certificate
    cofiring: CoFiring | None
    recovery: np.ndarray
    identified: np.ndarray

    def __bool__(self) -> bool:
        return bool(self.codes and self.atoms)

    @property
    def vacuous(self) -> bool:
        """Whether neither uniqueness nor its contrary is proved for codes."""
        return self.spark.lower <= 2 * self.k < self.spark.upper

    @property
    def remains(self) -> tuple[str, ...]:
        """What is known where no theorem speaks: of rows, and of features that no row tells apart."""
        told = []
        if len(self.recovery):
            told.append(
                f"the supports of {np.mean(self.recovery < 1):.0%} of {len(self.recovery)} rows are "
                "recovered exactly (Tropp's coefficient below 1)"
            )
        if self.cofiring is not None:
            told.append(str(self.cofiring).rstrip("."))
        return tuple(told)

    def __str__(self) -> str:
        facts = (
            f"Coherence {self.coherence:.3f}, so that codes of fewer than {(1 + 1 / self.coherence) / 2:.1f} "
            f"atoms are unique; spark {self.spark}; isometry constant of {2 * self.k} atoms {self.isometry}."
            if self.coherence
            else "The atoms are orthogonal."
        )
        rest = [f"What remains: {'; '.join(self.remains)}."] if self.remains else []
        return "\n".join([facts, str(self.codes), str(self.atoms), *rest])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return told(str(self), bool(self))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        parts = ("isometry", "spark", "codes", "atoms")
        return {
            "k": self.k,
            "coherence": self.coherence,
            **{part: getattr(self, part).to_dict() for part in parts},
            "vacuous": self.vacuous,
            "cofiring": None if self.cofiring is None else self.cofiring.to_dict(),
            "recovered_rows": float(np.mean(self.recovery < 1)) if len(self.recovery) else None,
            "identified": self.identified.tolist(),
            "remains": list(self.remains),
        }


def certify_dictionary(
    dictionary: ArrayLike, codes: Any = None, *, k: int | None = None, random_state: int = 0
) -> DictionaryCertificate:
    """Certify what can be certain about codes and atoms, and say so where bounds are vacuous.

    Codes: every k-sparse code is unique iff the spark exceeds 2k; k < (1 + 1 / mu) / 2 or an isometry
    constant of 2k atoms below 1 suffice. Atoms: if in addition each set in a regular family of supports with
    singleton intersections has more than (k - 1) C(m, k) rows in general position, every dictionary of as
    many atoms that explains the rows k-sparsely is this one up to order, sign and scale. For overcomplete
    dictionaries at usual k both bounds are vacuous; then nothing is identified by them, and what remains is
    told: which rows are recovered exactly, and which features no row tells apart.

    Parameters
    ----------
    dictionary : array-like of shape (n_atoms, n_observed)
        Lengths and signs do not matter.
    codes : sparse array or array-like of shape (n_samples, n_atoms), optional
    k : int, optional
        How many atoms a code has; by default the most that a row of `codes` has.
    random_state : int
        Draws sets of atoms, and rows.

    Returns
    -------
    DictionaryCertificate

    Examples
    --------
    >>> found = certify_dictionary(np.eye(4), np.eye(4), k=1)
    >>> bool(found.codes), bool(found.atoms)
    (True, True)
    >>> wide = certify_dictionary(np.random.default_rng(0).normal(size=(512, 128)), k=8)
    >>> bool(wide.codes), wide.vacuous, int(wide.identified.sum())
    (False, True, 0)
    >>> print(wide.codes)
    Uniqueness of k-sparse codes (Donoho, Elad, 2003, Theorem 2.4) fails: undecided, the bounds are ...

    References
    ----------
    Donoho, Elad (2003), Optimally sparse representation in general (nonorthogonal) dictionaries via l1
    minimization. Hillar, Sommer (2015), When can dictionary learning uniquely recover sparse data from
    subsamples?, arXiv:1106.3616. Garfinkle, Hillar (2019), On the uniqueness and stability of dictionaries
    for sparse representation of noisy signals, Theorem 1, arXiv:1606.06997. Conditions with constants that
    are not stated (Spielman et al., 2012, for as many atoms as variables; Arora et al., 2014) are not used.
    """
    atoms = unit_atoms(dictionary)
    together = None if codes is None else cofiring(codes)
    k = _sparsity(codes, k, len(atoms))
    if together is not None and len(together.count) != len(atoms):
        raise ValueError(
            f"`codes` must have {len(atoms)} columns, got {len(together.count)}. One for each atom."
        )
    least = spark(atoms)
    isometry = restricted_isometry(atoms, min(2 * k, len(atoms)), random_state=random_state)
    unique = _unique_codes(k, least, isometry)
    known = _unique_atoms(k, len(atoms), unique, together)
    recovery = np.zeros(0) if codes is None else exact_recovery(atoms, codes, random_state=random_state)
    identified = np.full(len(atoms), bool(known))
    return DictionaryCertificate(
        k, mutual_coherence(atoms), isometry, least, unique, known, together, recovery, identified
    )


def _unique_codes(k: int, least: Bounds, isometry: Bounds) -> Certificate:
    """Decide by the spark, and by the isometry where that is sharper."""
    if least.lower > 2 * k:
        why = f"the spark is {least}, more than 2k = {2 * k}"
        return Certificate(_CODES, True, (_EXACT,), (why,))
    if not least.exact and isometry.upper < 1 - _ROUNDING:
        why = f"the isometry constant of 2k = {2 * k} atoms is at most {isometry.upper:.3f}, below 1"
        return Certificate(_CODES, True, (_EXACT,), (why,))
    if least.upper <= 2 * k:
        why = f"{least.upper:.0f} atoms depend on each other, and a code may have 2k = {2 * k} in two ways"
        return Certificate(_CODES, False, (_EXACT,), (why,))
    why = f"undecided, the bounds are vacuous: the spark is {least}, and 2k = {2 * k}"
    return Certificate(_CODES, False, (_EXACT,), (why,))


def _unique_atoms(k: int, n_atoms: int, unique: Certificate, together: CoFiring | None) -> Certificate:
    """Decide by the uniqueness of codes, the supports, and the number of rows on each."""
    assumes = (_EXACT, "rows of one support are in general position", "there are no more atoms than these")
    needed = _rows_needed(n_atoms, k)
    if not unique:
        return Certificate(_ATOMS, False, assumes, ("codes are not known to be unique",))
    if together is None:
        return Certificate(_ATOMS, False, assumes, ("no codes were given, so that supports are not known",))
    rows = together.n_rows / max(together.n_supports, 1)
    reasons = {
        f"{(~together.separated).sum()} atoms are never on without another": not together.separated.all(),
        f"each support needs more than {_size(needed)} rows, and has {rows:.3g} on average": (
            k > 1 and log(max(rows, 1e-12)) <= needed
        ),
        "supports do not all have k atoms, or atoms are not in equally many": k > 1
        and not _regular(together),
    }
    failed = tuple(why for why, fails in reasons.items() if fails)
    return Certificate(_ATOMS, not failed, assumes, failed or ("supports tell every atom from all others",))


def _regular(together: CoFiring) -> bool:
    """Whether every atom is on equally often, within sampling, as the theorem asks."""
    count = together.count
    return bool(count.min() > 0 and count.std() <= 3 * np.sqrt(count.mean()))


def _rows_needed(n_atoms: int, k: int) -> float:
    """Return the logarithm of (k - 1) C(m, k)."""
    if k < 2 or k > n_atoms:
        return -np.inf
    return log(k - 1) + lgamma(n_atoms + 1) - lgamma(k + 1) - lgamma(n_atoms - k + 1)


def _size(logarithm: float) -> str:
    return f"{np.exp(logarithm):.0f}" if logarithm < 12 else f"1e{logarithm / log(10):.0f}"


def _sparsity(codes: Any, k: int | None, n_atoms: int) -> int:
    if k is None and codes is None:
        raise ValueError("`k` must be how many atoms a code has, got None without `codes`. Give one of them.")
    if k is None:
        on = codes != 0
        k = max(1, int(np.asarray(on.sum(axis=1)).max()))
    if not 1 <= k <= n_atoms:
        raise ValueError(f"`k` must be between 1 and the {n_atoms} atoms, got {k}. Give the sparsity.")
    return int(k)
