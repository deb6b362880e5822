"""From a sparse autoencoder and its data to one HTML file: a page for each of hundreds of features."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csc_array, csr_array

from ..metrics import Census, census
from ._feature_rows import Texts, texts_of, top_rows
from ._replication import view
from ._trust import VERDICTS
from ._write import SCRIPT, render

MOST = 300  # features on a page
ROWS = 200_000  # rows that features are shown on, the first of more
_BINS = 24
_NEAR = 5
_FOUND = {"alone": ("good", "replicates"), "subspace": ("care", "in a subspace"), "none": ("stop", "new")}


def features(
    path: str | Path,
    model: Any,
    data: Any,
    *,
    chosen: Sequence[int] | None = None,
    trust: Any = None,
    replication: Any = None,
    ids: Sequence[str] | None = None,
    title: str = "What the features are, and which can be trusted",
    notes: str = "",
) -> Path:
    """Write one self-contained HTML page about the features of a sparse autoencoder.

    Each feature has the rows in which it is strongest, as text with the tokens lit up where the data know
    their tokens; the histogram of its activations; how often it is on; its neighbours by atoms and by codes;
    and, where they are given, whether it comes back elsewhere and whether it is trusted. Features can be
    searched, filtered and ordered. Every string is escaped.

    Parameters
    ----------
    path, title, notes
        As for `write`.
    model : SparseAutoencoder
        Fitted.
    data : ActivationStore, or array-like of shape (n_samples, n_features)
        Up to 200,000 rows are looked at. A store of a language model brings the text.
    chosen : sequence of int, optional
        Features to show; by default up to 300 that are on, spread over how often they are.
    trust : Trust, optional
        As `unmix.trust` returned it.
    replication : FeatureReplication, optional
        As `unmix.metrics.replicate_features` returned it, with this model first.
    ids : sequence of str, optional
        Names of the rows, where they are no tokens.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> import tempfile
    >>> from unmix.estimators import SparseAutoencoder
    >>> X = np.random.default_rng(0).laplace(size=(200, 5))
    >>> model = SparseAutoencoder(8, k=2, max_iter=2, batch_size=50, random_state=0).fit(X)
    >>> page = features(tempfile.mkdtemp() + "/features.html", model, X)
    >>> "Feature 7" in page.read_text()
    True
    """
    x = _rows(data)
    codes = csr_array(model.transform(x))
    atoms = np.asarray(model.dictionary_, dtype=np.float64)
    known = census(codes, atoms)
    _check(trust, replication, len(atoms))
    shown = _chosen(known, chosen)
    cards = _Cards(codes, atoms, known, texts_of(data, codes.shape[0], ids), trust, replication)
    pages = [cards.card(feature) for feature in shown]
    return render(
        path,
        "features.html",
        title=title,
        notes=notes,
        subtitle=f"{type(model).__name__}, {len(atoms):,} features of {atoms.shape[1]:,} variables",
        tone=_tone(trust),
        headline=_headline(known, trust, replication),
        sentences=_sentences(known, trust, replication),
        facts=_facts(model, codes, known, x),
        kinds=list(dict.fromkeys(kind for page in pages for kind in page["kinds"])),
        trusted=trust is not None,
        shown=f"{len(shown):,} of {len(atoms):,}",
        features=pages,
        scripts=((SCRIPT,), ("features",)),
    )


def feature_replication(
    path: str | Path, found: Any, *, title: str = "Which features replicate?", notes: str = ""
) -> Path:
    """Write one self-contained HTML page about sparse autoencoders compared, feature by feature.

    Parameters
    ----------
    path, title, notes
        As for `write`.
    found : FeatureReplication
        As returned by `unmix.metrics.replicate_features`.

    Returns
    -------
    Path
        The file written.

    Examples
    --------
    >>> import tempfile
    >>> from unmix.metrics import replicate_features
    >>> atoms = np.random.default_rng(0).normal(size=(9, 30))
    >>> page = feature_replication(tempfile.mkdtemp() + "/f.html", replicate_features([atoms, atoms[::-1]]))
    >>> "9 of 9 features replicate in the other" in page.read_text()
    True
    """
    everywhere, others = int((found.n_replicated == len(found.atoms)).sum()), len(found.atoms)
    where = "the other" if others == 1 else f"all {others} others"
    return render(
        path,
        "feature_replication.html",
        title=title,
        notes=notes,
        names=found.names,
        tone="care" if everywhere else "stop",
        headline=f"{everywhere:,} of {found.n_latents:,} features replicate in {where}",
        sentences=[found.meaning, found.caveat, *found.known, *(f"Note: {note}" for note in found.notes)],
        facts=[
            ("Dictionaries", str(len(found.names)), f"{found.names[0]} is the reference"),
            ("Features", f"{found.n_latents:,}", "of the reference"),
            ("Dimension", f"{found.effective:.0f}", f"effective, of {found.n_observed:,}"),
            ("Threshold", f"{found.threshold:g}", "cosine asked for"),
        ],
        view=view(found),
    )


class _Cards:
    """What the cards of all features are made from."""

    def __init__(
        self, codes: csr_array, atoms: np.ndarray, known: Census, texts: Texts, trust: Any, replication: Any
    ):
        self.codes, self.by_column, self.atoms = codes, csc_array(codes), atoms
        length = np.linalg.norm(atoms, axis=1, keepdims=True)
        self.unit = atoms / np.where(length > 0, length, 1)
        self.on = csr_array((1.0 * (codes.data != 0), codes.indices, codes.indptr), codes.shape)
        self.known, self.texts, self.trust, self.replication = known, texts, trust, replication

    def card(self, feature: int) -> dict[str, Any]:
        """Gather what the page says of one feature."""
        some = slice(self.by_column.indptr[feature], self.by_column.indptr[feature + 1])
        rows, values = self.by_column.indices[some], self.by_column.data[some]
        most = float(values.max()) if len(values) else 0.0
        pills = [*self._trust_pill(feature), *self._found_pills(feature), *self._called_pills(feature)]
        entry = None if self.replication is None else self.replication.found(feature)
        return {
            "number": feature,
            "rate": float(self.known.rate[feature]),
            "most": most,
            "probability": 0.0 if self.trust is None else float(self.trust.probability[feature]),
            "pills": pills,
            "kinds": [text for _, text in pills],
            "histogram": _histogram(values),
            "axis": f"activations from 0 to {most:.3g}, where it is on" if most else "no activation",
            "density": f"On in {self.known.rate[feature]:.3%} of the rows ({len(values):,}).",
            "called": self.known.words(feature),
            "neighbours": _largest(self.unit @ self.unit[feature], feature),
            "company": self._company(feature, rows),
            "replication": [] if entry is None else _told(entry),
            "reason": "" if self.trust is None else self.trust.reasons[feature],
            "rows": top_rows(self.texts, rows, values),
        }

    def _company(self, feature: int, rows: np.ndarray) -> list[tuple[str, str]]:
        if not len(rows):
            return []
        beside = np.asarray(self.on[rows].sum(axis=0)).ravel() / len(rows)
        return [(number, share) for number, share in _largest(beside, feature, "{:.0%}") if share != "0%"]

    def _trust_pill(self, feature: int) -> list[tuple[str, str]]:
        if self.trust is None:
            return []
        verdict = self.trust.verdicts[feature]
        words = {"yes": "trusted", "no": "not trusted", "not checked": "not checked"}
        return [(VERDICTS[verdict][0], words[verdict])]

    def _found_pills(self, feature: int) -> list[tuple[str, str]]:
        if self.replication is None:
            return []
        found = {str(run.status[feature]) for run in self.replication.atoms}
        worst = next(status for status in ("none", "constant", "subspace", "alone") if status in found)
        return [_FOUND.get(worst, ("stop", "new"))]

    def _called_pills(self, feature: int) -> list[tuple[str, str]]:
        known = self.known
        kinds = {
            "dead": known.dead[feature],
            "dense": known.dense[feature],
            "never alone": known.absorber[feature] >= 0,
            "twice there": known.twin[feature] >= 0,
        }
        return [("stop" if kind == "dead" else "care", kind) for kind, applies in kinds.items() if applies]


def _rows(data: Any) -> np.ndarray:
    """Return up to so many rows, from the beginning."""
    if hasattr(data, "take") and hasattr(data, "kept"):
        return np.asarray(data.take(0, min(len(data), ROWS)))
    x = np.asarray(data)
    if x.ndim != 2 or not len(x):
        raise ValueError(f"`data` must be a table (n_samples, n_features), got shape {x.shape}. Flatten it.")
    return x[:ROWS]


def _check(trust: Any, replication: Any, n: int) -> None:
    if trust is not None and len(trust.units) != n:
        raise ValueError(f"`trust` must be about {n} features, got {len(trust.units)}. Judge this model.")
    if replication is not None and replication.n_latents != n:
        raise ValueError(
            f"`replication` must be about {n} features, got {replication.n_latents}. Put this model first."
        )


def _chosen(known: Census, chosen: Sequence[int] | None) -> list[int]:
    """Return the features to show: those asked for, or some spread over how often they are on."""
    n = len(known.rate)
    if chosen is not None:
        bad = [each for each in chosen if not 0 <= each < n]
        if bad:
            raise ValueError(
                f"`chosen` must be features from 0 to {n - 1}, got {bad[0]}. Choose one of them."
            )
        return [int(each) for each in chosen]
    if n <= MOST:
        return list(range(n))
    live = np.flatnonzero(~known.dead)
    ranked = live[np.argsort(-known.rate[live], kind="stable")]
    places = np.unique(np.linspace(0, len(ranked) - 1, min(MOST, len(ranked))).round().astype(int))
    return sorted(ranked[places].tolist())


def _histogram(values: np.ndarray) -> str:
    """Draw bars of the numbers of activations, on a logarithmic scale, as one path."""
    if not len(values):
        return ""
    counts = np.log1p(np.histogram(values, bins=_BINS, range=(0, float(values.max()) or 1.0))[0])
    heights = 38 * counts / max(counts.max(), 1e-12)
    width = 100 / _BINS
    bars = (f"M{k * width:.2f} 40v{-h:.1f}h{width - 0.6:.2f}V40z" for k, h in enumerate(heights) if h > 0)
    return "".join(bars)


def _largest(values: np.ndarray, without: int, form: str = "{:.2f}") -> list[tuple[str, str]]:
    """Return the features of the largest values, but one."""
    order = [k for k in np.argsort(-values, kind="stable")[: _NEAR + 1].tolist() if k != without][:_NEAR]
    return [(str(k), form.format(values[k])) for k in order]


def _told(entry: dict[str, Any]) -> list[str]:
    """Write how a feature is found in each other dictionary."""
    words = {"alone": "has it", "subspace": "has it within a subspace", "none": "does not have it"}
    return [
        f"{run['run']} {words.get(run['status'], 'cannot tell')}: nearest {run['partner']}, cosine "
        f"{run['cosine']:.2f}, span {run['span']:.2f} (random atoms {run['random']:.2f})"
        for run in entry["atoms"]
    ]


def _tone(trust: Any) -> str:
    if trust is None:
        return "care"
    return "good" if trust.trusted.any() else "open" if "not checked" in trust.verdicts else "stop"


def _headline(known: Census, trust: Any, replication: Any) -> str:
    if trust is not None:
        return trust.headline
    if replication is not None:
        everywhere = int((replication.n_alone == len(replication.atoms)).sum())
        return f"{everywhere:,} of {replication.n_latents:,} features replicate alone; none was judged"
    live = int((~known.dead).sum())
    return f"{live:,} of {len(known.dead):,} features are on somewhere; none was judged"


def _sentences(known: Census, trust: Any, replication: Any) -> list[str]:
    told = [str(known)] if replication is None or replication.census is None else []
    if replication is not None:
        told += [replication.meaning, replication.caveat, *(f"Note: {note}" for note in replication.notes)]
    if trust is None:
        told.append("That a feature looks like something is no evidence that it is a direction of the data.")
    return told


def _facts(model: Any, codes: csr_array, known: Census, x: np.ndarray) -> list[tuple[str, str, str]]:
    return [
        ("Features", f"{len(known.rate):,}", f"{int(known.dead.sum()):,} never on in these rows"),
        ("Rows", f"{codes.shape[0]:,}", "that features are shown on"),
        ("On in a row", f"{codes.nnz / max(codes.shape[0], 1):.1f}", "features, on average"),
        ("Explained", f"{_explained(model, codes, x):.1%}", "of the variance of these rows"),
    ]


def _explained(model: Any, codes: csr_array, x: np.ndarray, size: int = 8192) -> float:
    """Return the share of the variance, in double precision: squares of halves soon overflow."""
    centre, left, total = x.mean(0, dtype=np.float64), 0.0, 0.0
    for start in range(0, len(x), size):
        part = x[start : start + size].astype(np.float64)
        left += np.square(part - model.inverse_transform(codes[start : start + size])).sum()
        total += np.square(part - centre).sum()
    return float(1 - left / max(total, 1e-300))
