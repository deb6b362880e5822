"""The answer at the top of the page: it follows from the verdict of `unmix.trust`, and from nothing else."""

from typing import Any

from ._material import Material
from ._mixture import mixture_answer
from ._trust import unit_name
from ._words import POOR_FIT, Verdict, hat, listing, structure_answer

MEANING = (
    "A {noun} is trusted if it is right with a probability of at least {threshold:.2f}: one of the true "
    "ones, up to {up_to}. The argument is that of {theorem}; what it asks for was measured, each item beside "
    "what noise would give, and joined to a probability that was calibrated on simulated worlds."
)
OPEN = (
    "What takes a refit was not checked. To check it: unmix trust MODEL DATA --effort quick, or "
    'unmix.trust(model, x, effort="quick").'
)
ALONE = "No model with its data was given to judge, so these are scores and no verdict."


def verdict(material: Material) -> Verdict:
    """Return the verdict of `unmix.trust`; without one, what was given says so."""
    found = material.trust
    if found is None:
        return _without(material)
    return turned(answer(found).with_remarks(*_remarks(material)), material.fitted.explained)


def answer(found: Any) -> Verdict:
    """Return what `unmix.trust` found, in words."""
    return Verdict(tone(found), found.headline, tuple(filter(None, _sentences(found))))


def tone(found: Any) -> str:
    """Return good where every unit is trusted, care where some, open where checks are missing, else stop."""
    if found:
        return "good"
    if found.trusted.any():
        return "care"
    return "open" if "not checked" in found.verdicts else "stop"


def _sentences(found: Any) -> tuple[str, ...]:
    if found.kind == "none":
        why = found.weakest[0].words[0]
        return (f"No theorem speaks about these latents: {why}. No data and no effort can change that.",)
    known = {"threshold": found.threshold, "up_to": found.up_to, "theorem": found.theorem}
    return (
        _in_the_way(found),
        OPEN if "not checked" in found.verdicts else "",
        MEANING.format(noun=found.noun, **known),
    )


def _in_the_way(found: Any) -> str:
    """Name the weakest link of each unit that is not trusted, the most frequent first."""
    units: dict[str, list[str]] = {}
    for k, weak in enumerate(found.weakest):
        if found.verdicts[k] == "no":
            units.setdefault(weak.name, []).append(unit_name(found, k))
    ordered = sorted(units.items(), key=lambda item: -len(item[1]))
    parts = [f"{name} ({_several(names)})" for name, names in ordered]
    return f"What stands in the way: {'; '.join(parts)}." if parts else ""


def _several(names: list[str], most: int = 6) -> str:
    return listing(names if len(names) <= most else [*names[:most], f"{len(names) - most} more"])


def _remarks(material: Material) -> tuple[tuple[str, str], ...]:
    """Say what the model itself reports as wrong: latents without use, and flags."""
    unused = listing(map(hat, material.unused))
    told = f"{unused} reach no observed variable, so no data can tell about them: fit with fewer components."
    return (
        ("care", told if material.unused else ""),
        *(("care", flag) for flag in material.findings.flags or ()),
    )


def turned(answer: Verdict, explained: float | None) -> Verdict:
    """Let a model that does not match the data turn the page: every theorem speaks of models that do."""
    if explained is None or explained >= POOR_FIT:
        return answer
    share = f"The model explains only {max(explained, 0.0):.0%} of the variance of x"
    headed = answer.headed(f"{share}. {answer.headline}")
    advice = "Every theorem speaks of models that match the data. Train longer, or allow more latents."
    return headed.adding("stop", advice)


def _without(material: Material) -> Verdict:
    """Say what a page without a verdict is: not checked, a statement about a structure, or scores."""
    if material.model is not None:
        return Verdict("open", "Not checked", (material.unjudged,)).with_remarks(*_remarks(material))
    if material.certificate is not None:
        return structure_answer(material.certificate)
    if material.mixture is not None:
        return mixture_answer(material.mixture)
    return Verdict("open", "Scores without a verdict", (ALONE,))
