"""CG-VAE: latents that change between domains, behind a sparse mixing."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, final

import numpy as np
import torch
from torch import Tensor, nn

from unmix._waiting import stages
from unmix.nn import jacobian, residual_mlp
from unmix.objectives import DomainCorrelated, DomainObjective, Penalty, beside_tangents
from unmix.penalties import dependency_sparsity
from unmix.solvers.coordinates import has_linear_coordinates, is_bent, principal
from unmix.solvers.domains import can_start, hops, linear_starts, rebase_domains, start_at_basis
from unmix.structure import Structure
from unmix.training import Ensemble, Noise, Pace, Trained, joined, side_by_side, train_restarts

from ._bent_starts import surface
from ._domain_estimator import AUTO, DomainEstimator
from ._effort import FEW_ROWS, LONG, is_residual
from ._latent_estimator import Factory, build

default_penalty = partial(dependency_sparsity, form="log", normalize="std")
network = partial(residual_mlp, hidden=(64, 64), activation="silu")
Data = tuple[Tensor, ...]  # what the objective sees, the observations, the numbers of the domains
_BENT = 0.03  # share of the variance that principal components leave, from which the encoder sees all of x
_AUTOENCODER = 800  # updates
_ORTHOGONAL = 10  # learning rate of matrices that move by orthogonal steps, in that of the others
_KNEE = 0.1  # of the default penalty
_FIRST = 0.3  # share of the training that starts get, before the best one looks for other coordinates
_FURTHER = 0.35  # of the passes: what a fit is trained for after them, with latents that may be correlated
_TOLD_BY = 5  # domains: any covariances of three have latents of the same correlations, and four hardly tell
_DEPENDENT = 0.15  # mean size of the correlations of latents that are said to depend on each other
_CONTAINED = 0.1  # of the pairs of such latents: so many may have children in each other's
_POINTS = 500  # at which the graph is read


@final
class CGVAE(DomainEstimator):
    """Latents whose laws change between domains, observed through a sparse mixing that does not.

    Changes alone identify n latents with 2n + 1 domains; a sparse mixing tells most of them apart with fewer.
    The objective is

        ||x - decoder(z)||^2 + beta fit + weight penalty(decoder, z)

    with x standardised. By default `fit` is minus the exact log-likelihood of the leading principal
    components w of x, -log p(z|u) - log |det dz/dw| with z = encoder(w), coordinates of z independent given
    the domain u; the decoder gives back all of x. Where these components lose latents, the encoder sees all
    of x, whose likelihood is taken on the surface on which it lies (`reads`). The penalty is the logarithmic
    form of the L1 norm of the decoder's Jacobian, every latent at unit variance. `weight=0` leaves the
    changes alone (CG-VAE without sparse mixing); sparsity alone, without domains, is
    `DiverseDictionaryLearning`.

    Training is in two steps. Restarts begin at linear models: the joint diagonaliser of the domains'
    covariance matrices (with two domains, the generalised eigenproblem) and sparser ones at several prices.
    They are trained as one batch, and early on each may move to the linear coordinates in which its own code
    costs least. The best one then goes on beside copies of itself, in the coordinates that sparsity asks for
    at higher prices, and in some where two latents are replaced so that an observed variable no longer reacts
    to one of them: what looks most independent in a code that is half learnt need not be the truth. The one
    with the lowest objective is kept. Last, it is asked whether latents depend on each other within domains
    (`prior`). Ground truth takes no part.

    Parameters
    ----------
    n_components : int or "auto"
        Number of latents; "auto" looks for where those of a table end, see `unmix.choose`.
    penalty : callable (decoder, z) -> scalar
        Sparse mixing, see `unmix.penalties`: forward differences and the group form are options of
        `dependency_sparsity`; with `decoder=unmix.nn.gated_mlp`, `edge_count` counts gates.
    weight : float or callable
        Weight of the penalty, or a schedule such as `unmix.training.warm_up`. Small on purpose: the
        likelihood should decide, and sparsity among codes that fit alike.
    beta : float
        Weight of the fit.
    prior : {"auto", "gaussian", "correlated", "sigmoidal", "spline"}
        Law of each latent in a domain: a normal one, or a deep sigmoidal flow or rational-quadratic spline
        (extra `flows`) of it. "correlated": normal latents that depend on each other, with correlations that
        are the same in all domains. "auto": normal and independent; with five domains and more, where
        matrices move by orthogonal steps (`effort`), training then goes on for a third of the passes with
        correlated latents. They are kept if their correlations are .15 and more on average, a tenth of the
        pairs at most have children that lie in each other's, and the objective is lower. With three domains
        such a law fits any covariance matrices.
    n_shared : int
        Number of latents, the last ones, with one law in all domains (partial identifiability).
    objective : {"likelihood", "bound"}
        "bound": the evidence lower bound with a sampled code, as published.
    sees_domain : bool
        Whether the encoder is told the domain; with the bound only.
    reads : {"auto", "components", "all"}
        What the encoder sees, with the likelihood: the leading principal components, as many as latents, or
        all of x. Behind mixings that bend much those components no longer tell the latents. Rows of x lie on
        a surface; an autoencoder without sparsity tells its tangent spaces, and the determinant is that of
        dz/dx within them. "auto": all, where components leave more than 3% of the variance of more than 2,000
        rows, smooth functions of them tell some of it, and `max_iter` is at least 100.
    encoder, decoder : callable (n_in, n_out) -> Module
        Network factories. Informed starts need a linear skip, as `unmix.nn.residual_mlp` has.
    effort : {"plain", "usual"}
        "usual": matrices of residual networks move by orthogonal steps, with fewer latents than variables,
        more than 2,000 rows and `max_iter` of at least 100, or where all of x is read; for 1.3 times the
        time. "plain": by Adam's steps, and "auto" reads the components, as in the first version. The bound is
        always so.
    n_restarts : int
        Number of starts; with one, other coordinates are not looked for.
    max_iter, max_steps : int
        Passes over the data, and updates; training ends with the first that is reached (and a whole pass).
    batch_size, lr, device, checkpoint, verbose, random_state
        As for `Autoencoder`.

    Attributes
    ----------
    domains_ : array of shape (n_domains_,)
        Labels.
    n_domains_ : int
        `unmix.trust(model, X, domains=...)` says which latents can be trusted;
        `unmix.theory.certify_domains(model.structure_, model.n_domains_)` for which of them so many domains
        would be enough if the graph is right, and how many more the others would need.
    domain_means_, domain_scales_ : arrays of shape (n_domains_, n_components)
        Of the code in each domain.
    reads_all_, correlated_ : bool
        Whether the encoder sees all of x, and whether latents depend on each other within domains.
    separation_ : array of shape (n_components, n_components)
        How differently any two latents change; near 0, changes can't tell the two apart.
    encoder_, decoder_, structure_, history_, restarts_, latent_scale_, n_iter_, n_features_in_
        As for `Autoencoder`; `structure_` is the learnt mixing graph, and the best start is listed in
        `restarts_` with what it and its copies came to.

    Examples
    --------
    >>> from unmix.data import multi_domain
    >>> data = multi_domain(1000, n_latents=3, mixing="linear", n_domains=3, random_state=0)
    >>> model = CGVAE(3, max_iter=5, n_restarts=1, random_state=0).fit(data.x, domains=data.u)
    >>> model.n_domains_, model.structure_.shape, model.transform(data.x).shape
    (3, (6, 3), (1000, 3))

    References
    ----------
    Li et al. (2025), Synergy Between Sufficient Changes and Sparse Mixing Procedure, Equations 8 and 9 and
    Theorems 1 and 2, arXiv:2503.00639, of which only a summary was at hand. The likelihood and the starts
    are ours. Kong et al. (2022), Partial disentanglement for domain adaptation (`n_shared`). Jordan et al.
    (2024), Muon (orthogonal steps).
    """

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        penalty: Penalty = default_penalty,
        weight: float | Callable[[int], float] = 0.002,
        beta: float = 0.03,
        prior: str = AUTO,
        n_shared: int = 0,
        objective: str = "likelihood",
        sees_domain: bool = False,
        reads: str = "auto",
        encoder: Factory = network,
        decoder: Factory = network,
        effort: str = "usual",
        n_restarts: int = 8,
        max_iter: int = 100,
        max_steps: int = 4000,
        batch_size: int = 200,
        lr: float = 2e-3,
        device: str = "auto",
        checkpoint: Any = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.penalty = penalty
        self.weight = weight
        self.beta = beta
        self.prior = prior
        self.n_shared = n_shared
        self.objective = objective
        self.sees_domain = sees_domain
        self.reads = reads
        self.encoder = encoder
        self.decoder = decoder
        self.effort = effort
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.max_steps = max_steps
        self.batch_size = batch_size
        self.lr = lr
        self.device = device
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def _train(self, x: Tensor, pace: Pace, u: Any = None) -> Trained:
        pace = self._paced(x, replace(pace, max_iter=self._passes(len(x))))
        generator = torch.Generator().manual_seed(pace.seed)
        order = torch.randperm(len(x), generator=generator).to(x.device)  # restarts are judged on all domains
        x, u = x[order], u.to(x.device, torch.int32)[order]
        loadings = principal(x, self.n_components_)
        to_white = torch.linalg.pinv(loadings)
        seen = self._view(x, to_white, pace)
        members = build(self._members, self.n_restarts, x, pace.seed)
        data = side_by_side(seen, x, u)
        self._start(members, data, loadings, generator)
        asked = self._may_depend(members[0], x, pace)
        before, after = stages([1, _FURTHER * asked])
        with before:
            trained = self._searched(members, data, pace, generator)
        if asked:
            with after:
                trained = self._related(trained, data, pace, generator)
        if not self._reads_x:
            front = nn.utils.skip_init(nn.Linear, *loadings.shape, bias=False).to(x).requires_grad_(False)
            front.weight.copy_(to_white)
            trained.objective.encoder = nn.Sequential(front, trained.objective.encoder)
        return trained

    def _paced(self, x: Tensor, pace: Pace) -> Pace:
        """Decide whether the encoder sees all of x, and whether matrices move by orthogonal steps."""
        bound, usual = self.objective == "bound", self.effort == "usual"
        self.correlated_ = self.prior == "correlated"
        long, wide = usual and len(x) > FEW_ROWS and self.max_iter >= LONG, self.n_components_ < x.shape[1]
        auto = self.reads == "auto" and long and is_bent(x, self.n_components_, _BENT)
        self.reads_all_ = bound or ((auto or self.reads == "all") and wide)
        residual = is_residual(self.encoder) and is_residual(self.decoder)
        if usual and residual and not bound and ((long and wide) or self.reads_all_):
            return replace(pace, matrix_lr=_ORTHOGONAL * pace.lr)
        return pace

    def _view(self, x: Tensor, to_white: Tensor, pace: Pace) -> Tensor:
        """Return what the objective sees: x, x beside its tangent spaces, or the principal components."""
        if not self.reads_all_:
            return x @ to_white.T
        if self.objective == "bound":
            return x
        return beside_tangents(x, surface(x, self.n_components_, pace, n_steps=_AUTOENCODER))

    def _start(
        self, members: list[DomainObjective], data: Data, loadings: Tensor, generator: torch.Generator
    ) -> None:
        """Start at linear models where networks allow, and the laws at what their codes look like."""
        seen, x, u = data
        to_white = torch.linalg.pinv(loadings)
        if can_start(members[0]):
            correlated = self.prior == "correlated"
            bases = linear_starts(x @ to_white.T, u, loadings, len(members), generator, correlated=correlated)
            inwards = to_white if self._reads_x else torch.eye(len(to_white)).to(x)
            for member, basis in zip(members, bases, strict=True):
                ordered = _changing_first(basis, x @ to_white.T, u) if self.n_shared else basis
                start_at_basis(member, ordered, inwards, loadings)
        with torch.no_grad():
            for member in members:
                member.prior.start(member.encode(seen, u), u)

    def _may_depend(self, member: DomainObjective, x: Tensor, pace: Pace) -> bool:
        """Whether it is asked if latents depend on each other: where that can be told, in fits that last."""
        lasts = pace.matrix_lr is not None and self.max_iter >= LONG and len(x) > FEW_ROWS
        asked = self.prior == AUTO and lasts
        told = self.n_domains_ >= _TOLD_BY and self.n_components_ > 1 and not self.n_shared
        return asked and told and not callable(self.weight) and has_linear_coordinates(member)

    def _related(self, trained: Trained, data: Data, pace: Pace, generator: torch.Generator) -> Trained:
        """Go on with latents that may depend on each other, and keep that where they clearly do."""
        self.correlated_ = True
        (member,) = build(self._members, 1, data[1], pace.seed)
        for net in ("encoder", "decoder"):
            getattr(member, net).load_state_dict(getattr(trained.objective, net).state_dict())
        ensemble = Ensemble([member], {})
        rebase_domains(ensemble, data, generator, data=data, prices=self._price())
        further = _part(pace, max(1, round(_FURTHER * pace.max_iter)), "related")
        other = self._trainer(data)([ensemble.extract(0)], pace=further)
        self.correlated_ = _clearly_depend(other.objective, data) and min(other.scores) < min(trained.scores)
        return _going_on(trained, other) if self.correlated_ else trained

    def _trainer(self, data: Data) -> Callable[..., Trained]:
        """Return `train_restarts` with the terms and the data of this fit."""
        weights: dict[str, Any] = {"likelihood": self.beta, "penalty": self.weight}
        return partial(train_restarts, weights=weights, data=data, beside=Noise(self.n_components_))

    def _price(self) -> float:
        """Return what an edge costs in units of the likelihood."""
        return _KNEE * float(self.weight) / self.beta  # type: ignore[arg-type]

    def _searched(
        self, members: list[DomainObjective], data: Data, pace: Pace, generator: torch.Generator
    ) -> Trained:
        """Train the starts; then the best of them beside its copies in other coordinates."""
        train = self._trainer(data)
        if not has_linear_coordinates(members[0]) or self.n_shared or callable(self.weight):
            return train(members, pace=pace)
        price = self._price()
        improve = partial(rebase_domains, data=data, prices=price)
        if not price or pace.max_iter < 2 or len(members) == 1:
            return train(members, pace=pace, improve=improve)
        n_first = max(1, round(_FIRST * pace.max_iter))
        n_last = pace.max_iter - n_first
        before, after = stages([n_first, n_last])
        with before:
            first = train(members, pace=_part(pace, n_first, "starts"), improve=improve)
        others = hops(first.objective, data, price, generator)
        with after:
            last = train(others, pace=_part(pace, n_last, "hops"))
        return _going_on(first, last)


def _going_on(first: Trained, last: Trained) -> Trained:
    """Return what the best of the starts came to."""
    scores = list(first.scores)
    scores[scores.index(min(scores))] = min(last.scores)
    return Trained(last.objective, joined([first.history, last.history]), tuple(scores))


def _clearly_depend(objective: DomainObjective, data: Data) -> bool:
    """Whether correlations are large, and latents told apart all the same, by children of their own.

    To a latent one may add another whose children lie in its own without an edge more, so that independence
    alone tells the two apart.
    """
    seen, _, u = data
    prior = objective.prior
    assert isinstance(prior, DomainCorrelated)
    if prior.correlations().abs().mean() < _DEPENDENT:
        return False
    with torch.no_grad():
        codes = objective.encode(seen, u)
        J = jacobian(objective.decoder, codes[:_POINTS])
    scale = codes.std(0).double().cpu().numpy()
    contained = Structure.from_jacobian(J.double().cpu().numpy(), latent_scale=scale).contained()
    return float(contained[~np.eye(len(contained), dtype=bool)].mean()) <= _CONTAINED


def _part(pace: Pace, max_iter: int, name: str) -> Pace:
    """Return the pace of a part of the training, with checkpoints of its own."""
    return replace(pace, max_iter=max_iter, checkpoint=pace.folder(name))


def _changing_first(basis: Tensor, white: Tensor, u: Tensor) -> Tensor:
    """Order the rows of a basis so that those that change most between domains come first."""
    z = white @ basis.T
    parts = [z[u == domain] for domain in range(int(u.max()) + 1)]
    means, spreads = torch.stack([p.mean(0) for p in parts]), torch.stack([p.std(0) for p in parts])
    return basis[(means.var(0) + spreads.log().var(0)).argsort(descending=True)]
