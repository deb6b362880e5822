"""What a report is made of: everything that was given, and what follows from it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ._graph import checked_graph, graph_words
from ._mixture import is_mixture, mixture_certificate, pattern_sentence

MAX_SAMPLES = 2000  # for pictures; scores use all samples


@dataclass(frozen=True)
class Material:
    """The parts of a report; a part that is unknown is None."""

    model: Any
    few: Any  # some rows of the data, as the model wants them (a data frame stays one)
    x: np.ndarray | None
    z: np.ndarray | None
    true_structure: Any
    description: str
    observed_names: tuple[str, ...] | None
    certificate: Any
    explanation: Any
    evaluation: Any
    matching: Any
    strength: np.ndarray | None
    explained: float | None
    patterns: str = ""  # how well the activity of latents was found
    graph: np.ndarray | None = None
    graph_words: dict[str, Any] | None = None

    @property
    def structure(self) -> Any:
        """The structure that the certificate is about."""
        return None if self.certificate is None else self.certificate.structure

    @property
    def mixture(self) -> Any:
        """What the components of the latents identify."""
        return None if self.explanation is None else self.explanation.parts.get("mixture")

    @property
    def unused(self) -> list[int]:
        """The latents of the model that reach no observed variable; such a structure has no certificate."""
        structure = getattr(self.model, "structure_", None)
        return [] if structure is None else np.flatnonzero(~structure.support.any(0)).tolist()

    @property
    def mcc(self) -> Any:
        """The score that the verdict rests on."""
        return None if self.evaluation is None else self.evaluation.get("mcc")

    @property
    def identifying(self) -> bool:
        """Whether a score may count as evidence at all: the structure is sparser than a triangular one."""
        return self.certificate is None or bool(self.certificate.sparser_than_triangular)


def gather(model: Any, data: Any, evaluation: Any, certificate: Any, graph: Any = None) -> Material:
    """Collect what was given, and work out the certificate, the codes and the scores where possible."""
    from ..metrics import match_components

    x, z = _data(data)
    graph = checked_graph(graph, model)
    rows = data.x if hasattr(data, "z") else data
    few = None if model is None or x is None else rows[:: -(-len(x) // MAX_SAMPLES)]
    explanation = _explanation(model, few, certificate)
    certificate = None if explanation is None else explanation.parts.get("structure")
    z_hat = None if model is None or z is None else np.asarray(model.transform(rows))
    matching = None if z is None or z_hat is None else match_components(z, z_hat)
    return Material(
        model=model,
        few=few,
        x=x,
        z=z,
        true_structure=getattr(data, "structure", None),
        description=str(getattr(data, "description", "") or ""),
        observed_names=_names(model, data, x),
        certificate=certificate,
        explanation=explanation,
        evaluation=_evaluation(evaluation, x, z, z_hat),
        matching=matching,
        strength=_strength(model, few, certificate),
        explained=_explained(model, few),
        patterns=pattern_sentence(model, data, rows),
        graph=graph,
        graph_words=graph_words(graph, data, matching),
    )


def _explanation(model: Any, few: Any, certificate: Any) -> Any:
    """Explain the model with its data, or what was given where that is about another structure."""
    from ..theory import Explanation, MixtureCertificate, explain

    if isinstance(certificate, Explanation):
        return certificate
    if isinstance(certificate, MixtureCertificate):
        return Explanation({"mixture": certificate})
    if certificate is None and is_mixture(model):
        found = mixture_certificate(model)
        return None if found is None else Explanation({"mixture": found})
    structure = getattr(model, "structure_", None)
    if certificate is not None and (certificate.structure != structure or few is None):
        return Explanation({"structure": certificate})
    if structure is None:
        return None
    independent = certificate is not None and certificate.independent_latents
    domains = getattr(model, "n_domains_", None) if structure.support.any(0).all() else None
    return explain(model=model, x=few, independent_latents=independent, domains=domains)


def _data(data: Any) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Split data into the observed part and, where it is known, the truth."""
    if data is None:
        return None, None
    z = getattr(data, "z", None)
    x = np.asarray(data.x if hasattr(data, "x") and hasattr(data, "z") else data)
    if x.ndim != 2:
        raise ValueError(f"`data` must be a LatentDataset or a matrix of samples, got shape {x.shape}.")
    return x, None if z is None else np.asarray(z)


def _names(model: Any, data: Any, x: np.ndarray | None) -> tuple[str, ...] | None:
    names = getattr(model, "feature_names_in_", None)
    names = getattr(data, "columns", None) if names is None else names
    if names is None or (x is not None and len(names) != x.shape[1]):
        return None
    return tuple(map(str, names))


def _evaluation(evaluation: Any, x: np.ndarray | None, z: np.ndarray | None, z_hat: np.ndarray | None) -> Any:
    """Return the scores, measured here when none were given or when raw x is missing beside them."""
    from ..metrics import evaluate

    complete = evaluation is not None and all(evaluation[name].raw is not None for name in evaluation)
    if complete or x is None or z is None or z_hat is None:
        return evaluation
    metrics = ("mcc", "r2") if evaluation is None else tuple(evaluation)
    return evaluate(z, z_hat, metrics=metrics, x=x, random_state=0)


def _strength(model: Any, x: Any, certificate: Any) -> np.ndarray | None:
    """Return E|J_ij| times the spread of latent j, divided by the maximum of row i; shape (x, z)."""
    own = certificate is not None and certificate.structure == getattr(model, "structure_", None)
    if x is None or not own or not hasattr(model, "jacobian"):
        return None
    spread = np.asarray(model.transform(x)).std(0)
    size = np.abs(np.asarray(model.jacobian(x))).mean(0) * spread
    largest = size.max(1, keepdims=True)
    return size / np.where(largest > 0, largest, 1.0)


def _explained(model: Any, x: Any) -> float | None:
    """Return the share of the variance of x that the model reconstructs."""
    if x is None or not hasattr(model, "inverse_transform"):
        return None
    left = np.asarray(x) - np.asarray(model.inverse_transform(model.transform(x)))
    total = float(np.asarray(x).var(0).sum())
    return 1.0 - float((left**2).mean(0).sum()) / total if total > 0 else None
