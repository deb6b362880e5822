"""`trust`: one calibrated verdict for each latent."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unmix._fitted import without_names
from unmix._html import panel, table, words

from ._argument import ARGUMENTS_BY_KIND, Argument, Units, argument_for, units_of
from ._calibration import chain_for, threshold
from ._case import Case
from ._chain import Chain
from ._counterexamples import COUNTEREXAMPLE
from ._data import behind_scalers, checked
from ._link import EFFORTS, Link, figure
from ._progress import shown
from ._surrogate import surrogates


@dataclass(frozen=True, eq=False, repr=False)
class Trust:
    """One verdict for each latent or slot of a fitted model; see `trust`.

    Truthy iff every one is trusted. `str()` is a report.

    Attributes
    ----------
    method, kind, theorem, up_to : str
        The estimator, the kind of argument behind it, by which theorem latents of such data are identified,
        and what no data can tell.
    units : tuple of tuple of int
        What is judged: each latent, or the latents of each slot.
    probability : ndarray of shape (n_units,)
        That the unit is right up to the stated indeterminacy.
    trusted : ndarray of bool, shape (n_units,)
        Whether the probability passes the threshold.
    verdicts : tuple of str
        "yes", "no" or "not checked": what is missing to a yes are checks that need more effort.
    reasons : tuple of str
        For each unit its weakest link, in words.
    evidence : tuple of Link
        Item by item, each with its null.
    counterexamples : tuple of int
        Units that another fit lacks which ends as low: the data allow both answers.
    surrogate : mapping of str to float
        What Gaussian data with the covariance of X score, by the name of the item; what takes a search is
        there at effort "full". It takes no part in the probability, and is worked out when first asked for.
    effort : str
    threshold : float
    seconds : float
    """

    method: str
    kind: str
    theorem: str
    up_to: str
    units: Units
    evidence: tuple[Link, ...]
    chain: Chain
    effort: str
    threshold: float
    seconds: float = 0.0
    against: Callable[[], Mapping[str, float]] = dict

    @cached_property
    def surrogate(self) -> Mapping[str, float]:
        """What Gaussian data with the covariance of X score, by the name of the item."""
        return self.against()

    def gaussian(self, name: str) -> str:
        """Return what Gaussian data with the covariance of X score at an item, as text, if known."""
        return figure(self.surrogate[name]) if name in self.surrogate else ""

    @property
    def strengths(self) -> dict[str, np.ndarray]:
        """The strength of each link."""
        return {each.name: each.strength for each in self.evidence}

    def part_of(self, item: Link) -> str:
        """Return the part of the chain that a link belongs to."""
        return ARGUMENTS_BY_KIND[self.kind].part(item.name)

    @cached_property
    def parts(self) -> dict[str, dict[str, np.ndarray]]:
        """The strength of each link of each part of the chain."""
        return parts_of(self.evidence, ARGUMENTS_BY_KIND[self.kind])

    @cached_property
    def probability(self) -> np.ndarray:
        """The probability that each unit is right, given what was measured at this effort."""
        stated = self.chain.joined(self._held)
        enough = EFFORTS.index(ARGUMENTS_BY_KIND[self.kind].enough)
        known = bool(self._factors) and EFFORTS.index(self.effort) >= enough
        return stated if known else 0.5 * stated  # what was not measured may as well fail

    @cached_property
    def trusted(self) -> np.ndarray:
        """Whether the probability passes the threshold."""
        return self.probability >= self.threshold

    @cached_property
    def verdicts(self) -> tuple[str, ...]:
        """Yes; not checked, where nothing that was measured speaks against it and more could be; or no."""
        open_ = any(not each.checked for each in self.evidence)
        against = np.min([np.ones(len(self.units)), *self._factors.values()], axis=0) < 0.5
        hoped = np.where(~against & open_, "not checked", "no")
        return tuple(np.where(self.trusted, "yes", hoped).tolist())

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """One sentence for each unit: the verdict, and its weakest link."""
        return tuple(self._reason(k) for k in range(len(self.units)))

    @cached_property
    def weakest(self) -> tuple[Link, ...]:
        """For each unit the least link of its weakest part, or the first that was not checked."""
        open_ = next((each for each in self.evidence if not each.checked), None)
        parts = list(self._factors or self.parts)
        table = np.array([self._factors.get(part, 0 * self.probability) for part in parts])
        least = [self._least(parts[part], unit) for unit, part in enumerate(table.argmin(0))]
        told = zip(self.verdicts, least, strict=True)
        return tuple(open_ if open_ and verdict == "not checked" else found for verdict, found in told)

    @cached_property
    def _factors(self) -> dict[str, np.ndarray]:
        """The chance that each part holds, where something of it was measured."""
        checked = {self.part_of(each) for each in self.evidence if each.checked}
        return {part: held for part, held in self._held.items() if part in checked}

    @cached_property
    def _held(self) -> dict[str, np.ndarray]:
        """The chance that each part holds."""
        return self.chain.factors(self.parts)

    def _least(self, part: str, unit: int) -> Link:
        links = [each for each in self.evidence if self.part_of(each) == part]
        return min(links, key=lambda each: np.nan_to_num(each.strength[unit], nan=np.inf))

    @cached_property
    def counterexamples(self) -> tuple[int, ...]:
        """Units that another fit lacks which ends as low, by their numbers: other answers that data allow."""
        told = [each.words for each in self.evidence]
        return tuple(k for k in range(len(self.units)) if any(COUNTEREXAMPLE in words[k] for words in told))

    @property
    def headline(self) -> str:
        """One line for a page or a terminal."""
        n, yes, open_ = len(self.units), int(self.trusted.sum()), self.verdicts.count("not checked")
        what = f"{self.noun}{'s' * (n != 1)}"
        if open_ and not yes:
            return f"Not checked yet: none of {n} {what} can be ruled in at effort {self.effort!r}"
        if yes == n:
            return f"All {n} {what} are trusted" if n > 1 else f"The {what} is trusted"
        return f"{yes or 'None'} of {n} {what} {'is' if yes == 1 else 'are'} trusted"

    @property
    def noun(self) -> str:
        """What a unit is called."""
        return {"slots": "slot", "dictionary": "feature"}.get(self.kind, "latent")

    def __bool__(self) -> bool:
        return bool(self.trusted.all())

    def __str__(self) -> str:
        upto = f"Up to {self.up_to}, by {self.theorem}; threshold {self.threshold:.2f}, effort {self.effort}."
        return "\n".join([f"{self.headline}.", upto, *self._against(), *self.reasons])

    def _against(self) -> list[str]:
        """Say which units have a counterexample, where some do."""
        named = ", ".join(map(self.name_of, self.counterexamples))
        return [f"Another fit ends as low without {named}: {COUNTEREXAMPLE} in hand."] if named else []

    def name_of(self, k: int) -> str:
        """Return what a unit is called, with its number."""
        return f"z{k}" if self.noun == "latent" else f"{self.noun} {k}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        upto = f"Up to {self.up_to}, by {self.theorem}; threshold {self.threshold:.2f}, effort {self.effort}."
        told = zip(self.verdicts, self.probability, self.weakest, strict=True)
        rows = [
            (f"{self.noun} {k}", verdict, f"{chance:.2f}", f"{weak.name}: {weak.words[k]}")
            for k, (verdict, chance, weak) in enumerate(told)
        ]
        tone = "good" if self else "care" if self.trusted.any() else "stop"
        upto = " ".join([upto, *self._against()])
        parts = words(upto), table((self.noun, "trusted", "probability", "weakest link"), rows)
        return panel(self.headline, *parts, tone=tone)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        told = ("method", "kind", "theorem", "up_to", "effort", "threshold", "headline", "seconds")
        return {name: getattr(self, name) for name in told} | {
            "units": [list(unit) for unit in self.units],
            "probability": self.probability.tolist(),
            "trusted": self.trusted.tolist(),
            "verdicts": list(self.verdicts),
            "reasons": list(self.reasons),
            "counterexamples": list(self.counterexamples),
            "evidence": [each.to_dict() for each in self.evidence],
            "surrogate": dict(self.surrogate),
        }

    def _reason(self, k: int) -> str:
        said, weak = f"{self.verdicts[k]} ({self.probability[k]:.2f})", self.weakest[k]
        return f"{self.name_of(k)}: {said}. Weakest link, {weak.name}: {weak.words[k]}."


def trust(
    model: Any,
    X: ArrayLike,
    *,
    domains: ArrayLike | None = None,
    effort: str = "quick",
    random_state: int | None = None,
    verbose: bool | None = None,
) -> Trust:
    """Say for each latent of a fitted model how likely it is right, and what the weakest link is.

    A theorem says what would be identified if its premises were met. Here the premises are measured, each
    beside what noise would score, and joined to a probability that was calibrated on worlds whose latents are
    known (`unmix reproduce trust.calibration`). A latent is right if it is, up to the stated indeterminacy,
    one of the true ones: if its rank correlation with it is above .95.

    Parameters
    ----------
    model : fitted estimator, or pipeline
        A pipeline that scales columns first is judged by its last step, and no other pipeline is trusted: no
        theorem speaks of its steps together.
    X : array-like of shape (n_samples, n_features), images, or path
        The data that the model was fitted to: an array, data frame or tensor, images of shape (n_samples,
        height, width, channels) for estimators that take these, or the path of an NPY, Parquet or safetensors
        file or of a folder of them, of which up to 200,000 rows are read.
    domains : array-like of shape (n_samples,), optional
        The labels that the model was fitted with, for estimators that need or take them.
    effort : {"none", "quick", "full"}
        "none" refits nothing, and says "not checked" or "no" unless that is enough for a "yes"; "quick" takes
        at most as long as the fit did, "full" at most three times as long.
    random_state : int, optional
        For halves of the data and seeds of refits. By default that of the model where it has one, so that
        every place that asks gets the same answer.
    verbose : bool, optional
        Whether progress and the time left are shown: a bar on a terminal, a few lines elsewhere; by default
        on a terminal only.

    Returns
    -------
    Trust

    Examples
    --------
    >>> from unmix.data import sparse_mixing
    >>> from unmix.estimators import Autoencoder
    >>> data = sparse_mixing(300, n_latents=3, random_state=0)
    >>> found = trust(Autoencoder(3, max_iter=2, random_state=0).fit(data.x), data.x, effort="none")
    >>> found.headline
    'None of 3 latents are trusted'
    """
    began = time.perf_counter()
    model, X = behind_scalers(model, X)
    argument, (x, labels) = argument_for(model), checked(model, X, domains)
    seed, effort = _seed_of(model) if random_state is None else _seed(random_state), _effort(effort)
    case = Case(model, x, domains=labels, effort=effort, random_state=seed)
    with shown(verbose, case), without_names():
        evidence = tuple(argument.links(case))
    return Trust(
        case.findings.method,
        argument.kind,
        argument.theorem,
        argument.up_to,
        units_of(case.findings, case.codes.shape[1]),
        evidence,
        chain_for(argument.kind, effort),
        effort,
        threshold(),
        time.perf_counter() - began,
        partial(surrogates, case, argument, evidence),
    )


def parts_of(evidence: Iterable[Link], argument: Argument) -> dict[str, dict[str, np.ndarray]]:
    """Group the strengths of links by the part of the chain that they belong to."""
    parts: dict[str, dict[str, np.ndarray]] = {}
    for each in evidence:
        parts.setdefault(argument.part(each.name), {})[each.name] = each.strength
    return parts


def verdict_or_reason(
    model: Any, X: Any, *, domains: Any = None, effort: str = "none", verbose: bool | None = None
) -> tuple[Trust | None, str]:
    """Return the verdict, or None and why data like these can't be judged, for those who go on without."""
    try:
        checked(model, X, domains)
    except (ValueError, TypeError) as error:
        return None, str(error)
    try:
        return trust(model, X, domains=domains, effort=effort, verbose=verbose), ""
    except np.linalg.LinAlgError as error:
        return None, f"the data are too large or too small for their covariances to be numbers ({error})"


def _seed_of(model: Any) -> int | None:
    """Return the seed that a model was fitted with, where it is a number."""
    seed = getattr(model, "random_state", None)
    return int(seed) if isinstance(seed, Integral) else None


def _seed(random_state: int) -> int:
    if not isinstance(random_state, Integral) or random_state < 0:
        raise ValueError(
            f"`random_state` must be a whole number from 0 on, or None, got {random_state!r}. Pass 0, say."
        )
    return int(random_state)


def _effort(effort: str) -> str:
    if effort not in EFFORTS:
        raise ValueError(f"`effort` must be one of {EFFORTS}, got {effort!r}. Choose one of these.")
    return EFFORTS[EFFORTS.index(effort)]  # plain text, also where a command gave a choice
