"""Which pictures a report shows, and how large they are."""

from functools import partial
from typing import Any

import numpy as np
from markupsafe import Markup

from .. import plots
from .._findings import ability
from ..plots._traversal import MAX_NAMED, Walk, draw_walk, lines_of, walks
from ..structure import Structure
from ._figures import spot, svg, tip
from ._material import Material
from ._order import order_of
from ._words import hat

MAX_TRAVERSALS = 12
MAX_LINES = 8  # observed variables in a picture of what a latent does; of more, the five that move most
MAX_SPOTS = 600  # cells of a matrix that tell their values
MAX_PATTERNS = 40  # drawn in one picture
MAX_ATOMS = 40  # rows or columns; beyond, dots can't be told apart


def drawings(material: Material) -> dict[str, Any]:
    """Return every picture of the page as inline SVG, None where there is nothing to draw."""
    return {
        "structure": _structure(material),
        "atoms": _atoms(material),
        **_relations(material),
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


def _labels(material: Material) -> dict[str, Any]:
    return {
        "observed_names": material.observed_names,
        "latent_names": _hats(material.structure.n_latents),
    }


def _structure(material: Material) -> Markup | None:
    structure = material.structure
    if structure is None:
        return None
    known = _labels(material)

    def draw(ax: Any) -> None:
        plots.structure(structure, ax, strength=material.strength, **known)
        names = known["observed_names"] or [f"x{i}" for i in range(structure.n_observed)]
        _spots(ax, structure.support if material.strength is None else material.strength, names)

    size = _size(structure.n_observed, structure.n_latents)
    return svg(draw, name="structure", label="Heat map of the dependency structure", **size)


def _spots(ax: Any, values: np.ndarray, names: Any) -> None:
    """Let cells of a matrix tell their values, where there are not too many."""
    if np.size(values) <= MAX_SPOTS:
        for (i, j), value in np.ndenumerate(np.asarray(values, dtype=float)):
            spot(ax, j, i, f"{names[i]}, {hat(j)}: {value:.2f}", size=8)


def _atoms(material: Material) -> Markup | None:
    structure = material.structure
    if structure is None or max(structure.shape) > MAX_ATOMS:
        return None
    draw = partial(plots.atoms, structure, **_labels(material))
    size = _size(structure.n_observed, len(structure.atoms()))
    return svg(draw, name="atoms", label="Groups of latents by their reach", **size)


def _relations(material: Material) -> dict[str, Markup | None]:
    if relations_agree(material) or material.structure.n_latents > MAX_ATOMS:
        return {"may_depend": None, "paper": None}
    certificate = material.certificate
    return {
        "may_depend": _relation("may_depend", np.asarray(certificate.may_depend)),
        "paper": _relation("separated_in_paper", ~np.asarray(certificate.separated_in_paper)),
    }


def _relation(name: str, relation: np.ndarray) -> Markup:
    mixed, names = Structure(relation), _hats(len(relation))

    def draw(ax: Any) -> None:
        plots.structure(mixed, ax, observed_names=names, latent_names=names)
        ax.set(xlabel="estimate", ylabel="truth behind")

    return svg(draw, name=name, label=f"Matrix of the relation {name}", **_size(len(relation), len(relation)))


def _correlation(material: Material) -> Markup | None:
    if material.matching is None:
        return None
    draw = partial(plots.correlation, material.matching)
    rows, columns = material.matching.correlation.shape
    size = _size(rows, columns, cell=0.5)
    return svg(draw, name="correlation", label="Matched correlations", **size)


def _history(material: Material) -> Markup | None:
    history = material.findings.history
    if history is None or not history.terms:
        return None
    draw = partial(plots.history, history)
    return svg(draw, name="history", label="Training history", width=5.0, height=2.5)


def _traversals(material: Material) -> list[dict[str, Any]]:
    codes, decode = material.fitted.codes, ability(material.model, "inverse_transform")
    if codes is None or decode is None:
        return []
    drawn = order_of(material)[:MAX_TRAVERSALS]
    return [_traversal(material, walk) for walk in walks(decode, codes, drawn, n_points=41)]


def _traversal(material: Material, walk: Walk) -> dict[str, Any]:
    """Draw what moves most; the page writes the names below, where long ones can wrap."""
    n, structure = walk.changes.shape[1], material.findings.structure
    most = n if n <= MAX_LINES else MAX_NAMED
    names = material.observed_names or [f"x{i}" for i in range(n)]

    def draw(ax: Any) -> None:
        draw_walk(walk, material.spread, structure, ax, max_lines=most, legend=False)
        ax.set(xlabel=hat(walk.latent), ylabel="")
        lines = lines_of(walk, material.spread, structure, most)
        for i, line in zip(lines.drawn, ax.lines, strict=True):
            tip(line, f"{names[i]}: {lines.changes[:, i].min():+.2f} to {lines.changes[:, i].max():+.2f}")

    j, colours = walk.latent, lines_of(walk, material.spread, structure, most).colours
    image = svg(draw, name=f"traversal{j}", label=f"Traversal of latent {j}", width=3.4, height=2.3)
    return {"image": image, "names": [(colour, names[i]) for i, colour in colours.items()]}


def _activity(material: Material) -> Markup | None:
    mixture = material.findings.degenerate
    if mixture is None:
        return None
    rows, columns = min(len(mixture.masks), MAX_PATTERNS), np.shape(mixture.masks)[1]
    draw = partial(plots.activity, material.findings, latent_names=_hats(columns), max_patterns=MAX_PATTERNS)
    size = _size(rows, columns, cell=0.2 if rows > MAX_TRAVERSALS else 0.34)
    return svg(draw, name="activity", label="Patterns of active latents", **size)


def _components(material: Material) -> Markup | None:
    if material.findings.degenerate is None:
        return None
    draw = partial(plots.components, material.findings)
    return svg(draw, name="components", label="Components by rank", width=4.2, height=2.8)


def _graph(material: Material) -> Markup | None:
    if material.graph is None:
        return None
    draw = partial(plots.causal_graph, material.graph, names=_hats(len(material.graph)))
    side = float(np.clip(2.4 + 0.16 * len(material.graph), 3.0, 6.4))
    return svg(draw, name="graph", label="Causal graph", width=side, height=side)


def _size(rows: int, columns: int, cell: float = 0.34) -> dict[str, float]:
    """Return a size with room for every cell, within what a page can hold."""
    return {
        "width": float(np.clip(1.4 + columns * cell * 1.25, 3.2, 6.4)),
        "height": float(np.clip(0.9 + rows * cell, 2.0, 6.4)),
    }
