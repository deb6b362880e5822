"""What a report is made of: everything that was given, and what follows from it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._findings import Findings, ability
from .._fitted import Fitted, spread_of, thinned, without_names
from ._data import Data, data_of
from ._graph import checked_graph
from ._mixture import mixture_certificate

MAX_SAMPLES = 2000  # for pictures; scores use all samples


@dataclass(frozen=True, eq=False)
class Material:
    """The parts of a report; a part that is unknown is None."""

    fitted: Fitted  # the model beside some rows of the data
    data: Data
    explanation: Any
    evaluation: Any
    matching: Any
    graph: np.ndarray | None = None
    trust: Any = None
    unjudged: str = ""  # why there is no verdict
    codes: np.ndarray | None = None  # of all rows
    groups: Any = None  # of observed variables

    @property
    def model(self) -> Any:
        """The model, None where there is none."""
        return self.fitted.model

    @property
    def findings(self) -> Findings:
        """What the model found."""
        return self.fitted.findings

    @property
    def certificate(self) -> Any:
        """What the structure identifies."""
        return None if self.explanation is None else self.explanation.parts.get("structure")

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
        structure = self.findings.structure
        return [] if structure is None else np.flatnonzero(~structure.support.any(0)).tolist()

    @property
    def observed_names(self) -> tuple[str, ...] | None:
        """The names of the observed variables: the model's own, or those of the data."""
        known = self.findings.feature_names_in
        names = self.data.names if known is None else known
        if names is None or (self.data.x is not None and len(names) != self.data.x.shape[1]):
            return None
        return tuple(map(str, names))

    @property
    def mcc(self) -> Any:
        """The score that most readers look for."""
        return None if self.evaluation is None else self.evaluation.get("mcc")

    @property
    def identifying(self) -> bool:
        """Whether a score may count as evidence at all: the structure is sparser than a triangular one."""
        return self.certificate is None or bool(self.certificate.sparser_than_triangular)

    @cached_property
    def spread(self) -> np.ndarray:
        """The standard deviation of each observed variable."""
        return spread_of(self.data.x)

    @cached_property
    def description(self) -> Any:
        """What each latent stands for, in the names that the data bring."""
        from ..description import Observed, described

        if self.codes is None or self.fitted.loadings is None:
            return None
        data = self.data
        table = Observed(data.rows, self.observed_names, data.metadata, data.ids)
        return described(self.fitted, table, self.codes, groups=self.groups)

    @cached_property
    def strength(self) -> np.ndarray | None:
        """E|J_ij| times the spread of latent j, divided by the maximum of row i; shape (x, z)."""
        fitted = self.fitted
        own = self.certificate is not None and self.structure == self.findings.structure
        if not own or fitted.jacobians is None or fitted.codes is None:
            return None
        size = np.abs(fitted.jacobians).mean(0) * fitted.codes.std(0)
        largest = size.max(1, keepdims=True)
        return size / np.where(largest > 0, largest, 1.0)


def gather(
    model: Any,
    *,
    data: Any,
    evaluation: Any = None,
    certificate: Any = None,
    graph: Any = None,
    trust: Any = "none",
    domains: Any = None,
    metadata: Any = None,
    ids: Any = None,
    groups: Any = None,
) -> Material:
    """Collect what was given, and work out the verdict, the certificate, the codes and the scores."""
    from ..metrics import match_components

    known = data_of(data, metadata, ids, model=model)
    judged, unjudged = _judged(trust, model, known, domains)
    asked = None if known.rows is None else ability(model, "transform")
    with without_names():
        z_hat = None if asked is None else np.asarray(asked(known.rows))
    few = None if known.rows is None else thinned(known.rows, MAX_SAMPLES)
    codes = None if z_hat is None else thinned(z_hat, MAX_SAMPLES)
    spreads = None if z_hat is None else (spread_of(known.x), spread_of(z_hat))  # of all rows
    fitted = Fitted(model, few, codes=codes, most=MAX_SAMPLES, spreads=spreads)
    edges = checked_graph(graph, fitted.findings.structure)
    return Material(
        fitted,
        known,
        explanation=_explanation(fitted, certificate),
        evaluation=_evaluation(evaluation, known, z_hat),
        matching=None if known.z is None or z_hat is None else match_components(known.z, z_hat),
        graph=edges,
        trust=judged,
        unjudged=unjudged,
        codes=z_hat,
        groups=groups,
    )


def _judged(trust: Any, model: Any, data: Data, domains: Any) -> tuple[Any, str]:
    """Return the verdict that was given or that an effort finds, or None and why there is none."""
    if not isinstance(trust, str):
        return trust, ""
    if model is None or data.rows is None:
        return None, "No data were given, so nothing could be checked."
    from ..evidence import verdict_or_reason

    labels = data.domains if domains is None else domains
    return verdict_or_reason(model, data.rows, domains=labels, effort=trust)


def _explanation(fitted: Fitted, certificate: Any) -> Any:
    """Explain the model with its data, or what was given where that is about another structure."""
    from ..theory import Explanation, MixtureCertificate
    from ..theory.explanation import Facts, explained

    findings = fitted.findings
    if isinstance(certificate, Explanation):
        return certificate
    if isinstance(certificate, MixtureCertificate):
        return Explanation({"mixture": certificate})
    if certificate is None and findings.degenerate is not None:
        found = mixture_certificate(findings)
        return None if found is None else Explanation({"mixture": found})
    structure = findings.structure
    if certificate is not None and (certificate.structure != structure or fitted.x is None):
        return Explanation({"structure": certificate})
    if structure is None:
        return None
    independent = certificate is not None and certificate.independent_latents
    used = bool(structure.support.any(0).all())
    domains = findings.domains.n_domains if findings.domains is not None and used else None
    return explained(fitted, Facts(independent_latents=independent, domains=domains))


def _evaluation(evaluation: Any, data: Data, z_hat: np.ndarray | None) -> Any:
    """Return the scores, measured here when none were given or when raw x is missing beside them."""
    from ..metrics import evaluate

    complete = evaluation is not None and all(evaluation[name].raw is not None for name in evaluation)
    if complete or data.z is None or z_hat is None:
        return evaluation
    metrics = ("mcc", "r2") if evaluation is None else tuple(evaluation)
    return evaluate(data.z, z_hat, metrics=metrics, x=data.x, random_state=0)
