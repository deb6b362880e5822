"""Sparse autoencoders in the commands: compared feature by feature, judged, and shown."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..rows import use_safetensors
from ._output import print_json, progress, tell
from ._verdict import warn

_FILES = ("sae_weights.safetensors", "sae.safetensors", "ae.pt", "params.npz")
_COMPARED = 100_000  # rows that codes are compared on
_MOMENTS = 50_000  # rows that tell the covariance


def is_sae(path: str | Path) -> bool:
    """Whether a path holds a sparse autoencoder, of ours or in a layout of others, by its files."""
    place = Path(path)
    if place.is_dir():
        inner = [place, *(child for child in sorted(place.iterdir()) if child.is_dir())]
        return any((folder / name).is_file() for folder in inner for name in _FILES)
    if place.name in (*_FILES, "cfg.json"):
        return place.is_file()
    return place.is_file() and _is_ours(place)


def _is_ours(place: Path) -> bool:
    try:
        header = use_safetensors(place, lambda stored: stored.metadata() or {}).get("unmix", "")
    except ValueError:
        return False
    return '"SparseAutoencoder"' in header or '"JacobianSparseAutoencoder"' in header


def loaded(path: str | Path) -> Any:
    """Load a sparse autoencoder of any layout."""
    from ..estimators import load_sae

    return load_sae(path)


def store_of(path: str, model: Any) -> Any:
    """Open activations, and refuse those of another width."""
    from ..data import read_activations

    store = read_activations(path)
    width = model.dictionary_.shape[1]
    if store.shape[1] != width:
        raise ValueError(
            f"`--data` must have the {width} columns that the model reads, got {store.shape[1]}. Pass the "
            "activations of the same site."
        )
    return store


def compare_features(given: Any) -> None:
    """Say feature by feature whether other sparse autoencoders have it: by atoms, and by codes."""
    from ..report import feature_replication, features

    names = _names(given.runs)
    models = [loaded(path) for path in given.runs]
    store = None if given.data is None else store_of(given.data, models[0])
    found = replicated(models, names, store, given.threshold, given.random_state)
    verdict = None
    if store is not None:
        effort = "full" if given.effort == "full" else "none"  # a refit of a wide dictionary is asked for
        verdict = judged(models[0], store, effort)
        found = found if verdict is None else found.beside({names[0]: verdict})
    if given.out is not None and store is not None:
        features(given.out, models[0], store, trust=verdict, replication=found)
    elif given.out is not None:
        feature_replication(given.out, found)
    if given.as_json:
        trust = None if verdict is None else {names[0]: verdict.to_dict()}
        print_json({"runs": given.runs, "features": found.to_dict(), "trust": trust})
    else:
        tell(str(found), *([] if given.out is None else [f"Report: {given.out}"]))


def replicated(models: list[Any], names: list[str], store: Any, threshold: float, seed: int) -> Any:
    """Compare dictionaries, with codes and the effective dimension where there are data."""
    from ..estimators import untrained_dictionary
    from ..metrics import replicate_features

    x = None if store is None else np.asarray(store.take(0, min(len(store), _COMPARED)))
    codes = None if x is None else [model.transform(x) for model in models]
    spread = None if x is None else np.cov(np.asarray(x[:_MOMENTS], dtype=np.float64).T)
    with progress("Comparing") as moved:
        found = replicate_features(
            [model.dictionary_ for model in models],
            codes,
            names=names,
            covariance=spread,
            untrained=[untrained_dictionary(model) for model in models],
            threshold=threshold,
            random_state=seed,
            on_progress=moved,
        )
    return replace(found, notes=(*found.notes, *_unknown_seeds(models, names)))


def _unknown_seeds(models: list[Any], names: list[str]) -> list[str]:
    """Say whose beginning is not known: files of other programs hold no seed."""
    without = [name for name, model in zip(names, models, strict=True) if model.random_state is None]
    told = "untrained atoms are drawn anew, and do not show a beginning that was shared"
    return [f"the seed of {', '.join(without)} is not known: {told}."] if without else []


def judged(model: Any, store: Any, effort: str, **settings: Any) -> Any:
    """Return the verdict on the features, or say in a line why there is none."""
    from ..evidence import verdict_or_reason

    found, reason = verdict_or_reason(model, store, effort=effort, verbose=True, **settings)
    warn(reason)
    return found


def report_features(target: Path, source: Path, data: str, effort: str, heading: dict[str, Any]) -> Any:
    """Write the page of features, and return the verdict that it shows."""
    from ..report import features

    model = loaded(source)
    store = store_of(data, model)
    verdict = judged(model, store, effort)
    features(target, model, store, trust=verdict, **heading)
    return verdict


def trust_features(given: Any) -> tuple[Any, Any, Any]:
    """Judge the features of a sparse autoencoder on a store of activations."""
    from ..evidence import trust

    model = loaded(given.model)
    store = store_of(given.data, model)
    if given.domains is not None:
        raise ValueError("`--domains` must be left out for a sparse autoencoder, which has none.")
    settings: dict[str, Any] = {"effort": given.effort, "random_state": given.random_state, "verbose": True}
    return model, store, trust(model, store, **settings)


def _names(runs: list[str]) -> list[str]:
    short_names = [Path(run).name for run in runs]
    return short_names if len(set(short_names)) == len(runs) else list(runs)
