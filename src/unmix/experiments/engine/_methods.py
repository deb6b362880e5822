"""Methods of users: any class with `fit` and `transform`, named as `package:Estimator`."""

from importlib import import_module
from inspect import Parameter, isclass, signature
from typing import Any

import numpy as np


def find_method(name: str) -> Any:
    """Import what `package.module:Estimator` names, and check that it can fit and transform.

    Parameters
    ----------
    name : str
        A class, or an instance with settings of its own.

    Returns
    -------
    class or object

    Examples
    --------
    >>> find_method("sklearn.decomposition:PCA").__name__
    'PCA'
    """
    module, colon, attribute = name.partition(":")
    if not (module and colon and attribute):
        raise ValueError(f"`method` must be given as package:Estimator, got {name!r}.")
    try:
        found = getattr(import_module(module), attribute)
    except ImportError as error:
        raise ValueError(
            f"`method` must name a module that can be imported, got {name!r}: {error}."
        ) from None
    except AttributeError:
        raise ValueError(f"`method` must name what {module} holds, got {attribute!r}.") from None
    missing = [part for part in ("fit", "transform") if not callable(getattr(found, part, None))]
    if missing:
        raise ValueError(f"`method` must have fit and transform, got {name!r} without {missing[0]}.")
    return found


def make_method(name: str, n_components: int, seed: int) -> Any:
    """Make a user's method for data with `n_components` latents; it is given the seed if it takes one."""
    found = find_method(name)
    offered = {"n_components": n_components, "random_state": seed}
    if not isclass(found):
        from sklearn.base import clone

        fresh = clone(found, safe=False)
        known: dict[str, Any] = getattr(fresh, "get_params", dict)()
        return fresh.set_params(**{k: v for k, v in offered.items() if k in known}) if known else fresh
    taken = signature(found).parameters
    anything = any(p.kind is Parameter.VAR_KEYWORD for p in taken.values())
    return found(**{k: v for k, v in offered.items() if anything or k in taken})


def codes_of(model: Any, x: np.ndarray, unseen: np.ndarray | None = None) -> np.ndarray:
    """Fit a method on x and return its codes, of other samples where they are given."""
    fitted = model.fit(x)
    codes = np.asarray(
        (model if fitted is None else fitted).transform(x if unseen is None else unseen), float
    )
    return codes.reshape(len(codes), -1)
