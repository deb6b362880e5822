"""The verdict in words, the same in every command, and the options that ask for it."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from ._output import one_line, say

Effort = StrEnum("Effort", ["none", "quick", "full"])  # type: ignore[misc]
EFFORT = (
    "What may be spent on checking: `none` refits nothing, `quick` at most the time of the fit, `full` three "
    "times as much."
)
Spend = Annotated[Effort, typer.Option("--effort", help=EFFORT)]
DOMAINS = "For models fitted with domains: a column of the data, a factor of images, or a file of labels."
_MOST = 24  # units that are printed; the JSON document has them all


def judged(model: Any, x: Any, domains: Any, effort: str) -> Any:
    """Return the verdict, or say in a line why there is none: what else was asked for goes on."""
    from ..evidence import verdict_or_reason

    found, reason = verdict_or_reason(model, x, domains=domains, effort=effort, verbose=True)
    warn(reason)
    return found


def warn(reason: str) -> None:
    """Say in a line why there is no verdict, where that is so."""
    if reason:
        said = one_line(reason).replace("`domains` must", "`--domains` must", 1)
        say(f"unmix: warning: no verdict: {said}")


def short(found: Any, check: str = "") -> list[str]:
    """Tell the verdict and the weakest link of each unit; `check` is the command that would tell more."""
    if found is None:
        return ["Not checked." + (f" To check: {check}" if check else "")]
    lines = str(found).splitlines()
    head = len(lines) - len(found.units)  # one line for each unit comes last
    more = len(found.units) - _MOST
    told = [*lines[: head + _MOST], *([f"... and {more} more."] if more > 0 else [])]
    missing = "not checked" in found.verdicts and check
    return [*told, *([f"To check: {check}"] if missing else [])]


def evidence(found: Any) -> list[str]:
    """Tell the evidence item by item, what was measured beside what noise would give."""
    head = "Evidence, measured beside what noise would give, and Gaussian data with the covariance of these:"
    return ["", head, *(_item(each) + _gaussian(found, each.name) for each in found.evidence)]


def _gaussian(found: Any, name: str) -> str:
    value = found.gaussian(name)
    return f"; Gaussian {value}" if value else ""


def _item(item: Any) -> str:
    if not item.checked:
        return f"- {item}"
    figures = [item.figures(k) for k in range(len(item.words))]
    pairs = [measured + (f" (noise {null})" if null != "–" else "") for measured, null in figures]
    told = pairs[:1] if len(set(pairs)) == 1 else pairs[:_MOST]
    more = f", {len(pairs) - _MOST} more" if 1 < len(told) < len(pairs) else ""
    return f"- {item.name}: {', '.join(told)}{more}"
