"""Degenerate Gaussian-mixture latents: from nonlinear observations to named variables."""

import math
import warnings
from functools import partial
from types import ModuleType
from typing import Any, cast, final

import numpy as np
import torch
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from unmix.nn import residual_mlp, value_and_jacobian
from unmix.objectives import MixtureObjective, Objective, SpikesAndSlabs, in_chunks
from unmix.solvers.coordinates import Affine, affine, start_at, whitening
from unmix.solvers.sparse_rows import (
    SEARCHED,
    Components,
    Spikes,
    among_resting,
    components_of,
    contrast,
    fit_spikes,
    genericity_gap,
    likely_basis,
    rough_basis,
    share_off,
    sparsest_rows,
    too_few,
)
from unmix.training import Pace, Trained, Width, shrinking, train_restarts

from ._latent_estimator import Factory, LatentEstimator, build
from ._tables import standardised, validated

WIDTHS = (0.5, 0.05)  # of the spikes, in standard deviations of a code: where training starts and ends
# widths of a search for sparse rows, and how many variables rest in the searches after it; without widths the
# likeliest rows, which find spikes far from the mean
STARTS: tuple[tuple[tuple[float, ...], tuple[int, ...]], ...] = (
    ((2.0, 1.0, 0.7), ()),
    ((), ()),
    ((1.0, 0.5, 0.3), (2, 3)),
    ((1.0, 0.5, 0.3), (2, 3, 5)),
)
SOLVERS = ("descent", "ransac", "subspaces")
_CONDITIONED = 100_000  # samples among which those are sought in which some variables rest
_SHARE_WIDTH = 0.1
_STARTS = 20  # rows to start from, for each latent
_SMALL_GAP = 0.01
_THIN = 0.15  # variance of the last principal component in that of the one before, if a latent is constant
_SPIKE = 2.0  # contrast that no smooth density of the usual kinds reaches
_STRAIGHT = 20  # epochs before which a first stage has not straightened a mixing
_SOFT = 0.06  # spread of half of the latents where they rest: 0.01 to 0.03 where they rest at one value

network = partial(residual_mlp, hidden=(256, 256))


@final
class PDGMM(LatentEstimator):
    """Latents that are a mixture of degenerate Gaussians, observed through an invertible, nonlinear mixing.

    In each component some latents are inactive: they sit at one value. The first stage finds a code whose
    law is such a mixture, as Theorem 3.5 asks for. The code is an invertible network g of the leading
    principal components y of the data, trained for

        weight (-log p(g(y)) - log |det dg/dy|) + ||y - decoder(g(y))||^2,

    the likelihood of y with p a law of spikes and correlated slabs, a mixture of 2^n degenerate Gaussians in
    the limit of thin spikes. Spikes become thinner as training goes on. Restarts begin at sparse affine bases
    of y, some of them searched where a few latents rest, or at the affine basis that is likeliest under p,
    and are compared by the objective; ground truth takes no part.

    The second stage finds the affine coordinates in which the code is sparsest (Theorem 3.9), as
    `SparseBasis` does.

    Parameters
    ----------
    n_components : int or "auto"
        Number of latents; "auto" looks for where those of a table end, see `unmix.choose`. If it is
        larger than the rank of the data, the latents in excess are always zero.
    stage2 : {"descent", "ransac", "subspaces"} or None
        How the sparsest coordinates are searched, see `SparseBasis`; None leaves a white code, which is then
        known up to an affine map only.
    weight : float
        Weight of the likelihood beside the reconstruction.
    encoder, decoder : callable (n, n) -> Module
        Network factories. The informed starts need `unmix.nn.residual_mlp`; other networks start at random.
    n_restarts : int
        Number of starts. Four do where the mixing is nearly linear.
    max_iter, batch_size, lr, device, checkpoint, verbose, random_state
        As for `Autoencoder`.

    Attributes
    ----------
    weights_, means_, covariances_ : arrays of shape (k,), (k, n_components), (k, n_components, n_components)
        The components of the code, the heaviest first.
    masks_ : bool array of shape (k, n_components)
        Which latents are active in each; `unmix.theory.certify_components(model)` says what would follow if
        they are right, `unmix.trust(model, X)` which latents can be trusted.
    active_ : bool array of shape (n_components,)
        False for latents beyond the rank of the data.
    found_ : bool array of shape (n_components,)
        Latents with a clear value of inactivity; the others only complete the basis.
    spike_mass_, spike_width_ : arrays of shape (n_components,)
        Share of samples at which a latent is inactive, and the spread of its values there.
    n_distinct_ : int array of shape ()
        Number of distinct samples.
    genericity_gap_ : float
        How far Assumption 3.4 is from failing at the point where supports meet.
    flags_ : tuple of str
        What is wrong with the result, in words; also given as a ConvergenceWarning.
    encoder_, decoder_, structure_, history_, restarts_, latent_scale_, n_iter_, n_features_in_
        As for `Autoencoder`. Codes have variance 1 and are 0 where a latent is inactive.

    Examples
    --------
    >>> from unmix.data import degenerate_mixture
    >>> data = degenerate_mixture(2000, n_latents=3, profile="paper", n_layers=2, random_state=0)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     model = PDGMM(3, max_iter=20, n_restarts=1, random_state=0).fit(data.x)
    >>> correlations = np.abs(np.corrcoef(data.z.T, model.transform(data.x).T)[:3, 3:])
    >>> bool((correlations.max(1) > 0.95).all())
    True

    References
    ----------
    Xu, Lachapelle and Magliacane (2026), Theorems 3.5, 3.7 and 3.9, arXiv:2604.13218. The paper trains an
    autoencoder with a standardised code for the first stage, which leaves condition (3) of Theorem 3.5 to
    chance; the likelihood here is ours.
    """

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        stage2: str | None = "descent",
        weight: float = 0.03,
        encoder: Factory = network,
        decoder: Factory = network,
        n_restarts: int = 8,
        max_iter: int = 50,
        batch_size: int = 64,
        lr: float = 2e-3,
        device: str = "auto",
        checkpoint: Any = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.stage2 = stage2
        self.weight = weight
        self.encoder = encoder
        self.decoder = decoder
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.lr = lr
        self.device = device
        self.checkpoint = checkpoint
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> "PDGMM":
        """Fit the model; arguments as for `Autoencoder`."""
        if self.stage2 is not None and self.stage2 not in SOLVERS:
            raise ValueError(f"`stage2` must be None or one of {SOLVERS}, got {self.stage2!r}. Choose one.")
        super().fit(X, y)
        if self.flags_:
            warnings.warn(" ".join(self.flags_), ConvergenceWarning, stacklevel=2)
        return self

    def activity(self, X: Any) -> np.ndarray:
        """Return which latents are active in each sample, bool of shape (n_samples, n_components)."""
        check_is_fitted(self)
        return self._active(np.asarray(self.transform(X), dtype=np.float64))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-likelihood of X, standardised, in nats; what PCA leaves out counts as noise."""
        check_is_fitted(self)
        x = standardised(self, validated(self, X))
        prior = SpikesAndSlabs(int(self.active_.sum())).double().requires_grad_(False)
        vector_to_parameters(torch.from_numpy(self.prior_), prior.parameters())
        inner = cast(nn.Sequential, self.encoder_)[1]
        front = cast(nn.Linear, cast(nn.Sequential, self.encoder_)[0])

        def log_density(part: Tensor) -> Tensor:
            white = front(part)
            code, J = value_and_jacobian(inner, white)
            inside = prior(code, torch.tensor(WIDTHS[1]).to(part)) + torch.linalg.slogdet(J)[1]
            return inside + self._noise(part, white)

        volume = 0.5 * torch.linalg.slogdet(front.weight @ front.weight.T)[1]
        return float(in_chunks(log_density, x, 2048).mean() + volume)

    @property
    def flags_(self) -> tuple[str, ...]:
        """What is wrong with the result, in words; empty if nothing is."""
        return tuple(_flags(self))

    @property
    def genericity_gap_(self) -> float:
        """How far Assumption 3.4 is from failing at the point where supports meet."""
        return genericity_gap(Components(self.weights_, self.means_, self.covariances_, self.masks_))

    @property
    def _least_rank(self) -> int:
        return 1

    def _networks(self, n_features: int) -> Objective:
        """Wrap the networks: front to white coordinates, head to sparse ones; and back."""
        n, n_hat = int(self.active_.sum()), self.n_components_
        encoder = nn.Sequential(nn.Linear(n_features, n), self.encoder(n, n), nn.Linear(n, n_hat))
        decoder = nn.Sequential(nn.Linear(n_hat, n), self.decoder(n, n), nn.Linear(n, n_features))
        return Objective(encoder, decoder, n_hat)

    def _square(self, n: int) -> MixtureObjective:
        return MixtureObjective(self.encoder(n, n), self.decoder(n, n), n)

    def _train(self, x: Tensor, pace: Pace) -> Trained:
        generator = torch.Generator().manual_seed(pace.seed)
        front, left_out = whitening(x.double(), self.n_components_)
        white = front(x.double())
        self.active_ = np.arange(self.n_components_) < len(front.bias)
        members = build(self._square, self.n_restarts, white, pace.seed)
        for number, member in enumerate(members):
            widths, resting = STARTS[number % len(STARTS)]
            _start(member, white[:_CONDITIONED], widths, resting, generator)
        n_steps = pace.steps(len(x))
        width = Width(shrinking(*WIDTHS, n_steps))
        trained = train_restarts(members, {"likelihood": self.weight}, white.float(), pace, beside=width)
        square = cast(MixtureObjective, trained.objective.double())
        self.prior_ = parameters_to_vector(square.prior.parameters()).detach().cpu().numpy()
        self.left_out_ = np.array(left_out)
        centred = affine(torch.eye(white.shape[1]).to(white), -square.prior.centre.detach())  # spikes at zero
        head = centred.then(self._coordinates(centred(in_chunks(square.encode, white)), generator))
        return Trained(self._wrapped(front, square, head), trained.history, trained.scores)

    def _coordinates(self, code: Tensor, generator: torch.Generator) -> Affine:
        """Return the second stage: the sparsest coordinates, or white ones if none are sparse."""
        to_white, _ = whitening(code, code.shape[1])
        if self.stage2 is None:
            return to_white
        white = to_white(code)
        part = white[torch.randperm(len(white), generator=generator)[:SEARCHED]]
        found = sparsest_rows(part, generator, solver=self.stage2)
        kept = _normalised(to_white)
        share = [share_off(part, *basis, _SHARE_WIDTH).sum() for basis in ((found.rows, found.offsets), kept)]
        rows, offsets = kept if share[1] <= share[0] else (found.rows, found.offsets)
        if (contrast(white @ rows.T + offsets) < _SPIKE).all():
            return to_white
        return to_white.then(affine(rows, offsets))

    def _wrapped(self, front: Affine, square: Objective, head: Affine) -> Objective:
        head = head.padded(self.n_components_)
        first, back = front.layers()
        last, ahead = head.layers()
        encoder, decoder = square.encoder, square.decoder
        return Objective(
            nn.Sequential(first, encoder, last), nn.Sequential(ahead, decoder, back), self.n_components_
        )

    def _remember(self, trained: Trained, x: Tensor, part: ModuleType) -> None:
        super()._remember(trained, x, part)
        x = x.cpu()
        self.n_distinct_ = np.array(len(torch.unique(x, dim=0)))
        codes = in_chunks(self._objective_.encode, x.double())
        spikes = fit_spikes(codes)
        self.spike_mass_, self.spike_width_ = spikes.mass.numpy(), spikes.width.numpy()
        self.slab_mean_, self.slab_spread_ = spikes.mean.numpy(), spikes.spread.numpy()
        self.contrast_ = spikes.contrast.numpy()
        self.found_ = self.active_ & (self.contrast_ > _SPIKE) & (self.stage2 is not None)
        found = components_of(codes.numpy(), self._active(codes.numpy()))
        self.weights_, self.means_ = found.weights, found.means
        self.covariances_, self.masks_ = found.covariances, found.masks

    def _active(self, codes: np.ndarray) -> np.ndarray:
        """Tell activity: a latent without a spike is always active, one beyond the rank never."""
        fields = (self.spike_mass_, self.spike_width_, self.slab_mean_, self.slab_spread_, self.contrast_)
        off = Spikes(*map(torch.from_numpy, fields)).active(torch.from_numpy(codes)).numpy()
        return self.active_ & (off | ~self.found_)

    def _noise(self, x: Tensor, white: Tensor) -> Tensor | float:
        """Log density of what the principal components leave out, as in probabilistic PCA."""
        n_left, variance = x.shape[1] - white.shape[1], float(self.left_out_)
        if n_left == 0 or variance == 0:
            return 0.0
        back = cast(nn.Sequential, self.decoder_)[2]
        left = (x - back(white)).square().sum(1)
        return -0.5 * (left / variance + n_left * math.log(2 * math.pi * variance))


def _start(
    member: MixtureObjective,
    white: Tensor,
    widths: tuple[float, ...],
    resting: tuple[int, ...],
    generator: torch.Generator,
) -> None:
    """Start at a sparse affine basis of the observations, and the prior at what its code looks like."""
    settings: dict[str, Any] = {"n_starts": _STARTS * white.shape[1], "widths": widths}
    if widths:
        basis = rough_basis(white[:SEARCHED], generator, **settings)
    else:
        basis = likely_basis(white[:SEARCHED], generator)
    for most in resting:
        basis = among_resting(white, basis, generator, most=most, **settings)
    start_at(member.encoder, member.decoder, affine(*basis))
    spikes = fit_spikes(white[:SEARCHED] @ basis[0].T + basis[1])
    member.prior.start(spikes.mass, spikes.mean, spikes.spread)


def _normalised(to_white: Affine) -> tuple[Tensor, Tensor]:
    """Return the coordinates that the code has already, as unit rows on the white code."""
    scale = to_white.back_weight.norm(dim=1)
    return to_white.back_weight / scale[:, None], to_white.back_bias / scale


def _thinness(model: PDGMM) -> float:
    """Variance along the last principal component in that along the one before, of three or more."""
    scales = torch.linalg.svdvals(cast(nn.Linear, cast(nn.Sequential, model.encoder_)[0]).weight)
    return float((scales[1] / scales[0]) ** 2) if len(scales) > 2 else 1.0


def _flags(model: PDGMM) -> list[str]:
    n, n_found = model.n_components_, int(model.found_.sum())
    flags = []
    if not model.active_.all():
        flags.append(
            f"The data have rank {model.active_.sum()}, so that {n - model.active_.sum()} of {n} latents are "
            "always zero. Ask for fewer."
        )
    flags += too_few(int(model.n_distinct_), n)
    if (thin := _thinness(model)) < _THIN:
        flags.append(
            f"The data vary {1 / thin:.0f} times less along their last principal component than along the "
            "one before: perhaps a latent is never active, which a bent mixing hides. Ask for one fewer."
        )
    if model.stage2 is not None and n_found == 0:
        flags.append(
            "No latent has a value that it takes often: no component is degenerate, or the first stage did "
            "not find them. The white code is returned, known up to an affine map at best."
        )
    elif model.stage2 is not None and n_found < model.active_.sum():
        flags.append(
            f"Only {n_found} of {n} latents have a value that they take often; the others complete the basis "
            "and mean nothing by themselves. See `found_`."
        )
    spread = float(np.median(model.spike_width_[model.found_])) if n_found else 0.0
    if spread > _SOFT and model.max_iter >= _STRAIGHT:
        flags.append(
            f"Latents rest near a value and not at it (within {spread:.2f} of their standard deviation, see "
            "`spike_width_`): no component is degenerate, as the theory has it, or the first stage did not "
            "straighten the mixing. `unmix.trust` says which latents hold all the same."
        )
    if model.genericity_gap_ < _SMALL_GAP:
        flags.append(
            "Components of the same rank are hard to tell apart where they meet (gap "
            f"{model.genericity_gap_:.2g}): Assumption 3.4 nearly fails, and half-axes might be swapped."
        )
    return flags
