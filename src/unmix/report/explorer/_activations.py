"""An explorer of a sparse autoencoder: features as rows, tokens in their text as examples."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csc_array

from ...metrics import census
from .._feature_rows import Texts, texts_of
from .._features import _chosen, _rows
from ._cards import NEAR, bars, judged, plane
from ._columns import Column, numbers
from ._page import Explorer
from ._tables import BUDGET, MAP

FEATURES = 150  # of a page, spread over how often they are on
ROWS = 20_000
_LONG = 40  # letters of a token


def of_activations(
    model: Any, data: Any, *, trust: Any, title: str, ids: Any = None, chosen: Sequence[int] | None = None
) -> Explorer:
    """Gather what is known of features: verdict, how often they are on, neighbours, and tokens."""
    x = _rows(data)[:ROWS]
    codes = csc_array(model.transform(x))
    atoms = np.asarray(model.dictionary_, dtype=np.float64)
    known = census(codes.tocsr(), atoms)
    shown = _chosen(known, chosen)
    shown = [
        shown[k] for k in np.unique(np.linspace(0, len(shown) - 1, min(FEATURES, len(shown))).astype(int))
    ]
    some = codes[:, shown].toarray()
    texts = texts_of(data, len(x), ids)
    headline = "Not judged" if trust is None else trust.headline
    tone = "open" if trust is None else "good" if trust.trusted.any() else "stop"
    left = len(atoms) - len(shown)
    about = {
        "title": title,
        "kind": "table" if texts.tokens is None else "text",
        "subtitle": f"{len(atoms):,} features of {atoms.shape[1]:,} variables, on {len(x):,} rows.",
        "headline": headline,
        "tone": tone,
        "threshold": None if trust is None else float(trust.threshold),
        "latents": _cards(shown, some, atoms, known, trust),
        "runs": [],
        "notes": [f"{left:,} features are left out; those shown are spread over how often they are on."]
        if left
        else [],
    }
    tokens = None if texts.tokens is None else _words(texts)
    documents = None if texts.document is None else [int(each) for each in texts.document]
    return Explorer(about, _columns(shown, some), texts.ids, tokens, documents)


def _words(texts: Texts) -> list[str]:
    assert texts.tokens is not None and texts.text is not None
    return [word[:_LONG] for word in texts.text(texts.tokens)]


def _columns(shown: Sequence[int], codes: np.ndarray) -> tuple[Column, ...]:
    dtype = np.uint16 if codes.shape[0] * len(shown) * 2 <= BUDGET else np.uint8
    flat = plane(codes.astype(float))
    found = [numbers(f"feature {j}", "latent", codes[:, k], dtype=dtype) for k, j in enumerate(shown)]
    return (*found, *(numbers(name, "map", flat[:, k]) for k, name in enumerate(MAP)))


def _cards(
    shown: Sequence[int], codes: np.ndarray, atoms: np.ndarray, known: Any, trust: Any
) -> list[dict[str, Any]]:
    unit = atoms[shown] / np.maximum(np.linalg.norm(atoms[shown], axis=1, keepdims=True), 1e-300)
    similar = unit @ unit.T
    chance = [0.0 if trust is None else float(trust.probability[j]) for j in shown]
    place = {k: rank for rank, k in enumerate(sorted(range(len(shown)), key=lambda k: (-chance[k], k)))}
    return [
        {
            "name": f"feature {j}",
            "column": k,
            "bars": bars(codes[codes[:, k] > 0, k]),
            "place": place[k],
            "label": "; ".join(known.words(j)) or f"on in {known.rate[j]:.2%} of rows",
            "share": float(known.rate[j]),
            "variables": [],
            "groups": [],
            "related": [],
            "few": "",
            "truth": "",
            "near": _near(similar[k], k),
            **judged(trust, j),
        }
        for k, j in enumerate(shown)
    ]


def _near(similar: np.ndarray, own: int) -> list[dict[str, Any]]:
    order = [int(k) for k in np.argsort(-similar, kind="stable") if k != own][:NEAR]
    return [{"latent": k, "value": round(float(similar[k]), 2), "by": "atoms"} for k in order]
