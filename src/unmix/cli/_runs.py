"""Runs to compare: files of codes as they are, models by their codes on data, with the verdicts on them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..rows import Rows, array_rows, file_rows, keys_of, use_safetensors
from ._images import domains_of, of_images, pixels_of
from ._images import read as read_images
from ._known import labels, read_latents, read_with_truth, take_out
from ._long import codes_of, is_thinned
from ._models import columns_for, load, recipe_of
from ._verdict import judged

_KEYS = ("z_hat", "z", "x")
_MODELS = {"unmix", "unmix-pipeline"}
_STREAMED = (".npy", ".parquet", ".safetensors")


@dataclass(frozen=True)
class Run:
    """What a run found: its codes, and its model with the data to judge it on, where it is one."""

    name: str
    codes: Rows
    model: Any = None
    x: np.ndarray | None = None
    domains: Any = None


def open_runs(paths: list[str], data: str | None, domains: str | None) -> list[Run]:
    """Open all runs; models need the data that they were fitted to."""
    names = _names(paths)
    models = [name for path, name in zip(paths, names, strict=True) if is_model(path)]
    _check_data(models, data, domains)
    return [
        _judgeable(path, name, data, domains) if data and name in models else Run(name, _opened(path, name))
        for path, name in zip(paths, names, strict=True)
    ]


def verdicts(runs: list[Run], effort: str) -> dict[str, Any]:
    """Return the verdict on each model, as `unmix trust` gives it; say in a line where there is none."""
    found = {run.name: judged(run.model, run.x, run.domains, effort) for run in runs if run.model is not None}
    return {name: trust for name, trust in found.items() if trust is not None}


def is_model(path: str) -> bool:
    """Whether a file was written by `unmix fit`, by what is in it; one without a suffix is no table."""
    file = Path(path)
    if not file.is_file():
        return not file.suffix and not file.is_dir()
    try:
        told = use_safetensors(file, lambda stored: stored.metadata() or {})
        return bool(_MODELS & set(told))
    except ValueError:
        return not file.suffix


def _check_data(models: list[str], data: str | None, domains: str | None) -> None:
    if models and data is None:
        raise ValueError(
            f"`--data` must name the data that {models[0]} was fitted to, got nothing. Add --data X, or "
            "compare files of codes."
        )
    if not models and (data or domains):
        option = "--data" if data else "--domains"
        raise ValueError(f"`{option}` must be left out where no run is a model, got {data or domains!r}.")


def _judgeable(path: str, name: str, data: str, domains: str | None) -> Run:
    """Load a model, and read the data as it takes them."""
    model = load(Path(path))
    if of_images(model):
        images = read_images(data)
        x, known = pixels_of(images), domains_of(domains, model, images, needed=False)
        return Run(name, array_rows(np.asarray(model.transform(x)), 8192), model, x, known)
    table, _ = read_with_truth(data, model=model, labels=(domains,))
    rest, taken = take_out(table, (domains,))
    x = columns_for(model, rest)
    known = labels(domains, taken, "--domains", rows=table)
    if not is_thinned(table, recipe_of(model)):
        codes = np.asarray(model.transform(x))
    else:  # latents of all rows, a verdict by those that were kept
        codes = codes_of(
            data, recipe_of(model), lambda block: np.asarray(model.transform(columns_for(model, block)))
        )
    return Run(name, array_rows(codes, 8192), model, x, known)


def _names(runs: list[str]) -> list[str]:
    """Call runs by the names of their files, or by their whole paths where these are alike."""
    short = [Path(run).name for run in runs]
    return short if len(set(short)) == len(runs) else runs


def _opened(run: str, name: str) -> Rows:
    """Open codes: in blocks what can be read in blocks, else whole."""
    path = Path(run)
    suffix = path.suffix.lower()
    several = suffix == ".safetensors" and path.is_file() and len(keys_of(path)) > 1
    if not path.is_dir() and (suffix not in _STREAMED or several):
        return array_rows(read_latents(run, _KEYS).values, 8192)
    try:
        return file_rows(path, lambda n_columns: 8192)
    except ValueError as error:
        raise ValueError(str(error).replace("`X`", f"`{name}`")) from None
