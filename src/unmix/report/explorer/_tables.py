"""An explorer of a model of tables."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..._fitted import without_names
from ...description._variables import strongest
from .._material import Material, gather
from .._order import order_of
from .._page import _subtitle
from .._trust import counterpart
from .._verdict import verdict
from ._cards import VARIABLES, bars, judged, neighbours, plane
from ._cells import maps_of, start_of
from ._columns import Column, metadata_column, numbers
from ._page import Explorer
from ._runs import beside

BUDGET = 8_000_000  # bytes of columns in a file; as text a third more
MOST_ROWS = 100_000  # in a file; a server has no such bound
MAP = ("map 1", "map 2")


def of_table(
    model: Any,
    data: Any,
    *,
    others: Mapping[str, Any],
    title: str,
    cells: Any = None,
    whole: bool = False,
    **known: Any,
) -> Explorer:
    """Gather what is known of a model of tables: verdict, names, codes, variables, and other runs."""
    material = gather(model, data=data, **known)
    if material.codes is None:
        raise ValueError("`data` must be the table to show latents on, got None. Pass it.")
    with without_names():
        runs = {name: np.asarray(run.transform(material.data.rows)) for name, run in others.items()}
    stride = 1 if whole else _stride(material, sum(each.shape[1] for each in runs.values()))
    columns, left_out = _columns(material, runs, maps_of(cells), stride, whole)
    answer = verdict(material)
    about = {
        "title": title,
        "kind": "table" if cells is None else "cells",
        "start": start_of(cells),
        "subtitle": _subtitle(material),
        "headline": answer.headline,
        "tone": answer.tone,
        "threshold": None if material.trust is None else float(material.trust.threshold),
        "latents": _cards(material),
        "runs": _runs(material, runs, others, known),
        "notes": _notes(material, stride, left_out),
    }
    ids = None if material.data.ids is None else np.asarray(material.data.ids)[::stride]
    return Explorer(about, columns, ids=_row_names(ids, len(material.codes), stride))


def _row_names(ids: Any, n_rows: int, stride: int) -> Any:
    """Return names of the rows; their numbers where they have none and some are left out."""
    if ids is None and stride > 1:
        return [f"row {row}" for row in range(0, n_rows, stride)]
    return ids


def _stride(material: Material, n_other: int) -> int:
    """Return which rows a file can hold: every one, every second, ..."""
    codes = material.codes
    assert codes is not None
    width = 2 * (codes.shape[1] + n_other + len(material.data.metadata) + 2)
    return -(-len(codes) // min(MOST_ROWS, max(1, BUDGET // width)))


def _columns(
    material: Material, runs: Mapping[str, np.ndarray], maps: Mapping[str, Any], stride: int, whole: bool
) -> tuple[tuple[Column, ...], int]:
    """Return latents, map, other columns and latents of other runs; then the variables that still fit."""
    codes = np.asarray(material.codes)[::stride]
    flat = plane(codes)
    found = [numbers(f"z{j}", "latent", codes[:, j]) for j in range(codes.shape[1])]
    found += [numbers(name, "map", flat[:, k]) for k, name in enumerate(MAP)]
    found += [numbers(name, "map", values[::stride]) for name, values in maps.items()]
    found += [metadata_column(name, values[::stride]) for name, values in material.data.metadata.items()]
    for name, other in runs.items():
        found += [numbers(f"{name} z{j}", "other", other[::stride, j]) for j in range(other.shape[1])]
    assert material.data.x is not None
    x, names = material.data.x[::stride], _names(material)
    room = BUDGET - sum(column.places.nbytes for column in found)
    n_fit = len(names) if whole else min(len(names), max(0, room // max(len(x), 1)))
    kept = np.sort(_by_strength(material)[:n_fit])
    found += [numbers(names[i], "variable", x[:, i], dtype=np.uint8) for i in kept]
    return tuple(found), len(names) - n_fit


def _names(material: Material) -> tuple[str, ...]:
    assert material.data.x is not None
    return material.observed_names or tuple(f"x{i}" for i in range(material.data.x.shape[1]))


def _by_strength(material: Material) -> np.ndarray:
    """Return the variables, those that some latent moves most first."""
    assert material.data.x is not None
    loadings = material.fitted.loadings
    if loadings is None:
        return np.arange(material.data.x.shape[1])
    return np.argsort(-np.abs(loadings.values).max(1), kind="stable")


def _cards(material: Material) -> list[dict[str, Any]]:
    """Return what is said of each latent."""
    codes, described = np.asarray(material.codes), material.description
    loadings = None if described is None else described.loadings
    near, place = neighbours(codes, loadings), {j: k for k, j in enumerate(order_of(material))}
    found = []
    for j in range(codes.shape[1]):
        card = {"name": f"z{j}", "column": j, "bars": bars(codes[:, j]), "place": place.get(j, j)}
        named = _named(described, j)
        found.append(
            card | named | judged(material.trust, j) | {"near": near[j], "truth": counterpart(material, j)}
        )
    return found


def _named(described: Any, j: int) -> dict[str, Any]:
    """Return what a latent stands for, in the names that the data bring."""
    if described is None:
        return {"label": "", "share": None, "variables": [], "groups": [], "related": [], "few": ""}
    latent = described.latents[j]
    steadiness = described.moved.steadiness
    column = None if steadiness is None else steadiness[:, [j]]
    top = strongest(described.loadings[:, [j]], described.names, most=VARIABLES, steadiness=column)[0]
    return {
        "label": latent.label,
        "share": latent.share,
        "variables": [{"name": each.name, "size": each.size, "sign": each.sign} for each in top],
        "groups": [str(each) for each in latent.groups],
        "related": [
            {"column": each.column, "short": each.short, "text": str(each)} for each in latent.related
        ],
        "few": latent.few,
    }


def _runs(
    material: Material, runs: Mapping[str, np.ndarray], others: Mapping[str, Any], known: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return other runs, matched, with a line on each of their latents."""
    found = beside(np.asarray(material.codes), runs)
    for run in found:
        again = gather(others[run["name"]], data=material.data.rows, **_again(known, material))
        run["latents"] = [
            {key: card[key] for key in ("name", "label", "p", "tone", "word")} for card in _cards(again)
        ]
    return found


def _again(known: Mapping[str, Any], material: Material) -> dict[str, Any]:
    """Return what is known beside the data for another model, whose verdict is its own."""
    effort = known.get("trust", "none")
    kept = {name: known[name] for name in ("domains", "groups") if name in known}
    named = {"metadata": material.data.metadata, "ids": material.data.ids}
    return {**kept, **named, "trust": effort if isinstance(effort, str) else effort.effort}


def _notes(material: Material, stride: int, left_out: int) -> list[str]:
    """Say what the page does not hold."""
    notes = []
    if stride > 1:
        notes.append(
            f"Of {len(np.asarray(material.codes)):,} rows every {stride}th is shown. `--serve` shows all."
        )
    if left_out:
        notes.append(
            f"{left_out:,} variables that latents move least are left out of the plane and of examples."
        )
    return [*notes, *([material.unjudged] if material.unjudged else [])]
