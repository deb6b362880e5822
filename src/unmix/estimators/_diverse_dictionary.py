"""Diverse dictionary learning: the decoder with the fewest dependencies that explains the data."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Any, final

import torch
from torch import Tensor, nn

from unmix.nn import Warp, residual_mlp
from unmix.objectives import Objective, Penalty
from unmix.penalties import dependency_sparsity
from unmix.solvers.coordinates import (
    KNOTS,
    better_units,
    distinct_bases,
    has_linear_coordinates,
    independent_basis,
    is_bent,
    principal,
    rebase,
    start_linear,
)
from unmix.training import Noise, Pace, Trained, train_restarts

from ._bent_starts import start_bent
from ._effort import (
    AUTOENCODER,
    EFFORTS,
    ENOUGH,
    LONG,
    MORE,
    PASSES,
    SEARCHES,
    for_few,
    for_smooth,
    has_plain_skip,
    smooth,
    updated_often,
    wider,
)
from ._latent_estimator import Factory, LatentEstimator, build

default_penalty = partial(dependency_sparsity, form="log", normalize="std")
# an edge is there at all points or at none: behind bent mixings it is paid for once
union_penalty = partial(dependency_sparsity, form="group_log", normalize="std", knee=0.03)
WEIGHT_TALL, WEIGHT_SQUARE, WEIGHT_UNION, WEIGHT_CORRELATION = 0.015, 0.003, 0.15, 0.1


@final
class DiverseDictionaryLearning(LatentEstimator):
    """Variational autoencoder whose decoder is asked to depend on as few latents as possible.

    The objective is ||x - decoder(z)||^2 + beta KL(q(z|x) || N(0, I)) + weight penalty(decoder, z), with x
    standardised. The default penalty is the logarithmic form of the L1 norm of the decoder's Jacobian, which
    comes closer to counting dependencies, with every latent at unit variance, since otherwise inflated codes
    would lower it for nothing.

    Restarts begin at the sparsest linear models, found from many starts (oblique ones, and ones with
    uncorrelated codes), the last at random. They are trained as one batch; after 15% of the steps each
    may move to the linear coordinates in which its own Jacobians are sparsest, and half of them stay; after
    45% a quarter; in the end the one with the lowest objective is kept. Ground truth takes no part.

    With as many latents as observed variables a code that copies x has the fewest dependencies of all. There
    starts are uncorrelated, correlations of the codes are penalised (`decorrelation`), and coordinates are
    not changed between rounds. Where independent components of x are far from normal, all but one, their laws
    tell the latents, and all restarts begin there.

    Where mixings bend so much that linear models are wrong starts (as many directions as latents leave more
    than 6% of the variance, and smooth functions of them tell some of it, which they do of no noise), an
    edge is paid for once and not at every point: entries of the Jacobian count by their root mean square over
    the batch, with a weight of 0.15, since a latent that leaves a variable alone does so everywhere
    (Definition 2). Networks then are smooth, with 128 units, and trained in two fifths of the passes (fewer
    below 5,000 rows) at four times the rate, their matrices by orthogonal steps; the last restart begins at
    an autoencoder without sparsity, along the directions in its tangent spaces in which the same few
    variables move at every point. This needs 1,000 rows, 100 passes, residual networks, and the default
    penalty and weight. A thorough fit of fewer rows has such a start as one more restart, trained to the end
    with the usual terms.

    Columns in skewed units (exponentials, cubes) are read by normal scores, if as many directions as latents
    explain far more of those than of x as it is. Fewer than 2,000 rows are taken in batches of a tenth, 50
    rows at least, unless there are fewer than 100 passes.

    Parameters
    ----------
    n_components : int or "auto"
        Number of latents; "auto" looks for where those of a table end, see `unmix.choose`.
    penalty : callable (decoder, z) -> scalar
        Any penalty; see `unmix.penalties`.
    weight : float, callable or None
        Weight of the penalty, or a schedule from step to weight such as `unmix.training.warm_up`. By default
        0.015, or 0.003 when there are as many latents as observed variables.
    beta : float
        Weight of the KL term.
    decorrelation : float, optional
        Weight of the squared correlations between codes, by default 0.1 when there are as many latents as
        observed variables and 0 otherwise. The published objective has none.
    encoder, decoder : callable (n_in, n_out) -> Module
        Network factories. The informed starts need `unmix.nn.residual_mlp`; other networks start at random.
        Arguments that are given, as by `partial(residual_mlp, hidden=(32,))`, stay where mixings bend.
    effort : {"plain", "usual", "thorough"}
        "thorough": twice as many starts, networks twice as wide, a quarter more passes, 5,000 updates at
        least and a second search for coordinates, for about five times the time. "plain": units as given,
        starts by sparsity alone and few rows in one batch, as in the first version.
    n_restarts : int
        Number of starts.
    max_iter, batch_size, lr, device, checkpoint, verbose, random_state
        As for `Autoencoder`.

    Attributes
    ----------
    warped_, bent_ : bool
        Whether columns are read by normal scores, and whether mixings bend so much that an edge is paid for
        once.
    encoder_, decoder_, structure_, history_, restarts_, latent_scale_, n_iter_, n_features_in_
        As for `Autoencoder`; `transform` returns posterior means. `unmix.trust(model, X)` says which latents
        can be trusted; `unmix.theory.certify(model.structure_)` what would be identified if this structure is
        right.

    Examples
    --------
    >>> from unmix.data import sparse_mixing
    >>> data = sparse_mixing(500, n_latents=3, random_state=0)
    >>> model = DiverseDictionaryLearning(3, max_iter=30, random_state=0).fit(data.x)
    >>> model.structure_.shape
    (6, 3)

    References
    ----------
    Zheng et al. (2026), Diverse dictionary learning, Theorem 1 and Section 4.1, arXiv:2604.17568; Jordan et
    al. (2024), Muon (orthogonal steps).
    """

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        penalty: Penalty = default_penalty,
        weight: float | Callable[[int], float] | None = None,
        beta: float = 0.005,
        decorrelation: float | None = None,
        encoder: Factory = residual_mlp,
        decoder: Factory = residual_mlp,
        effort: str = "usual",
        n_restarts: int = 8,
        max_iter: int = 200,
        batch_size: int = 500,
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
        self.decorrelation = decorrelation
        self.encoder = encoder
        self.decoder = decoder
        self.effort = effort
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.lr = lr
        self.device = device
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> "DiverseDictionaryLearning":
        """Fit the model; arguments as for `Autoencoder`."""
        if self.effort not in EFFORTS:
            raise ValueError(f"`effort` must be one of {EFFORTS}, got {self.effort!r}. Choose one.")
        if self.decorrelation is not None and not _is_weight(self.decorrelation):
            raise ValueError(
                f"`decorrelation` must be None or a number of at least 0, got {self.decorrelation!r}."
            )
        super().fit(X, y)
        return self

    def _networks(self, n_features: int) -> Objective:
        objective = self._plain(n_features)
        warped = getattr(self, "warped_", False)  # not known to models of older files
        return _around(objective, Warp(n_features, KNOTS)) if warped else objective

    def _plain(self, n_features: int) -> Objective:
        n, bent = self.n_components_, getattr(self, "bent_", False)  # not known to models of older files
        form = smooth if bent else wider if self.effort == "thorough" else _as_given
        networks = form(self.encoder)(n_features, 2 * n), form(self.decoder)(n, n_features)
        penalty = union_penalty if bent else self.penalty
        decorrelate = self._decorrelation(n_features) > 0
        return Objective(*networks, n, variational=True, penalty=penalty, decorrelate=decorrelate)

    def _weights(self, n_features: int) -> dict[str, Any]:
        """Return the weights of the terms, once it is known whether mixings bend."""
        default = WEIGHT_SQUARE if n_features == self.n_components_ else WEIGHT_TALL
        usual = default if self.weight is None else self.weight
        weights = {"kl": self.beta, "penalty": WEIGHT_UNION if self.bent_ else usual}
        if correlation := self._decorrelation(n_features):
            weights["correlation"] = correlation
        return weights

    def _decorrelation(self, n_features: int) -> float:
        """Return the weight of correlations between codes."""
        if self.decorrelation is not None:
            return float(self.decorrelation)
        return WEIGHT_CORRELATION if n_features == self.n_components_ else 0.0

    def _train(self, x: Tensor, pace: Pace) -> Trained:
        warp = None if self.effort == "plain" else better_units(x, self.n_components_)
        self.warped_ = warp is not None
        if warp is None:
            return self._trained(x, pace)
        trained = self._trained(warp(x), pace)
        return replace(trained, objective=_around(trained.objective, warp))

    def _trained(self, x: Tensor, pace: Pace) -> Trained:
        square, thorough = _is_square(x, self.n_components_), self.effort == "thorough"
        n_restarts = self.n_restarts * (MORE if thorough else 1)
        if self.effort != "plain":
            pace = for_few(pace, len(x))
        if thorough:
            pace = updated_often(replace(pace, max_iter=round(PASSES * pace.max_iter)), len(x))
        self.bent_ = self._follows_bends(x, pace)
        members = build(self._plain, n_restarts, x, pace.seed)
        informed = has_linear_coordinates(members[0])
        if informed:
            laws = square and self.effort != "plain"
            _start(members, x, torch.Generator().manual_seed(pace.seed), laws=laws)
        if self.bent_:
            fast = for_smooth(pace, len(x), thorough=thorough)
            start = replace(pace, lr=fast.lr, matrix_lr=fast.matrix_lr)
            start_bent(members[-1], x, start, n_steps=AUTOENCODER[thorough])
            pace = fast
        race = partial(
            train_restarts,
            weights=self._weights(x.shape[1]),
            data=x,
            beside=Noise(self.n_components_),
            improve=rebase if informed and not square else None,
            improve_rounds=SEARCHES if thorough else 1,
        )
        found = race(members, pace=pace)
        if not (thorough and len(x) < ENOUGH and self._may_bend(x, pace)):
            return found
        apart = replace(pace, checkpoint=pace.folder("bent"))
        (bent,) = build(self._plain, 1, x, pace.seed)
        if not start_bent(bent, x, apart, n_steps=AUTOENCODER[thorough]):
            return found
        return _better(found, race([bent], pace=apart))

    def _follows_bends(self, x: Tensor, pace: Pace) -> bool:
        """Whether mixings bend, and rows are enough for networks that follow them with terms of their own.

        What is asked for by name stays: a penalty or a weight of one's own.
        """
        own = self.weight is not None or not _is_default(self.penalty)
        return len(x) >= ENOUGH and not own and self._may_bend(x, pace)

    def _may_bend(self, x: Tensor, pace: Pace) -> bool:
        """Whether starts are looked for in tangent spaces: residual networks, long fits, bent mixings."""
        residual = has_plain_skip(self.encoder) and has_plain_skip(self.decoder)
        long = self.effort != "plain" and pace.max_iter >= LONG
        return residual and long and is_bent(x, self.n_components_)


def _better(one: Trained, other: Trained) -> Trained:
    """Return the one with the lower objective, with the scores of both."""
    best = one if min(one.scores) <= min(other.scores) else other
    return replace(best, scores=one.scores + other.scores)


def _is_default(penalty: Penalty) -> bool:
    """Whether a penalty is the default one, or its copy, as a clone has it."""
    if not isinstance(penalty, partial):
        return False
    return (penalty.func, penalty.args, penalty.keywords) == (
        default_penalty.func,
        default_penalty.args,
        default_penalty.keywords,
    )


def _as_given(factory: Factory) -> Factory:
    return factory


def _is_weight(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < math.inf


def _is_square(x: Tensor, n_components: int) -> bool:
    return x.shape[1] == n_components


def _around(objective: Objective, warp: Warp) -> Objective:
    """Let networks read columns in other units, and write them in the given ones."""
    objective.encoder = nn.Sequential(warp, objective.encoder)
    objective.decoder = nn.Sequential(objective.decoder, warp.inverse())
    return objective


def _start(members: list[Objective], x: Tensor, generator: torch.Generator, *, laws: bool = False) -> None:
    """Start at sparse linear models, and the last at random; where laws tell the latents, all at those."""
    loadings = principal(x, members[0].n_components)
    told = independent_basis(x @ torch.linalg.pinv(loadings).T) if laws else None
    if told is None:
        _start_sparse(members, x, loadings, generator)
        return
    for member in members:
        start_linear(member, loadings, told)


def _start_sparse(members: list[Objective], x: Tensor, loadings: Tensor, generator: torch.Generator) -> None:
    """Start at the sparsest linear models, oblique and uncorrelated ones in turn, and the last at random."""
    n = members[0].n_components
    # a square oblique basis would copy x, which has the fewest dependencies of all
    kinds = (True,) if _is_square(x, n) else (False, True)
    sparse = [distinct_bases(loadings, generator, orthogonal=orthogonal) for orthogonal in kinds]
    in_turn = [basis for pair in zip_longest(*sparse) for basis in pair if basis is not None]
    n_informed = max(1, len(members) - 1)
    for number, member in enumerate(members):
        turn = torch.linalg.qr(torch.randn(n, n, generator=generator))[0].to(x)
        start_linear(member, loadings, in_turn[number] if number < min(n_informed, len(in_turn)) else turn)
