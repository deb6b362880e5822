"""`unmix transform`: from a model and a table to its latents, in the user's own format."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from .._findings import findings_of
from .._fitted import Fitted
from ..rows import opened_parquet
from ..tables import Columns, Table, blocks_like, check_writable, other_units, suffix_of, write, writing
from ._images import of_images, pixels_of
from ._images import read as read_images
from ._models import load, recipe_of
from ._output import Json, print_json, progress, taking, tell
from ._reading import Drop, Force, Id, Layer, Missing, Obsm, columns_from, refuse_existing, say_notes

EXAMPLE = "Example: [bold]unmix transform model data.csv --out latents.csv[/]"
_JACOBIANS = 500  # rows at which loadings are taken


@dataclass(frozen=True)
class Transform:
    """Options of `unmix transform`."""

    model: Annotated[Path, typer.Argument(metavar="MODEL", help="Model written by `unmix fit`.")]
    x: Annotated[
        str, typer.Argument(metavar="X", help="Table with the columns that the model was fitted on.")
    ]
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            help="Table to write: CSV or TSV (also gzipped), Parquet, Feather, H5AD, NPY, NPZ or "
            "safetensors.",
        ),
    ]
    drop: Drop = None
    id: Id = None
    missing: Missing = "error"
    layer: Layer = None
    obsm: Obsm = None
    force: Force = False
    as_json: Json = False


@taking(Transform)
def transform(given: Transform) -> None:
    """Compute the latents of every row of a table; ids and metadata come along, and no row is lost."""
    check_writable(given.out)
    refuse_existing(given.out, given.force)
    columns = columns_from(given)
    fitted = load(given.model)
    if of_images(fitted):
        return _of_images(fitted, given)
    write_latents = _write_cells if suffix_of(given.out) == ".h5ad" else _stream
    n_rows, n_empty = write_latents(fitted, given, columns)
    n = _n_latents(fitted)
    if given.as_json:
        print_json({"out": given.out, "n_samples": n_rows, "n_components": n, "n_empty": n_empty})
    else:
        empty = f" ({n_empty:,} without, since values are missing)" if n_empty else ""
        tell(f"{n_rows:,} rows of {n} latents{empty}: {given.out}")


def _of_images(fitted: Any, given: Transform) -> None:
    """Write the latents of images, a row for each."""
    codes = np.asarray(fitted.transform(pixels_of(read_images(given.x, "X"))))
    names = [f"z{j}" for j in range(codes.shape[1])]
    write(given.out, codes, names, key="z")
    if given.as_json:
        print_json({"out": given.out, "n_samples": len(codes), "n_components": codes.shape[1], "n_empty": 0})
    else:
        tell(f"{len(codes):,} images of {codes.shape[1]} latents: {given.out}")


def _stream(fitted: Any, given: Transform, columns: Columns) -> tuple[int, int]:
    """Write block by block, so that a table may be larger than memory."""
    n_rows = n_empty = total = 0
    with progress("transform") as moved, writing(given.out, _names(fitted), key="z") as put:
        for table, whole in blocks_like(given.x, recipe_of(fitted), columns=columns):
            if not n_rows:
                _warn_of_units(table)
                total = _rows_in(given.x)
            put(latents(fitted, table, whole), table)
            n_rows, n_empty = n_rows + len(whole), n_empty + int((~whole).sum())
            moved(n_rows / total if total else 0.0)
        if not n_rows:
            raise ValueError(f"`{given.x}` must have rows, it has none. Check the export.")
    return n_rows, n_empty


def _rows_in(path: str) -> int:
    """Count the rows of a file that is read in many blocks; 0 where nobody knows."""
    if not path.lower().endswith(".parquet"):
        return 0
    with opened_parquet(Path(path)) as file:
        return int(file.metadata.num_rows)


def _write_cells(fitted: Any, given: Transform, columns: Columns) -> tuple[int, int]:
    """Write AnnData: latents, loadings, and how they came about."""
    from ..tables import read_like

    table, whole = read_like(given.x, recipe_of(fitted), columns=columns)
    _warn_of_units(table)
    moved, told = _loadings(fitted, table.take(whole)), _told(fitted)
    if (columns.obsm or recipe_of(fitted).obsm) is not None:  # its columns are no variables of the file
        more: dict[str, Any] = {"uns": told | {"loadings": moved.get("unmix")}}
    else:
        more = {"uns": told, "varm": moved, "features": recipe_of(fitted).features}
    write(given.out, latents(fitted, table, whole), _names(fitted), like=table, cells=more)
    return len(whole), int((~whole).sum())


def latents(fitted: Any, table: Table, whole: np.ndarray) -> np.ndarray:
    """Return the latents of each row, NaN where a row has holes that were not to be filled."""
    if whole.all():
        return np.asarray(fitted.transform(table.values))
    found = np.full((len(whole), _n_latents(fitted)), np.nan, dtype=table.values.dtype)
    if whole.any():
        found[whole] = fitted.transform(table.values[whole])
    return found


def _loadings(fitted: Any, table: Table) -> dict[str, np.ndarray]:
    """Return how far each feature moves with each latent, in its own units per spread of the latent."""
    mixing = getattr(fitted, "mixing_", None)
    view = Fitted(fitted, table.values, most=_JACOBIANS)
    slopes = mixing if mixing is not None else None if view.jacobians is None else view.jacobians.mean(0)
    if slopes is None or view.codes is None:
        return {}
    return {"unmix": slopes * view.codes.std(0)}


def _told(fitted: Any) -> dict[str, Any]:
    """Return how the latents came about: method and settings, what was done to the table, the verdict."""
    settings = fitted.get_params(deep=False) if hasattr(fitted, "get_params") else {}
    plain = {name: value for name, value in settings.items() if isinstance(value, bool | int | float | str)}
    told = {"method": findings_of(fitted).method, "settings": plain, "recipe": recipe_of(fitted).to_dict()}
    return told | {"names": np.array(_names(fitted), dtype=object)} | _verdict(fitted)


def _verdict(fitted: Any) -> dict[str, Any]:
    """Return what the fit said of each latent or slot, where it was asked."""
    if getattr(fitted, "trust_verdicts_", None) is None:
        return {}
    parts = {name: getattr(fitted, f"trust_{name}_") for name in ("verdicts", "probability", "effort")}
    return {"verdict": parts}


def _warn_of_units(table: Table) -> None:
    assert table.recipe is not None
    odd = other_units(table.values, table.recipe)
    say_notes([odd] if odd else [])


def _n_latents(fitted: Any) -> int:
    return int(findings_of(fitted).n_components or 0)


def _names(fitted: Any) -> list[str]:
    return [f"z{j}" for j in range(_n_latents(fitted))]
