"""One report of everything that was asked: parts, the conditions they share, and what follows."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import Any

from unmix._html import told

from .._certificate import Certificate, assumed, attributes, plain, with_margin
from ..sparsity import headline

TITLES = {
    "unused": "Latents that are not used",
    "structure": "The structure",
    "reading": "The fit",
    "nonlinearity": "Nonlinearity, from Jacobian samples",
    "sets": "Two sets of observed variables",
    "region": "The region asked about",
    "refits": "Stability over refits",
    "resampling": "Stability over resampled points",
    "changes": "Changes between domains",
    "domains": "Domains and sparse mixing",
    "mixture": "The mixture",
    "mechanisms": "Mechanisms of the slots",
    "decoder": "The decoder, up to a rigid motion",
    "pair": "Two runs",
    "head": "The softmax head",
}
IF_RIGHT = "If what was given is right, and the assumptions hold:"
_CONCLUSIVE = ("structure", "domains", "mixture", "mechanisms", "decoder", "pair", "head")


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """What is identified from all that was given, and why; see `explain`.

    Truthy iff the structure, domains, a mixture, mechanisms, a decoder, a pair of runs or a head identifies
    all that it can, and no condition of it was found to fail. `str()` is a report, `to_html()` a page. Words
    may be looked for: `"faithfulness" in explanation`.

    Attributes
    ----------
    parts : dict of str to certificate
        The answer of each certifier that had something to say, by name: "unused", "structure", "reading",
        "nonlinearity", "sets", "region", "refits", "resampling", "changes", "domains", "mixture",
        "mechanisms", "decoder", "pair", "head".
    settled : dict of str to Certificate
        Assumptions of some part that another part has checked.
    """

    parts: Mapping[str, Any]
    settled: Mapping[str, Certificate] = field(default_factory=dict)

    @cached_property
    def conditions(self) -> dict[str, tuple[Certificate, ...]]:
        """The theorems and conditions of each part, each once, given what other parts have checked."""
        said: set[str] = set()
        found = {}
        for name, part in self.parts.items():
            found[name] = tuple(self._settle(each) for each in part.certificates if each.verdict not in said)
            said |= {each.verdict for each in part.certificates}
        return found

    def _settle(self, certificate: Certificate) -> Certificate:
        """Drop assumptions found to hold; a theorem fails with the first found to fail."""
        failing = [(word, self.settled[word]) for word in certificate.assumes if self._broken(word)]
        left = tuple(word for word in certificate.assumes if word not in self.settled)
        if not failing or not certificate:
            return replace(certificate, assumes=left)
        reasons = tuple(f"{word} was found to fail: {'; '.join(found.reasons)}" for word, found in failing)
        return replace(certificate, holds=False, assumes=left, reasons=reasons)

    def _broken(self, assumption: str) -> bool:
        return assumption in self.settled and not self.settled[assumption]

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """Every theorem and condition, part by part."""
        return tuple(certificate for part in self.conditions.values() for certificate in part)

    @property
    def holding(self) -> tuple[Certificate, ...]:
        """Theorems that apply, and conditions that were checked and hold."""
        return tuple(certificate for certificate in self.certificates if certificate)

    @property
    def failing(self) -> tuple[Certificate, ...]:
        """Theorems that do not apply, and conditions that were checked and fail."""
        return tuple(certificate for certificate in self.certificates if not certificate)

    @cached_property
    def assumed(self) -> dict[str, tuple[str, ...]]:
        """What has to be believed: each assumption of a theorem that holds, and the parts that rest on it."""
        resting: dict[str, dict[str, None]] = {}
        for name, certificates in self.conditions.items():
            for word in (word for found in certificates if found for word in found.assumes):
                resting.setdefault(word, {})[name] = None
        return {word: tuple(names) for word, names in resting.items()}

    @cached_property
    def suspended(self) -> dict[str, tuple[str, ...]]:
        """Parts that conclude nothing, and the assumptions of theirs that were found to fail."""
        words = {
            name: dict.fromkeys(w for c in part.certificates for w in c.assumes if self._broken(w))
            for name, part in self.parts.items()
        }
        return {name: tuple(broken) for name, broken in words.items() if broken}

    @cached_property
    def conclusions(self) -> dict[str, str]:
        """For each part, what is identified up to which indeterminacy."""
        return {name: self._conclusion(name, part.identifies) for name, part in self.parts.items()}

    def _conclusion(self, name: str, sentence: str) -> str:
        if name not in self.suspended:
            return sentence
        return f"Nothing, since this was found to fail: {'; '.join(self.suspended[name])}. Else: {sentence}"

    @property
    def titled(self) -> tuple[tuple[str, str], ...]:
        """The conclusions, each with the title of its part."""
        return tuple((TITLES[name], sentence) for name, sentence in self.conclusions.items())

    @property
    def identifies(self) -> str:
        """What is identified, up to what: a sentence for each part, by its title where there are several."""
        if len(self.parts) == 1:
            return next(iter(self.conclusions.values()))
        return " ".join(f"{title}: {sentence}" for title, sentence in self.titled)

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """What would have to hold for more, each once."""
        return tuple(dict.fromkeys(wish for part in self.parts.values() for wish in part.missing))

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why, part by part."""
        return tuple(reason for part in self.parts.values() for reason in part.reasons)

    @cached_property
    def latents(self) -> tuple[dict[str, Any], ...]:
        """For each latent, what each part that speaks about single latents says of it."""
        columns = {name: told for name, part in self.parts.items() if (told := _told(name, part)) is not None}
        columns |= {name: ["suspended"] * len(columns[name]) for name in self.suspended if name in columns}
        n = max(map(len, columns.values()), default=0)
        return tuple(
            {"latent": j} | {name: told[j] for name, told in columns.items() if j < len(told)}
            for j in range(n)
        )

    def __bool__(self) -> bool:
        standing = [name for name in _CONCLUSIVE if name in self.parts and name not in self.suspended]
        return any(self.parts[name] and not _trivial(self.parts[name]) for name in standing)

    def __contains__(self, words: str) -> bool:
        return words in str(self)

    def __str__(self) -> str:
        if len(self.parts) == 1:
            return str(next(iter(self.parts.values())))
        short = [f"- {title}: {sentence}" for title, sentence in self.titled]
        more = [f"- {wish.rstrip('.')}." for wish in self.missing]
        ending = [*(["For more:", *more] if more else []), assumed(self.assumed)]
        sections = [self._section(name) for name in self.parts]
        given = "\n".join([IF_RIGHT, *short])
        return "\n\n".join(filter(None, [given, *sections, "\n".join(ending)]))

    def _section(self, name: str) -> str:
        lines = self.lines(name)
        return "\n".join([TITLES[name], *(f"- {line}" for line in lines)]) if lines else ""

    def lines(self, name: str) -> tuple[str, ...]:
        """Return what a part says: its reasons unless it is suspended, then conditions, nothing twice."""
        part = self.parts[name]
        verdicts = tuple(with_margin(certificate) for certificate in self.conditions[name])
        if name in self.suspended:
            return verdicts
        said = [f"{reason.rstrip('.')}." for reason in part.reasons]
        new = [reason for reason in said if not any(reason[:-1] in verdict for verdict in verdicts)]
        return (*([headline(part)] if name == "structure" else []), *new, *verdicts)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return told(str(self), bool(self))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON: with a structure the fields of `certify`, and more."""
        structure = self.parts.get("structure")
        others = {name: part for name, part in self.parts.items() if name != "structure"}
        told = ("conclusions", "latents", "conditions", "assumed", "suspended")
        own = attributes(self, "identifies", "missing") | {"holds": bool(self)} | attributes(self, *told)
        first = attributes(self, "reasons", "certificates") if structure is None else structure.to_dict()
        return first | own | {"parts": plain(others)}

    def to_html(
        self,
        title: str = "What would be identified, and why",
        *,
        trust: Any = None,
        description: Any = None,
    ) -> str:
        """Return one self-contained page, every string escaped.

        A verdict on the fit comes first, and what each latent stands for after it.
        """
        pages = import_module("unmix.report._answers")  # above this room: asked for only here
        given = {"if_right": IF_RIGHT, "trust": trust, "description": description}
        return pages.explanation_page(self, TITLES, title, **given)


def _trivial(part: Any) -> bool:
    """Say whether there is nothing to tell apart: one slot holds everything."""
    return len(getattr(part, "partition", (0, 1))) == 1


def _told(name: str, part: Any) -> list[Any] | None:
    """Return what a part says of each latent, or None if it says nothing of single latents."""
    if name in ("structure", "domains"):
        return list(part.levels)
    if name in ("refits", "resampling"):
        return [round(share, 6) for share in part.support]
    if name == "mixture":
        return ["alone" if j in part.alone else part.level for j in range(len(part.may_depend))]
    return None
