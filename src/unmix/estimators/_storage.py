"""Saving and loading fitted estimators: one safetensors file with a JSON header, never pickle.

What is stored is what scikit-learn calls fitted, the attributes whose names end in an underscore: arrays,
networks and histories as tensors, the rest in the header.
"""

import json
import os
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from unmix._names import ESTIMATORS
from unmix._untrusted import as_object, parse_json, whole
from unmix._version import __version__
from unmix.structure import Structure
from unmix.tables import Recipe
from unmix.training import History, read_sealed, write_sealed

from ._settings import decode, storable
from ._tried import as_large_as, tried

FORMAT, FIRST = "unmix-estimator-2", "unmix-estimator-1"
MAX_ROWS = 100_000  # of a history
NETWORKS = ("encoder_", "decoder_")
COMPUTES = ("components", "mixing", "mean", "scale", "intercept", "centre")  # arrays beside the networks


def save(estimator: Any, path: str | os.PathLike[str]) -> Path:
    """Write a fitted estimator to one file, whole or not at all.

    Functions among the settings (network factories, penalties) are stored by name.
    """
    fitted = {k: v for k, v in vars(estimator).items() if k.endswith("_") and not k.startswith("_")}
    tensors: dict[str, Tensor] = {}
    header = {
        "format": FORMAT,
        "version": __version__,
        "class": type(estimator).__name__,
        "settings": {name: storable(name, value) for name, value in estimator.get_params(deep=False).items()},
        "fitted": {name: _packed(name.rstrip("_"), value, tensors) for name, value in fitted.items()},
    }
    _check_finite(tensors, "The fit diverged: fit it again, with a smaller `lr`, say.")
    return write_sealed(Path(path), "unmix", json.dumps(header), tensors)


def _check_finite(tensors: dict[str, Tensor], way_out: str) -> None:
    """Refuse a model that would answer NaN: what it computes with must be finite, reports need not."""
    for name, tensor in tensors.items():
        computes = name in COMPUTES or name.startswith(("encoder.", "decoder."))
        if computes and tensor.is_floating_point() and not bool(torch.isfinite(tensor).all()):
            raise ValueError(f"`model` must be finite, its {name!r} holds NaN or infinity. {way_out}")


def _packed(name: str, value: Any, into: dict[str, Tensor]) -> Any:
    """Turn a fitted value into JSON, floats as text so that infinities pass; arrays go into tensors."""
    if isinstance(value, nn.Module):
        into |= {f"{name}.{key}": tensor.contiguous() for key, tensor in value.state_dict().items()}
        return {"network": name}
    if isinstance(value, History):
        return _packed_history(name, value.thinned(MAX_ROWS), into)
    if isinstance(value, Structure):
        into[name] = torch.from_numpy(value.support.copy())
        return {"structure": name, "margin": None if value.margin is None else repr(value.margin)}
    if isinstance(value, np.ndarray) and value.dtype.kind in "OU":
        return {"objects": [str(item) for item in value]}
    if isinstance(value, np.ndarray):
        into[name] = torch.from_numpy(np.array(value, order="C"))
        return {"array": name}
    if isinstance(value, Recipe):
        return {"recipe": value.to_dict()}
    if isinstance(value, float | np.floating):
        return {"float": repr(float(value))}
    if isinstance(value, tuple | list):
        return {"tuple": [_packed(f"{name}.{i}", item, into) for i, item in enumerate(value)]}
    return value.item() if isinstance(value, np.generic) else value


def _packed_history(name: str, history: History, into: dict[str, Tensor]) -> dict[str, Any]:
    into[name] = torch.tensor(history.steps, dtype=torch.int64)
    for series, values in (history.terms | history.extras).items():
        into[f"{name}.{series}"] = torch.tensor(values, dtype=torch.float64)
    rest = {"n_steps": history.n_steps, "seconds": history.seconds, "stopped": history.stopped}
    return {"history": name, "terms": list(history.terms), "extras": list(history.extras), "rest": rest}


def load(path: str | os.PathLike[str], *, trusted: Iterable[Callable[..., Any]] = ()) -> Any:
    """Load an estimator that `save` wrote.

    Nothing in the file is executed: functions are stored by name, and only those of `unmix.nn`,
    `unmix.penalties` and `unmix.training` are looked up.

    Parameters
    ----------
    path : path-like
    trusted : iterable of callables
        Your own functions that the model was built with (network factories, penalties).

    Returns
    -------
    fitted estimator

    Examples
    --------
    >>> import tempfile, unmix
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> model = unmix.Autoencoder(2, max_iter=2, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = unmix.load(model.save(f"{folder}/model"))
    >>> bool(np.array_equal(again.transform(X), model.transform(X)))
    True
    """
    header, tensors = _read(Path(path))
    _check_finite(tensors, "Its fit diverged: fit it again.")
    with whole(path, "model written by `save`, whose parts fit together"):
        n_stored = sum(tensor.numel() for tensor in tensors.values())
        return tried(_restored(header, tensors, tuple(trusted)), n_stored)


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Read header and tensors, and refuse what is not whole."""
    if not path.is_file():
        raise ValueError(f"`path` must be a model written by `save`, {str(path)!r} is no file. Check it.")
    try:
        text, tensors = read_sealed(path, "unmix")
    except ValueError as error:
        raise ValueError(
            f"`path` must be a model written by `save`, got {str(path)!r} ({error}). Save the model again."
        ) from error
    header = as_object(parse_json(text, path.name), path.name)
    if header.get("format") not in (FIRST, FORMAT):
        raise ValueError(
            f"`path` must hold the format {FORMAT}, got {header.get('format')!r}. Load it with the version "
            "of unmix that wrote it."
        )
    if header["format"] == FIRST:
        with whole(path, "model written by `save`"):
            header["fitted"] = _of_first_format(header, tensors)
    return header, tensors


def _restored(header: dict[str, Any], tensors: dict[str, Tensor], trusted: tuple[Any, ...]) -> Any:
    if header["class"] not in ESTIMATORS:
        raise KeyError(f"no estimator {header['class']!r}")
    kind = getattr(import_module("unmix.estimators"), header["class"])
    estimator = kind(**{name: decode(value, trusted) for name, value in header["settings"].items()})
    fitted = header["fitted"]
    for name, packed in fitted.items():
        if name not in NETWORKS:
            setattr(estimator, name, _unpacked(packed, tensors))
    if set(NETWORKS) <= fitted.keys():
        _restore_networks(estimator, tensors)
    return estimator


def _unpacked(packed: Any, tensors: dict[str, Tensor]) -> Any:
    """Undo `_packed`."""
    if not isinstance(packed, dict):
        return packed
    if "array" in packed:
        return tensors[packed["array"]].numpy()
    if "recipe" in packed:
        return Recipe.from_dict(packed["recipe"])
    if "float" in packed:
        return float(packed["float"])
    if "objects" in packed:
        return np.array(packed["objects"], dtype=object)
    if "tuple" in packed:
        return tuple(_unpacked(item, tensors) for item in packed["tuple"])
    if "structure" in packed:
        margin = None if packed["margin"] is None else float(packed["margin"])
        return Structure(tensors[packed["structure"]].numpy(), margin=margin)
    return _unpacked_history(packed, tensors)


def _unpacked_history(packed: dict[str, Any], tensors: dict[str, Tensor]) -> History:
    name, terms = packed["history"], packed["terms"]
    if isinstance(terms, dict):  # of the first format
        return History(terms, **packed["rest"])
    series = {each: tensors[f"{name}.{each}"].tolist() for each in (*terms, *packed["extras"])}
    return History(
        {each: series[each] for each in terms},
        **packed["rest"],
        extras={each: series[each] for each in packed["extras"]},
        steps=tensors[name].tolist(),
    )


def _restore_networks(estimator: Any, tensors: dict[str, Tensor]) -> None:
    """Build the networks again from their factories and give them their weights."""
    with as_large_as(tensors):
        estimator._networks(estimator._shape)
    with torch.random.fork_rng(devices=[]):
        built = estimator._networks(estimator._shape)
    for name in ("encoder", "decoder"):
        network = getattr(built, name).to(estimator._fitted_part.PRECISION).requires_grad_(False)
        weights = {k.removeprefix(f"{name}."): t for k, t in tensors.items() if k.startswith(f"{name}.")}
        network.load_state_dict(weights)
        setattr(estimator, f"{name}_", network.eval())


def _of_first_format(header: dict[str, Any], tensors: dict[str, Tensor]) -> dict[str, Any]:
    """Return the fitted attributes of a file that held the whole history in its header."""
    if "fitted" in header:
        return header["fitted"] | {name: {"array": name} for name in tensors}
    networks = ("encoder.", "decoder.")
    arrays = {k: {"array": k} for k in tensors if not k.startswith(networks) and k != "structure"}
    names = header["feature_names_in"]
    history = {name: header["history"][name] for name in ("n_steps", "seconds", "stopped")}
    return (
        arrays
        | {"n_features_in_": header["n_features_in"], "n_iter_": header["n_iter"]}
        | ({} if names is None else {"feature_names_in_": {"objects": names}})
        | {"restarts_": {"tuple": [{"float": score} for score in header["restarts"]]}}
        | {"structure_": {"structure": "structure", "margin": header["margin"]}}
        | {"history_": {"history": "", "terms": header["history"]["terms"], "rest": history}}
        | {"encoder_": {"network": "encoder"}, "decoder_": {"network": "decoder"}}
    )
