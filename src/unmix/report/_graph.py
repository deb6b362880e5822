"""A causal graph of latents: what a report says about it."""

import warnings
from typing import Any

import numpy as np

from ..structure import Structure
from ._data import Data

_READ = (
    "{edges} of {pairs} pairs of latents are joined, {arrows} of them with a direction. An arrow points from "
    "cause to effect. A grey line says that both directions fit data without interventions equally well."
)


def checked_graph(graph: Any, structure: Structure | None) -> np.ndarray | None:
    """Return the graph as zeros and ones, or say why it is not one of the latents of the structure."""
    if graph is None:
        return None
    edges = np.asarray(graph)
    n = edges.shape[0] if structure is None else structure.n_latents
    if edges.shape != (n, n) or not np.isin(edges, (0, 1)).all():
        raise ValueError(
            f"`graph` must hold zeros and ones of shape {(n, n)}, got shape {edges.shape}. Pass the output "
            "of `unmix.estimators.causal_graph`."
        )
    return edges.astype(int)


def graph_words(graph: np.ndarray | None, data: Data, matching: Any) -> dict[str, Any] | None:
    """Return what is said beside the picture of the graph, None where there is none."""
    if graph is None:
        return None
    n = len(graph)
    edges = int(np.triu(graph | graph.T).sum())
    arrows = int((graph & ~graph.T & 1).sum())
    text = _READ.format(edges=edges, pairs=n * (n - 1) // 2, arrows=arrows)
    return {"text": text, "compared": _compared(graph, data, matching)}


def _compared(graph: np.ndarray, data: Data, matching: Any) -> str:
    """Compare with the class of the true graph, after relabelling, where it is known."""
    from ..metrics import cpdag, shd

    if data.graph is None or matching is None or sorted(matching.order) != list(range(len(graph))):
        return ""
    oracle = cpdag(np.asarray(data.graph).astype(int))
    order = list(matching.order)
    found = shd(oracle, graph[np.ix_(order, order)])
    sentence = (
        f"Against the class of the true graph the structural Hamming distance is {found:.0f}: that many "
        "pairs are joined wrongly."
    )
    best = _best(data)
    more = "" if best is None else f" The same tests on the true latents give {shd(oracle, best):.0f}."
    return sentence + more


def _best(data: Data) -> np.ndarray | None:
    """Run the tests on the true latents, where they can be run."""
    from ..estimators import causal_graph

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the truth, which the reader did not fit
            return causal_graph(data.z, active=data.active)
    except (ImportError, ValueError):
        return None
