"""What estimators that learn to make images share: two players, then an encoder for the generator."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from unmix._waiting import stages
from unmix.objectives import GameObjective
from unmix.tables import features_of
from unmix.training import Average, Drawn, Noise, Pace, Player, Run, Trained, minimise, play, seeded

from . import _images
from ._latent_estimator import Factory, LatentEstimator, build
from ._sheets import Sheets

CHECKPOINT_EVERY = 500  # steps
BETAS = (0.0, 0.99)  # of both players' Adam


class GameEstimator(LatentEstimator):
    """A generator of images trained against a discriminator, and an encoder trained to invert it."""

    takes = ("images",)
    # what `__init__` of every subclass stores
    encoder: Factory
    decoder: Factory
    critic: Callable[..., nn.Module]
    r1: float
    path: float
    augment: float | None
    ema: float
    inversion: float
    samples: Any
    max_steps: int | None
    precision: str | None

    @abstractmethod
    def _networks(self, shape: Any) -> GameObjective:
        """Build the game's networks, untrained, for images of a shape."""

    def _weights(self) -> dict[str, float]:
        """Return the weights of the generator's terms."""
        return {"path": self.path}

    def _play(self, x: Tensor | Drawn, pace: Pace, source: Any) -> Trained:
        """Let the players move in turn, then train the encoder on the averaged generator."""
        pace = replace(pace, max_steps=self.max_steps)
        (member,) = build(self._networks, 1, x, pace.seed)
        n_game = pace.steps(len(source))
        n_after = max(1, round(self.inversion * n_game))
        before, after = stages([n_game, n_after])
        with seeded(member, pace.seed):
            with before:
                history = self._game(member.train(), source, pace, n_game)
            with after:
                last = self._inversion(member.requires_grad_(False), source, pace, n_after)
        score = sum(values[-1] for values in last.terms.values())
        return Trained(member.requires_grad_(False), history, (score,))

    def _game(self, member: GameObjective, source: Any, pace: Pace, n_steps: int) -> Any:
        average = Average(self.ema)
        sheets = self._sheets(member, average, n_steps, pace)
        run = Run(
            n_steps=n_steps,
            checkpoint=pace.folder("game"),
            checkpoint_every=CHECKPOINT_EVERY,
            progress=pace.progress,
            on_step=sheets,
            compile=False,
        )
        batches = self._batches(member, source, pace, 0)
        return play(self._players(member, average, pace.lr), batches, run)

    def _players(self, member: GameObjective, average: Average, lr: float) -> list[Player]:
        """Let the discriminator move, then the generator."""
        shared: dict[str, Any] = {"lr": lr, "betas": BETAS, "precision": self.precision}
        made = {f"decoder.{name}": tensor for name, tensor in _tensors(member.decoder).items()}
        judged = {f"critic.{name}": tensor for name, tensor in _tensors(member.critic).items()}
        return [
            Player(
                name="discriminator",
                loss=lambda batch: member.distinguish(*_parted(batch)),
                parameters=judged | {"p": member.p, "sign": member.sign},
                weights={"r1": self.r1},
                **shared,
            ),
            Player(
                name="generator",
                loss=lambda batch: member(*_parted(batch)),
                parameters=made | {"path": member.path},
                weights=self._weights(),
                ema=average,
                **shared,
            ),
        ]

    def _inversion(self, member: GameObjective, source: Any, pace: Pace, n_steps: int) -> Any:
        member.encoder.requires_grad_(True).train()
        return minimise(
            lambda batch: member.invert(*_parted(batch)),
            member.encoder,
            self._batches(member, source, pace, 1),
            n_steps=n_steps,
            lr=1e-3,
            schedule="cosine",
            checkpoint=pace.folder("inversion"),
            checkpoint_every=CHECKPOINT_EVERY,
            progress=pace.progress,
            precision=self.precision,
        )

    def _batches(self, member: GameObjective, source: Any, pace: Pace, stream: int) -> Any:
        noise = Noise(member.n_columns)
        return noise.batches(source, 0, batch_size=pace.batch_size, generator=pace.generator(stream))

    def _sheets(self, member: GameObjective, average: Average, n_steps: int, pace: Pace) -> Any:
        """Return what saves samples while training, None where no folder is given."""
        if self.samples is None:
            return None
        return Sheets(Path(self.samples), member, average, n_steps, pace.generator(2), self._sheet_domains())

    @abstractmethod
    def _sheet_domains(self) -> int:
        """Return the number of domains that the saved samples show, one row each."""

    def _part(self, X: Any) -> ModuleType:
        """Return the part for images, the only data that are taken."""
        if not (_images.is_images(X) or _images.is_rendered(X)):
            raise TypeError(
                f"`X` must be images of shape (n, height, width, channels) for {type(self).__name__}, got "
                f"shape {tuple(np.shape(features_of(X)))}. Use BetaVAE for tables, and "
                "`X[..., None]` for grey images."
            )
        return _images

    def _made(self, n: int, u: np.ndarray | None, random_state: Any) -> np.ndarray:
        """Return images of fresh codes, with fresh grain."""
        check_is_fitted(self)
        if not isinstance(n, int | np.integer) or n < 1:
            raise ValueError(f"`n` must be an integer of at least 1, got {n!r}. Ask for an image at least.")
        seed = int(check_random_state(random_state).randint(2**31 - 1))
        generator = torch.Generator().manual_seed(seed)
        noise = torch.randn(n, self.n_components_, generator=generator)
        with torch.no_grad():
            codes = self.decoder_.code(noise, None if u is None else torch.as_tensor(u))

        def drawn(z: Tensor) -> Tensor:
            grain = torch.randn(len(z), self.decoder_.n_noise, generator=generator)
            return self.decoder_(z, grain.to(z)).clamp(0, 1)

        return _images.decoded(self, codes.numpy(), drawn)


def _tensors(module: nn.Module) -> dict[str, Tensor]:
    return dict(module.named_parameters()) | dict(module.named_buffers())


def _parted(batch: Any) -> tuple[Tensor, Tensor | None, Tensor]:
    """Return images, domains where there are some, and noise."""
    x, *u, noise = batch
    return x, u[0] if u else None, noise
