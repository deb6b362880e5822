"""Second optima: another fit that ends as low without a latent is a counterexample, and is called one."""

from typing import Any

import numpy as np

COUNTEREXAMPLE = "a counterexample"  # by which words are known again
_NEARLY = 0.05  # of the objective: a refit that ends higher by more has failed, and shows nothing


def counterexamples(model: Any, other: Any, lost: np.ndarray) -> list[str]:
    """Return for each unit what to add about a refit: something only if it lost the unit and ends as low.

    A refit that ends higher did not find what the fit found. One with as many latents and nearly the same
    objective is another answer that the data allow, and nothing in the fit tells which of the two is right.

    Parameters
    ----------
    model, other : fitted estimators
        With objectives in `restarts_`, means over the rows of each; others have none to compare.
    lost : ndarray of bool, shape (n_units,)
        Which units the refit does not have.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> fit, refit = (SimpleNamespace(restarts_=(end, 9.0), n_components_=2) for end in (0.5, 0.52))
    >>> lost, kept = counterexamples(fit, refit, np.array([True, False]))
    >>> lost.removeprefix("; "), kept
    ('it ends as low (objective 0.52, this fit 0.5), with something else in its place: a counterexample', '')
    >>> counterexamples(fit, SimpleNamespace(restarts_=(0.6,), n_components_=2), np.array([True, False]))
    ['', '']
    """
    here, there = _objective(model), _objective(other)
    # with as many latents, and the same terms: those of dictionaries differ where mixings bend
    alike = all(
        getattr(model, name, None) == getattr(other, name, None) for name in ("n_components_", "bent_")
    )
    if not (alike and there <= here + _NEARLY * abs(here)):
        return [""] * len(lost)
    ends = f"it ends as low (objective {there:.3g}, this fit {here:.3g})"
    said = f"; {ends}, with something else in its place: {COUNTEREXAMPLE}"
    return [said if each else "" for each in lost]


def _objective(model: Any) -> float:
    """Return the lowest objective of a fit; nan, which is below nothing, where it does not tell."""
    return float(np.min(getattr(model, "restarts_", np.nan)))
