"""Which pictures a report shows, and how large they are."""

from functools import partial
from typing import Any

import numpy as np
from markupsafe import Markup

from .. import plots
from ..structure import Structure
from ._figures import svg
from ._material import Material
from ._mixture import is_mixture
from ._words import hat

MAX_TRAVERSALS = 6
MAX_PATTERNS = 40  # drawn in one picture
MAX_ATOMS = 40  # rows or columns; beyond, dots can't be told apart


def drawings(material: Material) -> dict[str, Any]:
    """Return every picture of the page as inline SVG, None where there is nothing to draw."""
    return {
        "structure": _structure(material),
        "atoms": _atoms(material),
        "may_depend": _relation(material, "may_depend"),
        "paper": _relation(material, "separated_in_paper"),
        "correlation": _correlation(material),
        "history": _history(material),
        "traversals": _traversals(material),
        "activity": _activity(material),
        "components": _components(material),
        "graph": _graph(material),
    }


def relations_agree(material: Material) -> bool:
    """Whether the proven relation and the paper's tell the same latents apart."""
    certificate = material.certificate
    return certificate is None or np.array_equal(
        _off(certificate.may_depend), _off(~certificate.separated_in_paper)
    )


def _off(relation: np.ndarray) -> np.ndarray:
    """Return a relation without its diagonal."""
    return np.asarray(relation) & ~np.eye(len(relation), dtype=bool)


def _hats(n: int) -> list[str]:
    return [hat(j) for j in range(n)]


def _structure(material: Material) -> Markup | None:
    structure = material.structure
    if structure is None:
        return None
    draw = partial(
        plots.structure,
        structure,
        strength=material.strength,
        observed_names=material.observed_names,
        latent_names=_hats(structure.n_latents),
    )
    size = _size(structure.n_observed, structure.n_latents)
    return svg(lambda ax: draw(ax), name="structure", label="Heat map of the dependency structure", **size)


def _atoms(material: Material) -> Markup | None:
    structure = material.structure
    if structure is None or max(structure.shape) > MAX_ATOMS:
        return None
    draw = partial(
        plots.atoms,
        structure,
        observed_names=material.observed_names,
        latent_names=_hats(structure.n_latents),
    )
    size = _size(structure.n_observed, len(structure.atoms()))
    return svg(lambda ax: draw(ax), name="atoms", label="Groups of latents by their reach", **size)


def _relation(material: Material, name: str) -> Markup | None:
    if relations_agree(material) or material.structure.n_latents > MAX_ATOMS:
        return None
    relation = np.asarray(getattr(material.certificate, name))
    mixed = Structure(relation if name == "may_depend" else ~relation)
    names = _hats(len(relation))

    def draw(ax: Any) -> None:
        plots.structure(mixed, ax, observed_names=names, latent_names=names)
        ax.set(xlabel="estimate", ylabel="truth behind")

    return svg(draw, name=name, label=f"Matrix of the relation {name}", **_size(len(relation), len(relation)))


def _correlation(material: Material) -> Markup | None:
    if material.matching is None:
        return None
    rows, columns = material.matching.correlation.shape
    draw = partial(plots.correlation, material.matching)
    return svg(
        lambda ax: draw(ax),
        name="correlation",
        label="Matched correlations",
        **_size(rows, columns, cell=0.5),
    )


def _history(material: Material) -> Markup | None:
    history = getattr(material.model, "history_", None)
    if history is None or not history.terms:
        return None
    return svg(
        lambda ax: plots.history(history, ax), name="history", label="Training history", width=5.0, height=2.5
    )


def _traversals(material: Material) -> list[Markup]:
    model = material.model
    if material.few is None or not (hasattr(model, "inverse_transform") and hasattr(model, "structure_")):
        return []
    return [_traversal(material, j) for j in range(min(MAX_TRAVERSALS, model.structure_.n_latents))]


def _traversal(material: Material, j: int) -> Markup:
    def draw(ax: Any) -> None:
        plots.traversal(
            material.model, material.few, j, ax, observed_names=material.observed_names, n_points=41
        )
        ax.set(xlabel=hat(j), ylabel="")

    return svg(draw, name=f"traversal{j}", label=f"Traversal of latent {j}", width=3.4, height=2.5)


def _activity(material: Material) -> Markup | None:
    model = material.model
    if not is_mixture(model):
        return None
    rows, columns = min(len(model.masks_), MAX_PATTERNS), model.masks_.shape[1]
    draw = partial(plots.activity, model, latent_names=_hats(columns), max_patterns=MAX_PATTERNS)
    size = _size(rows, columns, cell=0.2 if rows > MAX_TRAVERSALS else 0.34)
    return svg(lambda ax: draw(ax), name="activity", label="Patterns of active latents", **size)


def _components(material: Material) -> Markup | None:
    if not is_mixture(material.model):
        return None
    draw = partial(plots.components, material.model)
    return svg(lambda ax: draw(ax), name="components", label="Components by rank", width=4.2, height=2.8)


def _graph(material: Material) -> Markup | None:
    if material.graph is None:
        return None
    draw = partial(plots.causal_graph, material.graph, names=_hats(len(material.graph)))
    side = float(np.clip(2.4 + 0.16 * len(material.graph), 3.0, 6.4))
    return svg(lambda ax: draw(ax), name="graph", label="Causal graph", width=side, height=side)


def _size(rows: int, columns: int, cell: float = 0.34) -> dict[str, float]:
    """Return a size with room for every cell, within what a page can hold."""
    return {
        "width": float(np.clip(1.4 + columns * cell * 1.25, 3.2, 6.4)),
        "height": float(np.clip(0.9 + rows * cell, 2.0, 6.4)),
    }
