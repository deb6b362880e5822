"""Domains as users give them: labels of any kind, or a quantity that is cut into intervals."""

import json
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import column_or_1d

_MOST_INTERVALS = 10


class Domains(NamedTuple):
    """Known domains: their names as JSON, and where a quantity is cut (empty for labels).

    Examples
    --------
    >>> domains, u = Domains.read(["b", "a", "b", "b", "a"], 5, least=2)
    >>> domains.names, u
    (['a', 'b'], array([1, 0, 1, 1, 0]))
    >>> domains.number(["a", "c"])
    array([ 0, -1])
    """

    text: np.ndarray
    cuts: np.ndarray

    @classmethod
    def read(cls, domains: Any, n_samples: int, least: int) -> tuple["Domains", np.ndarray]:
        """Check the domains of samples and number them."""
        values = labels_of(domains)
        if len(values) != n_samples:
            raise ValueError(
                f"`domains` must have one label for each of the {n_samples} samples, got {len(values)}. "
                "Are they of another table?"
            )
        cuts = _cuts(values, least) if _is_quantity(values) else np.empty(0)
        labels = np.searchsorted(cuts, values) if len(cuts) else values
        names, u = np.unique(labels, return_inverse=True)
        _check_counts(names, np.bincount(u), least)
        text = json.dumps(names.tolist()).encode()
        return cls(np.frombuffer(text, dtype=np.uint8).copy(), cuts), u

    @property
    def names(self) -> list[Any]:
        """The labels in order, or the numbers of the intervals."""
        return json.loads(self.text.tobytes().decode())

    def number(self, domains: Any) -> np.ndarray:
        """Return the number of each sample's domain, -1 for one that was never seen."""
        values = labels_of(domains)
        labels = np.searchsorted(self.cuts, values) if len(self.cuts) else values
        known = {name: number for number, name in enumerate(self.names)}
        return np.array([known.get(label, -1) for label in labels.tolist()])


def labels_of(domains: Any) -> np.ndarray:
    """Return labels as numbers or as text, and refuse those that are missing.

    >>> labels_of([1, "b", 1]).tolist()
    ['1', 'b', '1']
    """
    if domains is None:
        raise ValueError(
            "`domains` must be one label per sample, got None. This estimator requires y to be passed, but "
            "the target y is None: call fit(X, domains=labels) or fit(X, labels)."
        )
    values = np.asarray(domains.detach().cpu() if hasattr(domains, "detach") else domains)
    if np.ma.is_masked(domains):
        values = np.array(domains.tolist(), dtype=object)  # in which masked entries are None
    if values.dtype.kind in "US" and isinstance(domains, list | tuple):
        values = np.array(domains, dtype=object)  # as text, a missing value would be a label of its own
    values = column_or_1d(values, warn=True)
    if values.dtype.kind in "US":
        return values.astype(str)
    missing = np.array([_is_missing(v) for v in values.tolist()], dtype=bool)
    if missing.any():
        raise ValueError(
            f"`domains` must have no missing values (NaN or None), got {missing.sum()}, first in row "
            f"{missing.argmax()}. Give these samples a domain, or leave them out."
        )
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError("`domains` must be finite, got inf (infinity). Check y, the labels.")
    return _plain_labels(values)


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def _plain_labels(values: np.ndarray) -> np.ndarray:
    kinds = {type(v) for v in values.tolist()}
    if values.dtype.kind == "O" and len(kinds) > 1:
        return values.astype(str)
    return np.array(values.tolist())


def _is_quantity(values: np.ndarray) -> bool:
    return values.dtype.kind == "f" and bool((values != np.round(values)).any())


def _cuts(values: np.ndarray, least: int) -> np.ndarray:
    """Return where to cut a quantity so that intervals hold equally many samples."""
    n = int(np.clip(len(values) // (3 * least), 2, _MOST_INTERVALS))
    return np.unique(np.quantile(values, np.arange(1, n) / n))


def _check_counts(names: np.ndarray, counts: np.ndarray, least: int) -> None:
    if len(names) < 2:
        raise ValueError(
            f"`domains` must hold at least 2 different domains, got only {names.tolist()}. What does not "
            "change identifies nothing here: with one domain use DiverseDictionaryLearning."
        )
    if counts.min() < least:
        few = counts.argmin()
        raise ValueError(
            f"`domains` must have at least {least} samples each, got {counts[few]} of domain "
            f"{names.tolist()[few]!r}. Leave the domain out, or join it with another."
        )
