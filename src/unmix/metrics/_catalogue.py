"""The metrics that `evaluate` knows by name: what reads the codes, and how many draws can be afforded."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from ._beta_vae import beta_vae_score
from ._factor_vae import factor_vae_score
from ._mcc import mcc
from ._r2 import r2
from ._slots import slot_identifiability

Metric = Callable[..., Any]


@dataclass(frozen=True)
class Measure:
    """A metric and its budget.

    Attributes
    ----------
    function : callable
        `(z_true, z_hat) -> float`, or a dataclass with several floats; takes `discrete` where `kinds` is set.
    probe : str
        What reads the codes, unless the result names it.
    n_boot, n_draws : int
        The most half-samples, and draws of null and floor.
    n_samples : int or None
        The most samples.
    kinds : bool
        Whether discrete and continuous factors are treated differently.
    part : str or None
        The one float wanted of several.
    """

    function: Metric
    probe: str
    n_boot: int = 10_000
    n_draws: int = 20
    n_samples: int | None = None
    kinds: bool = False
    part: str | None = None


_cheap = Measure
_medium = partial(Measure, n_boot=20, n_draws=5, n_samples=10_000)
_slow = partial(Measure, n_boot=8, n_draws=3, n_samples=5_000)
MEASURES = {
    "mcc": _cheap(mcc, "pearson, matched"),
    "mcc.spearman": _cheap(partial(mcc, method="spearman"), "spearman, matched"),
    "mcc.nonlinear": _medium(partial(mcc, method="nonlinear"), "spline, matched"),
    "mcc.held_out": _cheap(partial(mcc, held_out=True), "pearson, matched on the other half"),
    "r2": _cheap(r2, "least squares"),
    "r2.kernel": _slow(partial(r2, probe="kernel", n_fit=1000), "kernel ridge"),
    "r2.boosted": _slow(partial(r2, probe="boosted"), "boosted trees"),
    "factor_vae_score": _slow(factor_vae_score, "majority vote, std >= 0.05", kinds=True),
    "beta_vae_score": _slow(beta_vae_score, "logistic regression", kinds=True),
    "slot_identifiability": _slow(
        partial(slot_identifiability, n_samples=1000), "kernel ridge, columns as slots"
    ),
}


def measures(metrics: str | Iterable[str | Metric] | Mapping[str, Metric]) -> list[tuple[str, Measure]]:
    """Look up names, and give functions of the caller's own a name and the budget of a quick metric."""
    if isinstance(metrics, Mapping):
        return [(name, Measure(metric, _name(metric))) for name, metric in metrics.items()]
    chosen = [metrics] if isinstance(metrics, str) else list(metrics)
    chosen = list(MEASURES) if chosen == ["all"] else chosen
    return [(m, _known(m)) if isinstance(m, str) else (_name(m), Measure(m, _name(m))) for m in chosen]


def _known(name: str) -> Measure:
    if name in MEASURES:
        return MEASURES[name]
    raise ValueError(
        f"`metrics` must name some of {', '.join(sorted(MEASURES))}, or be 'all', got {name!r}. "
        "Or pass a function."
    )


def _name(metric: Any) -> str:
    return getattr(getattr(metric, "func", metric), "__name__", type(metric).__name__)
