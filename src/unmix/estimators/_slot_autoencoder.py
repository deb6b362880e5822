"""Slot autoencoder: groups of latents that act on observed variables independently of each other."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral
from typing import Any, final

import numpy as np
import torch
from torch import Tensor, nn

from unmix._waiting import stages
from unmix.nn import residual_mlp
from unmix.objectives import AdditiveDecoder, Objective, Penalty, SlotObjective
from unmix.penalties import slot_sparsity
from unmix.solvers.coordinates import has_linear_coordinates, principal, start_linear
from unmix.solvers.slots import find_slots, rebase_slots, start_additive, start_in_unions
from unmix.training import Ensemble, Noise, Pace, Trained, train_restarts

from ._effort import EFFORTS
from ._latent_estimator import Factory, LatentEstimator, build

WEIGHT_SCALE = 0.1
_SEARCHES = 3  # after the first: the more the code is bent towards slots, the better they show
UNIONS = "unions"
_MANY_ROWS = 4000  # more than trust was calibrated on: with fewer, usual fits have one start
_WARM_UP = 0.5  # share of the epochs in which nothing but reconstruction is trained

Slots = int | Sequence[Sequence[int]] | str | None


@final
class SlotAutoencoder(LatentEstimator):
    """Autoencoder whose latents come in slots, each of which moves as few observed variables as possible.

    The objective is ||x - decoder(z)||^2 + weight penalty(decoder, z), with x standardised and codes held
    near unit variance. Half of the training is for reconstruction alone. Then the linear coordinates are
    searched in which the slots of the decoder's Jacobians are sparsest, from many starts, and training goes
    on from there with the penalty, which bends the code towards slots; the search is repeated three times on
    the way, and kept where the objective is lower for it. Slots that are not told, or of unequal size, are
    trained from a second start as well (`effort`), single directions that are grouped by what they move
    together; the one with the lower objective is kept. Ground truth takes no part.

    Parameters
    ----------
    n_components : int or "auto"
        Number of latents, in all slots together; "auto" looks for where those of a table end, see
        `unmix.choose`.
    slots : int, sequence of sequences of int, "unions", or None
        Number of equal consecutive slots, or the latents of each. "unions" finds how many there are, and how
        large: latents of the decoder are joined as long as that costs few more entries of the mixing, and
        training begins there. None does so with more than 4,000 rows; with fewer it links latents that move
        the same variables, as the calibration of `unmix.trust` was measured.
    penalty : callable
        `unmix.penalties.slot_sparsity` by default; `compositional_contrast` is the published one. A penalty
        with an argument `slots` is given the slots, any other is called as (decoder, z).
    weight : float or callable
        Weight of the penalty, or a schedule from step to weight.
    additive : bool
        Decode each slot by a network of its own and add the results, which is enough where slots do not
        interact (Type H_2).
    search : bool
        Whether to search for sparse slots. Without it, or with networks other than `unmix.nn.residual_mlp`,
        restarts begin at random and are trained with the penalty from the first step on.
    effort : {"plain", "usual", "thorough"}
        When a second start is tried where slots are not told, or of unequal size: never (as in 0.1), with
        more than 4,000 rows, or always. A fit then takes half as long again, or up to twice as long. Slots
        that are not told are counted a second time, in networks that began at random, and trained from there
        if sizes differ.
    encoder, decoder : callable (n_in, n_out) -> Module
        Network factories.
    n_restarts : int
        Number of searches, each followed by training. Slots that were counted by unions are not searched for.
    max_iter, batch_size, lr, device, checkpoint, verbose, random_state
        As for `Autoencoder`.

    Attributes
    ----------
    partition_ : tuple of tuples of int
        The latents of each slot.
    slot_of_ : int array of shape (n_components,)
        The slot of each latent.
    encoder_, decoder_, structure_, history_, restarts_, latent_scale_, n_iter_, n_features_in_
        As for `Autoencoder`. `unmix.theory.certify_mechanisms(model.jacobian(X), model.partition_,
        tolerance=0.05)` says in which sense the slots are independent, `unmix.trust(model, X)` which of them
        can be trusted.

    Examples
    --------
    >>> from unmix.data import slots
    >>> from unmix.metrics import slot_identifiability
    >>> data = slots(2000, n_slots=2, sizes=2, n_rows=10, overlap=0.5, random_state=0)
    >>> model = SlotAutoencoder(4, slots=2, max_iter=30, n_restarts=1, random_state=0).fit(data.x)
    >>> slot_identifiability(data.z, model.transform(data.x), n_slots=2) > 0.9
    True

    References
    ----------
    Matthes, Han and Shen (2026), Mechanistic independence, Theorems 2 to 5, arXiv:2509.22196; Brady et al.
    (2023), Provably learning object-centric representations, arXiv:2305.14229. The search and the default
    penalty are ours.
    """

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        slots: Slots = None,
        penalty: Callable[..., Any] = slot_sparsity,
        weight: float | Callable[[int], float] = 0.03,
        additive: bool = False,
        search: bool = True,
        effort: str = "usual",
        encoder: Factory = residual_mlp,
        decoder: Factory = residual_mlp,
        n_restarts: int = 1,
        max_iter: int = 30,
        batch_size: int = 100,
        lr: float = 2e-3,
        device: str = "auto",
        checkpoint: Any = None,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.slots = slots
        self.penalty = penalty
        self.weight = weight
        self.additive = additive
        self.search = search
        self.effort = effort
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

    def fit(self, X: Any, y: Any = None) -> "SlotAutoencoder":
        """Fit the model; arguments as for `Autoencoder`."""
        for name in ("additive", "search"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise ValueError(f"`{name}` must be True or False, got {getattr(self, name)!r}.")
        if self.effort not in EFFORTS:
            raise ValueError(f"`effort` must be one of {EFFORTS}, got {self.effort!r}. Choose one.")
        if isinstance(self.n_components, Integral) and self.n_components >= 1 and not self._finds:
            listed(self.slots, int(self.n_components))
        super().fit(X, y)
        return self

    @property
    def partition_(self) -> tuple[tuple[int, ...], ...]:
        """The latents of each slot."""
        return tuple(
            tuple(np.flatnonzero(self.slot_of_ == k).tolist()) for k in range(self.slot_of_.max() + 1)
        )

    def _networks(self, n_features: int) -> Objective:
        n = self.n_components_
        decoder: nn.Module = (
            AdditiveDecoder(self.decoder, self.partition_, n_features)
            if self.additive
            else self.decoder(n, n_features)
        )
        return SlotObjective(self.encoder(n_features, n), decoder, n, penalty=self._bound_penalty())

    def _plain(self, n_features: int) -> Objective:
        n = self.n_components_
        return SlotObjective(self.encoder(n_features, n), self.decoder(n, n_features), n)

    def _bound_penalty(self) -> Penalty:
        given = "slots" in inspect.signature(self.penalty).parameters
        fixed = isinstance(self.penalty, partial) and "slots" in self.penalty.keywords
        return partial(self.penalty, slots=self.partition_) if given and not fixed else self.penalty

    def _train(self, x: Tensor, pace: Pace) -> Trained:
        generator = torch.Generator().manual_seed(pace.seed)
        informed = self.search and has_linear_coordinates(build(self._plain, 1, x, pace.seed)[0])
        warm_up = max(1, round(_WARM_UP * pace.max_iter)) if informed or self._finds else 0
        first = replace(pace, max_iter=warm_up, checkpoint=pace.folder("warm-up"))
        last = replace(pace, max_iter=max(1, pace.max_iter - warm_up), checkpoint=pace.folder("slots"))
        twice = informed and self._starts_twice(len(x))
        before, after, again = stages([warm_up, last.max_iter * self.n_restarts, pace.max_iter * twice])
        with before:
            plain = self._warmed_up(x, first) if warm_up else None
        unions = isinstance(self.slots, str) or (self._finds and twice)
        plain = self._with_slots(plain, x, generator, search=informed, unions=unions)
        placed = informed and unions  # where they were counted, so that nothing is searched for
        improve = partial(rebase_slots, partition=self.partition_) if informed and not placed else None
        members = build(self._networks, 1 if placed else self.n_restarts, x, pace.seed)
        if plain is not None and informed:
            _start(members, plain, x, generator, improve)
        with after:
            trained = self._slotted(members, x, last, improve)
        if plain is None or not twice:
            return trained
        with again:
            last = replace(last, checkpoint=pace.folder("unions"))
            if self._finds:
                return self._recounted(trained, x, first, last, generator)
            return _lower(trained, self._again(self._grouped(plain, x, first, generator), x, last))

    def _with_slots(
        self, plain: Objective | None, x: Tensor, generator: torch.Generator, *, search: bool, unions: bool
    ) -> Objective | None:
        """Remember the slots, as told or as counted in a warm model, and return the model to go on from."""
        if plain is None or not self._finds:
            found = listed(1 if self._finds else self.slots, self.n_components_)
        else:
            found, plain = find_slots(plain, x, generator, search=search, unions=unions)
        self.slot_of_ = _numbers(found)
        return plain

    def _slotted(self, members: list[Objective], x: Tensor, pace: Pace, improve: Any) -> Trained:
        """Train with the penalty."""
        return train_restarts(
            members,
            {"penalty": self.weight, "scale": WEIGHT_SCALE},
            x,
            pace,
            beside=Noise(self.n_components_),
            improve=None if self.additive else improve,
            improve_rounds=_SEARCHES,
        )

    def _grouped(self, plain: Objective, x: Tensor, pace: Pace, generator: torch.Generator) -> Objective:
        """Return a model that begins at sparse directions of a warm one, grouped by what they move together.

        Where they come in groups of other sizes than those told, the warm code has lost latents: principal
        components prefer the bends of a small slot to the last latents of a large one. Then directions are
        those of networks that began at random.
        """
        start, as_told = start_in_unions(plain, x, self.partition_, generator)
        if not as_told:
            start, _ = start_in_unions(self._begun_at_random(x, pace), x, self.partition_, generator)
        return start

    def _recounted(
        self, trained: Trained, x: Tensor, warm: Pace, pace: Pace, generator: torch.Generator
    ) -> Trained:
        """Count as many slots in networks that began at random, and where sizes differ keep the lower end.

        Their number is that of the warm code, which is told more clearly there; its sizes are wrong where it
        has lost latents.
        """
        n_slots, before = len(self.partition_), self.slot_of_
        found, start = find_slots(
            self._begun_at_random(x, warm), x, generator, search=True, unions=True, n_slots=n_slots
        )
        if sorted(map(len, found)) == sorted(map(len, self.partition_)):
            return trained
        self.slot_of_ = _numbers(found)
        other = self._again(start, x, pace)
        if min(trained.scores) <= min(other.scores):
            self.slot_of_ = before
        return _lower(trained, other)

    def _begun_at_random(self, x: Tensor, pace: Pace) -> Objective:
        return self._warmed_up(x, replace(pace, checkpoint=pace.folder("random")), linear=False)

    def _again(self, start: Objective, x: Tensor, pace: Pace) -> Trained:
        """Train with the penalty of these slots from the networks of another model, without a search."""
        (member,) = build(self._networks, 1, x, pace.seed)
        member.encoder, member.decoder = start.encoder, start.decoder
        return self._slotted([member], x, pace, None)

    def _starts_twice(self, n_rows: int) -> bool:
        """Whether slots are not told, or of unequal size, and a second start is asked for."""
        if self.additive or self.effort == "plain":
            return False
        sizes = () if self._finds else {len(slot) for slot in listed(self.slots, self.n_components_)}
        return len(sizes) != 1 and (self.effort == "thorough" or n_rows > _MANY_ROWS)

    @property
    def _finds(self) -> bool:
        return self.slots is None or (isinstance(self.slots, str) and self.slots == UNIONS)

    def _warmed_up(self, x: Tensor, pace: Pace, *, linear: bool = True) -> Objective:
        """Train for reconstruction alone, from principal components where networks have a linear part."""
        (member,) = build(self._plain, 1, x, pace.seed)
        if linear and has_linear_coordinates(member):
            n = self.n_components_
            start_linear(member, principal(x, n), torch.eye(n).to(x))
        return train_restarts(
            [member], {"scale": WEIGHT_SCALE}, x, pace, beside=Noise(self.n_components_)
        ).objective


def _lower(one: Trained, other: Trained) -> Trained:
    """Return what ended with the lower objective, with the scores of both."""
    best = min(one, other, key=lambda trained: min(trained.scores))
    return replace(best, scores=(*one.scores, *other.scores))


def _numbers(partition: Sequence[Sequence[int]]) -> np.ndarray:
    """Return the slot of each latent."""
    return np.array(
        [k for j in range(sum(map(len, partition))) for k, slot in enumerate(partition) if j in slot]
    )


def _start(
    members: list[Objective], plain: Objective, x: Tensor, generator: torch.Generator, improve: Any
) -> None:
    """Start members at the warm decoder, at its sparsest slots where each is to search for them."""
    ensemble = Ensemble([plain] * len(members), {})
    if improve is not None:
        improve(ensemble, (x,), generator)
    for number, member in enumerate(members):
        start = ensemble.extract(number)
        member.encoder = start.encoder
        if isinstance(member.decoder, AdditiveDecoder):
            start_additive(member.decoder, start, x)
        else:
            member.decoder = start.decoder


def listed(slots: Slots, n_components: int) -> list[list[int]]:
    """Return the latents of each slot, and refuse slots that do not divide the latents."""
    if isinstance(slots, Integral) and not isinstance(slots, bool):
        count = int(slots)
        if count < 1 or n_components % count:
            raise ValueError(
                f"`slots` must divide n_components={n_components}, got {slots}. List the latents of each "
                "slot where sizes differ."
            )
        return np.arange(n_components).reshape(count, -1).tolist()
    try:
        groups = [[int(j) for j in slot] for slot in slots]  # type: ignore[union-attr]
    except (TypeError, ValueError):
        raise TypeError(
            f"`slots` must be None, 'unions', a number or a sequence of latents for each slot, got {slots!r}."
        ) from None
    if sorted(j for slot in groups for j in slot) != list(range(n_components)) or not all(groups):
        raise ValueError(
            f"`slots` must hold each of {n_components} latents once, got {groups}. Check the indices."
        )
    return groups
