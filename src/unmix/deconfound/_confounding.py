"""How far batch and label go together, which no method can undo."""

from dataclasses import dataclass
from typing import Any

import numpy as np

_LISTED = 5


@dataclass(frozen=True)
class Confounding:
    """What is known of the table of batches by labels before anything is adjusted.

    Parameters
    ----------
    cramers_v : float
        Bias-corrected; 0 where batch says nothing of the label, 1 where one determines the other.
    n_batches, n_labels : int
    in_one_batch : tuple of str
        Labels that occur in one batch only: of these, batch and effect can be told apart by controls alone.
    determined : bool
        Whether every batch holds a single label.

    Examples
    --------
    >>> print(confounding(["a", "a", "b", "b"], ["x", "y", "x", "z"]))
    Batch and label: Cramér's V 0.00 (bias-corrected; 2 batches, 3 labels). 2 of 3 labels occur in one batch
    only: y, z.
    """

    cramers_v: float
    n_batches: int
    n_labels: int
    in_one_batch: tuple[str, ...]
    determined: bool

    def __str__(self) -> str:
        several = (
            f"Batch and label: Cramér's V {self.cramers_v:.2f} (bias-corrected; {self.n_batches:,} batches, "
            f"{self.n_labels:,} labels)."
        )
        alone = self.in_one_batch
        if not alone:
            return f"{several} Every label occurs in more than one batch."
        listed = ", ".join(alone[:_LISTED]) + (", ..." if len(alone) > _LISTED else "")
        return f"{several} {len(alone):,} of {self.n_labels:,} labels occur in one batch only: {listed}."

    def to_dict(self) -> dict[str, Any]:
        """Return the same for JSON."""
        return {
            "cramers_v": self.cramers_v,
            "n_batches": self.n_batches,
            "n_labels": self.n_labels,
            "in_one_batch": list(self.in_one_batch),
            "determined": self.determined,
        }


def confounding(batch: Any, label: Any) -> Confounding:
    """Measure how far batch and label go together.

    Parameters
    ----------
    batch, label : array-like of shape (n_samples,)
        Of any type; compared as text.

    Returns
    -------
    Confounding

    References
    ----------
    Bergsma (2013), A bias-correction for Cramér's V and Tschuprow's T.
    """
    names, rows = np.unique(np.asarray(batch).astype(str), return_inverse=True)
    labels, columns = np.unique(np.asarray(label).astype(str), return_inverse=True)
    pairs, counts = np.unique(np.stack([rows, columns]), axis=1, return_counts=True)
    batches_of_label = np.bincount(pairs[1], minlength=len(labels))
    labels_of_batch = np.bincount(pairs[0], minlength=len(names))
    return Confounding(
        _cramers_v(pairs, counts, len(names), len(labels)),
        len(names),
        len(labels),
        tuple(labels[batches_of_label == 1].tolist()),
        bool((labels_of_batch == 1).all() and len(labels) > 1),
    )


def _cramers_v(pairs: np.ndarray, counts: np.ndarray, r: int, c: int) -> float:
    """Return the square root of the corrected phi^2 over the corrected smaller side, less 1."""
    n = counts.sum()
    rows, columns = (np.bincount(side, weights=counts) for side in pairs)
    phi = float((counts**2 / (rows[pairs[0]] * columns[pairs[1]])).sum() - 1)  # chi^2 / n
    if min(r, c, n - 1) < 2:
        return 0.0
    corrected = max(0.0, phi - (r - 1) * (c - 1) / (n - 1))
    sides = [k - (k - 1) ** 2 / (n - 1) for k in (r, c)]
    return min(1.0, (corrected / max(min(sides) - 1, 1e-12)) ** 0.5)


def refuse_if_determined(found: Confounding) -> None:
    """Stop where the batch determines the label: an adjusted table would be a guess."""
    if found.determined:
        raise ValueError(
            f"`batch` must not determine `label`, got one label in each of the {found.n_batches:,} batches. What a "
            "batch does and what a label does are the same columns of numbers there; put controls or several "
            "labels into each batch."
        )
