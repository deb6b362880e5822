"""What estimators that know the domain of each sample share."""

from abc import abstractmethod
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor, nn

from unmix.objectives import (
    KINDS,
    PRIORS,
    DomainEncoder,
    DomainGaussian,
    DomainObjective,
    Objective,
    Penalty,
    in_chunks,
)
from unmix.structure import Structure
from unmix.training import Pace, Trained

from ._domain_labels import Domains
from ._latent_estimator import Factory, LatentEstimator
from ._tables import plain, standardised, validated

OBJECTIVES = ("likelihood", "bound")
READS = ("auto", "components", "all")
EFFORTS = ("plain", "usual")
AUTO = "auto"


class DomainEstimator(LatentEstimator):
    """An encoder, a decoder, and a law of the code in each domain."""

    needs_domains = True
    max_steps: int
    # settings of those that have them, and what the others do
    encoder: Factory
    decoder: Factory
    objective: str = "bound"
    sees_domain: bool = True
    reads: str = "all"
    effort: str = "plain"
    reads_all_: bool
    correlated_: bool
    prior: str = "gaussian"
    n_shared: int = 0
    penalty: Penalty | None = None

    @abstractmethod
    def _train(self, x: Tensor, pace: Pace, u: Any = None) -> Trained:
        """Train on standardised data and the numbers of their domains, and return the best restart."""

    def fit(self, X: Any, y: Any = None, *, domains: Any = None) -> "DomainEstimator":
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            An array, data frame or tensor; columns are standardised inside.
        y : array-like of shape (n_samples,), optional
            The domains, where they come as the target of a scikit-learn tool.
        domains : array-like of shape (n_samples,), optional
            The domain of each sample, a label of any kind; numbers that are not whole are cut into at most 10
            intervals with equally many samples. It goes first where both are given. In a pipeline ask for it
            by ``set_fit_request(domains=True)``.

        Returns
        -------
        self
        """
        self._settle(X)
        _check_choices(self)
        checked = validate_data(self, plain(X), dtype=[np.float64, np.float32], ensure_min_samples=2)
        known, u = Domains.read(y if domains is None else domains, len(checked), self.n_components_ + 1)
        self.domain_text_, self.domain_cuts_ = known
        self.domain_shares_ = np.bincount(u) / len(u)
        self._fit(X, partial(self._train, u=torch.as_tensor(u)))
        codes = self._codes(validated(self, X), u)
        parts = [codes[u == domain] for domain in range(self.n_domains_)]
        self.domain_means_ = np.array([part.mean(0) for part in parts])
        self.domain_scales_ = np.array([part.std(0) for part in parts])
        return self

    def transform(self, X: Any, *, domains: Any = None) -> np.ndarray:
        """Return the latents of each sample, shape (n_samples, n_components).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        domains : array-like of shape (n_samples,), optional
            The domain of each sample. Only an encoder that sees the domain uses it: without it, and for
            domains it was not fitted on, a sample gets the code of the domain in which that code is
            likeliest.
        """
        check_is_fitted(self)
        values = validated(self, X)
        u = np.full(len(values), -1)
        if domains is not None:
            u = Domains(self.domain_text_, self.domain_cuts_).number(domains)
        if len(u) != len(values):
            raise ValueError(f"`domains` must have one label per sample, got {len(u)} for {len(values)}.")
        return self._codes(values, u).astype(values.dtype, copy=False)

    @property
    def domains_(self) -> np.ndarray:
        """The labels of the domains, in the order of `domain_means_`; numbers of intervals for a quantity."""
        return np.array(Domains(self.domain_text_, self.domain_cuts_).names)

    @property
    def n_domains_(self) -> int:
        """The number of domains; `unmix.theory.certify_domains(structure_, n_domains_)` plans with it."""
        return len(self.domain_shares_)

    @property
    def needed_domains_(self) -> np.ndarray:
        """With how many domains the learnt graph, if right, guarantees each latent, shape (n_components,)."""
        return needed_domains(self.structure_)

    @property
    def guaranteed_(self) -> np.ndarray:
        """Which latents are guaranteed if the learnt graph and the changes are right, shape (n_components,).

        That is a statement about a graph and a number of domains, each taken to change in a direction of its
        own, and not about this fit: it says yes for shuffled labels, too. `unmix.trust` says which latents
        are right, and `unmix.theory.certify_domains` how many domains a graph needs.
        """
        return self.structure_.support.any(0) & (self.needed_domains_ <= self.n_domains_)

    @property
    def separation_(self) -> np.ndarray:
        """How differently any two latents change, shape (n_components, n_components); 0 on the diagonal.

        The standard deviation over domains of log(s_i / s_j), with s the `domain_scales_`. Where it is near
        0, two latents could be rotated into each other and stay uncorrelated in every domain: only a mixing
        that is sparse and bends tells them apart.
        """
        return np.log(self.domain_scales_[:, :, None] / self.domain_scales_[:, None, :]).std(0)

    def _codes(self, values: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return codes, with the domains where they are known and the encoder sees them."""
        x, encoder, n = standardised(self, values), self.encoder_, self.n_components_
        z = in_chunks(self._objective_.encode, x).numpy()
        known = torch.as_tensor(np.flatnonzero(u >= 0))
        if isinstance(encoder, DomainEncoder) and len(known):
            with torch.no_grad():
                z[known] = encoder.given(x[known], torch.as_tensor(u)[known])[:, :n].numpy()
        return z

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _law(self) -> DomainGaussian:
        found = "correlated" if getattr(self, "correlated_", False) else "gaussian"  # unknown to older files
        law = found if self.prior == AUTO else self.prior
        return KINDS[law](self.domain_shares_, self.n_components_, self.n_shared)

    def _networks(self, n_features: int) -> Objective:
        n = self.n_components_
        if self._reads_x:
            return self._members(n_features)
        encoder = nn.Sequential(nn.Linear(n_features, n, bias=False), self.encoder(n, n))
        return Objective(encoder, self.decoder(n, n_features), n)

    @property
    def _reads_x(self) -> bool:
        """Whether the encoder sees all of x, and not the leading principal components alone."""
        return self.objective == "bound" or getattr(self, "reads_all_", False)  # unknown to older files

    def _members(self, n_features: int) -> DomainObjective:
        """Build what is trained: for the likelihood, mostly an encoder of leading principal components."""
        n, prior, bound = self.n_components_, self._law(), self.objective == "bound"
        more = self.n_domains_ if self.sees_domain else 0
        encoder = self.encoder((n_features if self._reads_x else n) + more, 2 * n if bound else n)
        if self.sees_domain:
            encoder = DomainEncoder(encoder, prior, n)
        kind = {"variational": bound, "on_surface": self._reads_x and not bound}
        return DomainObjective(encoder, self.decoder(n, n_features), n, prior, **kind, penalty=self.penalty)

    def _remember(self, trained: Trained, x: Tensor, part: ModuleType) -> None:
        """Look at samples of all domains, in whatever order they come."""
        order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
        super()._remember(trained, x[order.to(x.device)], part)
        self.n_iter_ = self._passes(len(x))


def needed_domains(structure: Structure) -> np.ndarray:
    """Count the domains with which a graph guarantees each latent: 1, or 2b + 1 for b with the same children.

    Sparse mixing and independence in each domain fix a latent whose set of children is its own; b latents
    with one set of children need domains that change in 2b directions.

    Examples
    --------
    >>> needed_domains(Structure([[1, 1, 0], [1, 1, 1]])).tolist()
    [5, 5, 1]

    References
    ----------
    Li et al. (2025), Synergy Between Sufficient Changes and Sparse Mixing Procedure, Theorems 1 and 2, with
    the block in place of the subspace, arXiv:2503.00639.
    """
    contained = structure.contained()
    same = (contained & contained.T).sum(1)
    return np.where(same == 1, 1, 2 * same + 1)


def _check_choices(estimator: DomainEstimator) -> None:
    known = {"prior": (AUTO, *PRIORS), "objective": OBJECTIVES, "reads": READS, "effort": EFFORTS}
    for name, choices in known.items():
        if getattr(estimator, name) not in choices:
            raise ValueError(
                f"`{name}` must be one of {choices}, got {getattr(estimator, name)!r}. Choose one of these."
            )
    steps = estimator.max_steps
    if not isinstance(steps, int | np.integer) or steps < 1:
        raise ValueError(f"`max_steps` must be an integer of at least 1, got {steps!r}.")
    n_shared, n = estimator.n_shared, estimator.n_components_
    if not isinstance(n_shared, int | np.integer) or (n_shared and not 0 <= n_shared < n):
        raise ValueError(
            f"`n_shared` must be an integer from 0 to n_components - 1 = {n - 1}, got {n_shared!r}. "
            "Some latents must change for domains to tell anything."
        )
    if estimator.sees_domain and estimator.objective != "bound":
        raise ValueError(
            "`sees_domain` must be False for the likelihood, got True: its code is a function of x alone. "
            "Use objective='bound'."
        )
