"""The metrics that `evaluate` knows by name: what reads the codes, and how many draws can be afforded."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from .._beta_vae import beta_vae_score
from .._dci import dci
from .._factor_vae import factor_vae_score
from .._infomec import infomec
from .._irs import irs
from .._mcc import mcc
from .._mig import mig
from .._modularity import modularity_explicitness
from .._r2 import r2
from .._sap import sap
from .._slots import slot_identifiability

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
        The most samples; None for as many as hold `ENTRIES` numbers.
    kinds : bool
        Whether discrete and continuous factors are treated differently.
    parts : tuple of str
        The floats wanted of a result with several.
    """

    function: Metric
    probe: str
    n_boot: int = 10_000
    n_draws: int = 20
    n_samples: int | None = None
    kinds: bool = False
    parts: tuple[str, ...] = ()


ENTRIES = 2**22  # of truth and codes together that a quick metric is computed on as often as it is drawn
_cheap = Measure
_medium = partial(Measure, n_boot=20, n_draws=5, n_samples=10_000)
_slow = partial(Measure, n_boot=8, n_draws=3, n_samples=5_000)
_slowest = partial(Measure, n_boot=5, n_draws=2, n_samples=1_000)
_DCI = ("disentanglement", "completeness", "informativeness")
_INFOMEC = ("modularity", "explicitness", "compactness")
MEASURES = {
    "mcc": _cheap(mcc, "pearson, matched"),
    "mcc.spearman": _cheap(partial(mcc, method="spearman"), "spearman, matched"),
    "mcc.nonlinear": _medium(partial(mcc, method="nonlinear"), "broken line, matched"),
    "mcc.held_out": _cheap(partial(mcc, held_out=True), "pearson, matched on other rows"),
    "r2": _cheap(r2, "least squares"),
    "r2.kernel": _slowest(partial(r2, probe="kernel"), "kernel ridge"),
    "r2.boosted": _slowest(partial(r2, probe="boosted"), "boosted trees"),
    "dci": _slow(dci, "trees", kinds=True, parts=_DCI),
    "infomec": _slow(infomec, "standalone", kinds=True, parts=_INFOMEC),
    "mig": _medium(mig, "histograms", kinds=True),
    "sap": _medium(sap, "one code, thresholds or a line", kinds=True),
    "irs": _medium(irs, "largest deviations", kinds=True),
    "modularity_explicitness": _medium(
        modularity_explicitness, "histograms, linear", kinds=True, parts=_INFOMEC[:2]
    ),
    "factor_vae_score": _slow(factor_vae_score, "majority vote, std >= 0.05", kinds=True),
    "beta_vae_score": _slow(beta_vae_score, "logistic regression", kinds=True),
    "slot_identifiability": _slow(partial(slot_identifiability, n_samples=1000), "kernel ridge by column"),
}
_ASKED_FOR = {  # by name alone: minutes, and so no part of "all"
    "dci.boosting": Measure(
        partial(dci, probe="boosting"),
        "boosting",
        n_boot=5,
        n_draws=2,
        n_samples=5_000,
        kinds=True,
        parts=_DCI,
    ),
}
_KNOWN = MEASURES | _ASKED_FOR


def measures(metrics: str | Iterable[str | Metric] | Mapping[str, Metric]) -> list[tuple[str, Measure]]:
    """Look up names, and give functions of the caller's own a name and the budget of a quick metric."""
    if isinstance(metrics, Mapping):
        return [(name, Measure(metric, _name(metric))) for name, metric in metrics.items()]
    chosen = [metrics] if isinstance(metrics, str) else list(metrics)
    found: dict[str, Measure] = {}
    for metric in list(MEASURES) if chosen == ["all"] else chosen:
        name, measure = _known(metric) if isinstance(metric, str) else _own(metric)
        seen = found[name].parts if name in found else ()
        found[name] = replace(measure, parts=tuple(dict.fromkeys(seen + measure.parts)))
    if "dci" in found:
        _need_trees()
    if not found:
        raise ValueError("`metrics` must name at least one metric, got none. For example ['mcc'].")
    return list(found.items())


def _known(name: str) -> tuple[str, Measure]:
    """Find a metric by its name, or one part of it by the name of that row."""
    whole, _, part = name.rpartition(".")
    if name in _KNOWN:
        return name, _KNOWN[name]
    if whole in _KNOWN and part in _KNOWN[whole].parts:
        return whole, replace(_KNOWN[whole], parts=(part,))
    raise ValueError(
        f"`metrics` must name some of {', '.join(sorted(_KNOWN))}, or be 'all', got {name!r}. "
        "Or pass a function."
    )


def _need_trees() -> None:
    """Say what is missing before the work starts rather than in the middle of it."""
    try:
        import lightgbm  # noqa: F401
    except ImportError:
        raise ValueError(
            "`metrics` must leave out 'dci' without lightgbm: pip install 'unmix[trees]', "
            "or name 'dci.boosting', which is slower."
        ) from None


def _own(metric: Metric) -> tuple[str, Measure]:
    return _name(metric), Measure(metric, _name(metric))


def _name(metric: Any) -> str:
    return getattr(getattr(metric, "func", metric), "__name__", type(metric).__name__)
