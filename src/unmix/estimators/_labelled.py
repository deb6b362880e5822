"""An oracle that knows the mixture component of every sample: sparse, and Gaussian within components."""

from functools import partial
from typing import Any, final

import numpy as np
import torch
from torch import Tensor, nn

from unmix._group import numbers_from
from unmix.nn import mlp
from unmix.objectives import LabelledObjective
from unmix.tables import features_of
from unmix.training import History, Minibatches, Pace, Trained, minimise_constrained, shared_out

from ._latent_estimator import Factory, LatentEstimator, build

network = partial(mlp, hidden=(128, 128, 128, 128))


@final
class LabelledSparseAutoencoder(LatentEstimator):
    r"""Autoencoder with sparse codes that are Gaussian within components, whose labels are known.

    .. math:: \min \; E \|x - f(g(x))\|^2 + w \, \text{mean} (|\text{skew}| + |\text{kurtosis} - 3|)
              \quad \text{such that} \quad E \|g(x)\|_1 / n \le \varepsilon

    Skew and kurtosis are those of each latent within each component. Labels are what a method for real data
    does not have: this is a mark to compare `PDGMM` with, not a competitor.

    Parameters
    ----------
    n_components : int or "auto"
        Number of latents; "auto" looks for where those of a table end, see `unmix.choose`.
    masks : array-like of shape (n_groups, n_components), optional
        Which latents vary in each component, in the order of sorted labels. Those that don't have no scale,
        and their moments are left out. This tells the order of the latents as well.
    epsilon : float
        Bound of the mean absolute code. Codes are normalised and rescaled, so that the scale can shrink to
        meet it: it acts as a weight of the L1 norm that grows until it is met.
    weight : float
        Weight of the moments.
    dual_lr : float, optional
        Learning rate of the multiplier, by default half of `lr`.
    encoder, decoder : callable (n_in, n_out) -> Module
        Network factories. The published ones have hidden layers of 10n, 50n, 50n, 50n, 50n and 10n units for
        n latents: `partial(unmix.nn.mlp, hidden=(100, 500, 500, 500, 500, 100))` for ten.
    n_restarts, max_iter, batch_size, lr, device, checkpoint, verbose, random_state
        As for `Autoencoder`; restarts are trained one after another. Published: 80,000 steps at a rate of
        1e-4 with batches of 6144.

    Attributes
    ----------
    classes_ : array of shape (n_groups,)
        The labels, sorted.
    encoder_, decoder_, structure_, history_, restarts_, latent_scale_, n_iter_, n_features_in_
        As for `Autoencoder`; `history_.extras` has the constraint and its multiplier.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> labels = rng.integers(2, size=400)
    >>> z = rng.normal(size=(400, 2)) * np.eye(2)[labels]
    >>> model = LabelledSparseAutoencoder(2, max_iter=20, random_state=0)
    >>> model = model.fit(z @ [[1., 1.], [1., -1.]], labels)
    >>> model.classes_.tolist(), sorted(model.history_.terms)
    ([0, 1], ['moments', 'reconstruction'])

    References
    ----------
    Xu et al. (2024), A sparsity principle for partially observable causal representation learning,
    arXiv:2403.08335, as the oracle of Xu, Lachapelle and Magliacane (2026), Section 5, arXiv:2604.13218. The
    published code takes moments about a fixed mean and, where masks are known, in fixed units; here they are
    about the mean and in units of the spread of each latent within each component.
    """

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        masks: Any = None,
        epsilon: float = 0.01,
        weight: float = 0.01,
        dual_lr: float | None = None,
        encoder: Factory = network,
        decoder: Factory = network,
        n_restarts: int = 1,
        max_iter: int = 500,
        batch_size: int = 2000,
        lr: float = 1e-3,
        device: str = "auto",
        checkpoint: Any = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.masks = masks
        self.epsilon = epsilon
        self.weight = weight
        self.dual_lr = dual_lr
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

    def fit(self, X: Any, y: Any = None) -> "LabelledSparseAutoencoder":
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
            The component of each sample; without it all samples count as one component.

        Returns
        -------
        self
        """
        self._check_bounds()
        self._settle(X)
        self.classes_, groups = np.unique(_labels(X, y), return_inverse=True)
        self._check_masks()
        self._fit(X, partial(self._train, groups=torch.from_numpy(groups.reshape(-1))))
        return self

    def _networks(self, n_features: int) -> LabelledObjective:
        n = self.n_components_
        encoder = nn.Sequential(self.encoder(n_features, n), nn.BatchNorm1d(n))
        masks = None if self.masks is None else torch.tensor(np.asarray(self.masks), dtype=torch.bool)
        return LabelledObjective(encoder, self.decoder(n, n_features), n, len(self.classes_), masks)

    def _train(self, x: Tensor, pace: Pace, groups: Any = None) -> Trained:
        groups = groups.to(x.device)
        members = build(self._networks, self.n_restarts, x, pace.seed)
        histories = shared_out(members, lambda k: self._descend(k, members[k], x, groups, pace))
        scores = numbers_from(0, [_score(member.eval(), x, groups, self.weight) for member in members])
        best = int(np.argmin(scores))
        return Trained(members[best].requires_grad_(False), histories[best], tuple(scores))

    def _descend(self, k: int, member: LabelledObjective, x: Tensor, groups: Tensor, pace: Pace) -> History:
        def terms(batch: tuple[Tensor, ...]) -> dict[str, Tensor]:
            found = member(*batch)
            return found | {"moments": self.weight * found["moments"]}

        generator = torch.Generator().manual_seed((pace.seed + k) % 2**63)
        return minimise_constrained(
            terms,
            "l1",
            member,
            Minibatches(x, groups, batch_size=pace.batch_size, generator=generator),
            epsilon=self.epsilon,
            n_steps=pace.steps(len(x)),
            lr=pace.lr,
            dual_lr=self.dual_lr,
            checkpoint=pace.folder(f"restart-{k}"),
            progress=pace.progress,
            description=f"restart {k}",
        )

    def _check_bounds(self) -> None:
        for name in ("epsilon", "dual_lr"):
            value = getattr(self, name)
            if name == "dual_lr" and value is None:
                continue
            if not isinstance(value, int | float) or not np.isfinite(value) or value <= 0:
                raise ValueError(f"`{name}` must be a finite number above 0, got {value!r}. Use 0.01, say.")

    def _check_masks(self) -> None:
        wanted = (len(self.classes_), self.n_components_)
        if self.masks is not None and np.shape(self.masks) != wanted:
            raise ValueError(
                f"`masks` must have shape (n_groups, n_components) = {wanted}, got {np.shape(self.masks)}. "
                "One row for each label, in sorted order."
            )


def _labels(X: Any, y: Any) -> np.ndarray:
    """Return one number per sample, or say what is wrong."""
    shape = X.shape if hasattr(X, "shape") else np.asarray(features_of(X)).shape
    n_samples = (*shape, 0)[0]
    labels = np.zeros(n_samples) if y is None else np.asarray(y)
    if np.ma.is_masked(y):
        labels = np.where(np.ma.getmaskarray(y), np.nan, labels)  # type: ignore[no-untyped-call]
    try:
        labels = labels.astype(float) if labels.dtype.kind in "OSU" else labels
    except (TypeError, ValueError):
        raise ValueError(f"`y` must hold numbers, got {labels.dtype}. Number the components.") from None
    if labels.shape != (n_samples,):
        raise ValueError(
            f"`y` must be one number per sample, shape ({n_samples},), got {labels.shape}. "
            "Pass the component of each sample."
        )
    if not np.isfinite(labels).all():
        row = int(np.argmin(np.isfinite(labels)))
        raise ValueError(
            f"`y` must be finite, got {labels[row]} (NaN or infinity) for sample {row}. Leave it out."
        )
    return labels


@torch.no_grad()
def _score(member: LabelledObjective, x: Tensor, groups: Tensor, weight: float) -> float:
    found = member(x, groups)
    return float(found["reconstruction"] + weight * found["moments"])
