"""Recover the hidden variables behind observed data, and say which of them can be trusted and why.

    table = unmix.read_table("wells.csv")       features, names, ids and other columns of a file or frame
    model = unmix.FastICA("auto").fit(x)        fit; one class for each method, as in scikit-learn
    z = model.transform(x)                      the latents of each row
    unmix.trust(model, x)                       which can be trusted, and what the weakest link is
    unmix.describe(model, x)                    what each stands for, in the names of your columns
    unmix.report.explore("page.html", model=model, data=x)      a page to look around in
    model.save("model"), unmix.load("model")

Before a fit: `unmix.choose(x)` says how many latents there are and which methods the data support;
`unmix.theory.certify(structure)` what a structure would identify. After: `unmix.metrics.replicate` compares
runs, `unmix.metrics.evaluate` scores against a truth. `dir(unmix)` has all names, `help(unmix.FastICA)` tells
of one, and the command `unmix --help` does the same without Python.

The rooms (`unmix.data`, `unmix.metrics`, ...) and the estimators are imported on first use, so that
`import unmix` stays fast.
"""

from importlib import import_module
from typing import Any

from ._names import ESTIMATORS as _ESTIMATORS
from ._verdicts import remembering as _remembering
from ._version import __version__

_ROOMS = (
    "structure",
    "theory",
    "metrics",
    "rows",
    "tables",
    "nn",
    "training",
    "penalties",
    "objectives",
    "solvers",
    "data",
    "estimators",
    "evidence",
    "deconfound",
    "description",
    "choice",
    "plots",
    "experiments",
    "report",
)
_FROM_ESTIMATORS = (*_ESTIMATORS, "fit_many", "load", "load_sae", "save", "save_sae")
_FROM_EVIDENCE = ("trust",)
_FROM_DESCRIPTION = ("describe",)
_FROM_CHOICE = ("choose",)
_FROM_TABLES = {"read_table": "read"}

__all__ = [
    "__version__",
    *_ROOMS,
    *_FROM_ESTIMATORS,
    *_FROM_EVIDENCE,
    *_FROM_DESCRIPTION,
    *_FROM_CHOICE,
    *_FROM_TABLES,
]


def __getattr__(name: str) -> Any:
    """Import a room or an estimator the first time it is asked for (PEP 562)."""
    if name in _ROOMS:
        return import_module(f"unmix.{name}")
    if name in _FROM_ESTIMATORS:
        return getattr(import_module("unmix.estimators"), name)
    if name in _FROM_EVIDENCE:
        return _remembering(getattr(import_module("unmix.evidence"), name))
    if name in _FROM_DESCRIPTION:
        return _remembering(getattr(import_module("unmix.description"), name), "description")
    if name in _FROM_CHOICE:
        return getattr(import_module("unmix.choice"), name)
    if name in _FROM_TABLES:
        return getattr(import_module("unmix.tables"), _FROM_TABLES[name])
    raise AttributeError(f"module 'unmix' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
