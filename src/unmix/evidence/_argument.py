"""Why a latent could be right at all: the kind of argument behind each estimator, and its links."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from unmix._findings import findings_of

from . import _dictionary, _domains, _linear, _mixtures, _slots, _sparse
from ._case import Case
from ._link import Link, link

STABLE: dict[
    str, tuple[str, ...]
] = {  # what the same search finds again: from other rows, other seeds, and with room for one more
    "comes back": (
        "comes back from one half",
        "comes back from the other half",
        "comes back with one latent more",
        "comes back beside one component more",
        "survives one latent more",
        "stays with one latent more",
        "stays beside one latent more",
    )
}
SPARSE_PARTS: dict[str, tuple[str, ...]] = {
    "the coordinates": ("zeros beyond generic ones", "independence", "coordinates of the others")
}
Units = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Argument:
    """An argument for identification.

    Attributes
    ----------
    kind : str
    theorem : str
        By which latents of such data are identified.
    up_to : str
        What no data can tell.
    links : callable from a case to its links
        What must hold for the theorem to speak about this fit.
    parts : mapping of str to tuple of str
        Parts of the chain whose links are evidence for one and the same thing, and add up. Every other link
        is a part by itself.
    enough : {"none", "quick", "full"}
        The least effort at which a unit can be trusted: below it, what was not measured may as well fail.
    """

    kind: str
    theorem: str
    up_to: str
    links: Callable[[Case], Iterator[Link]]
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: STABLE)
    enough: str = "quick"

    def part(self, name: str) -> str:
        """Return the part of the chain that a link belongs to."""
        return next((part for part, names in self.parts.items() if name in names), name)


# what a theorem would need, where one is near
_TURNED = (
    "and independent codes are no theorem: other independent codes fit any data as well "
    "(Hyvärinen and Pajunen, 1999)"
)
_CHOSEN = "and few values for each latent are a preference: no theorem says that these are the true ones"
_MISSING = {
    "FactorVAE": _TURNED,
    "BetaTCVAE": _TURNED,
    "BioAE": "and small non-negative codes are known to come apart for linear maps only "
    "(Whittington et al., 2023)",
    "QLAE": _CHOSEN,
    "VQVAE": _CHOSEN,
    "EncDiff": "and no theorem says that the scalars a diffusion model is told are the factors",
    "DisCo": "and no theorem says that directions which an encoder tells apart are the factors",
    "GAN": "and no theorem singles its latents out: a rotation of normal ones makes the same images",
    "CGGAN": "and no theorem speaks about this fit: changes and sparsity identify latents (Li et al., 2025) "
    "of a model that fits the law of the data, which a game between two networks does not show",
    "Pipeline": "and no theorem speaks of its steps together; ask about the last one, and what reaches it",
    "VaDE": "and a mixture of Gaussians of full rank tells latents up to an affine map (Kivva et al., 2022); "
    "that components lie along its axes is assumed, and no data show it",
}


def no_argument(case: Case) -> Iterator[Link]:
    """Say that nothing identifies the latents of a model that only fits."""
    method = case.findings.method
    why = f"{method} fits x, {_MISSING.get(method, 'and a rotation of its latents fits as well')}"
    yield link("a theorem", 0.0, 0.0, -3.0, [why] * case.codes.shape[1])


FUNCTION = "order, and an invertible function of each"
LINEAR = "order, sign, scale and shift"
NONE = Argument("none", "no theorem", "any invertible map", no_argument)
SPARSE = Argument(
    "sparse", "diverse dictionary learning, Theorem 1", FUNCTION, _sparse.links, STABLE | SPARSE_PARTS
)
MIXTURE = Argument("mixture", "pdGMM, Theorem 3.9", LINEAR, _mixtures.links)
BASIS = Argument("mixture", "pdGMM, Theorem 3.9", LINEAR, _mixtures.basis_links)
DOMAINS = Argument("domains", "sufficient changes and sparse mixing, Theorem 1", FUNCTION, _domains.links)
SLOTS = Argument(
    "slots", "mechanistic independence, type D", "order, and a map within each slot", _slots.links
)
INDEPENDENT = Argument(
    "linear", "independent component analysis, Comon (1994)", LINEAR, _linear.links, enough="none"
)
DICTIONARY = Argument(
    "dictionary",
    "what planted dictionaries show: bounds of theorems (Garfinkle, Hillar, 2019) are vacuous at usual sizes",
    "order and scale, where features do not always come together",
    _dictionary.links,
)

ARGUMENTS = {
    "DiverseDictionaryLearning": SPARSE,
    "PDGMM": MIXTURE,
    "SparseBasis": BASIS,
    "LabelledSparseAutoencoder": MIXTURE,
    "CGVAE": DOMAINS,
    "IVAE": DOMAINS,
    "SlotAutoencoder": SLOTS,
    "FastICA": INDEPENDENT,
    "SparseAutoencoder": DICTIONARY,
}

ARGUMENTS_BY_KIND = {
    each.kind: each for each in (NONE, SPARSE, MIXTURE, DOMAINS, SLOTS, INDEPENDENT, DICTIONARY)
}


def argument_for(model: Any) -> Argument:
    """Return the argument behind a model; a class that is not listed has none, like a plain autoencoder."""
    return ARGUMENTS.get(type(model).__name__, NONE)


def units_of(model: Any, n_latents: int) -> Units:
    """Return what is judged together: slots where there are some, otherwise each latent."""
    slots = findings_of(model).slots
    if slots is None:
        return tuple((j,) for j in range(n_latents))
    return tuple(tuple(slot) for slot in slots.partition)
