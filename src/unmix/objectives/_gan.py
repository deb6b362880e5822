"""The game of a generator and a discriminator, and the encoder that inverts the generator."""

from typing import Any

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor, nn

from unmix._group import among, drawn, normals, of_all, of_some, whole

from ._adversarial import moved_code, moving, path_deviation, path_lengths, r1, to_expose, to_pass
from ._augment import N_DRAWS, augmented
from ._likelihood import wide
from ._vae import as_floats

SPARSE_TERMS = (None, "intended", "released")
_FEWEST = 4  # images that a regulariser looks at, as many as the discriminator compares
_SHARES = {"r1": 16, "path": 8, "sparsity": 4}  # one image of so many is looked at, in every step
_SMOOTH = 0.05  # pace of the running mean of sign(D(real))

Domains = Int[Tensor, " n"] | None


class GameObjective(nn.Module):
    """What a generator, a discriminator and an encoder lower, each its own terms.

    `forward` has the generator's terms, `distinguish` the discriminator's, `invert` the encoder's. Noise
    comes with the batch and is split between the two players; the grain of the synthesis and the directions
    of path lengths are drawn by torch's own generator, which a run keeps in its checkpoint.

    Regularisers are lazy in images and not in steps: each step looks at one image of 16 for R1, of 8 for path
    lengths and of 4 for the sparse term, which costs as much as looking at all images now and then and has
    the same expectation, and every step does the same work.

    Parameters
    ----------
    decoder : CodedGenerator
        The generator, and the law of its codes.
    critic : Module
        (images, domains) -> logits.
    encoder : Module
    n_noise : int
        Columns of noise that the code takes.
    sparse : {None, "intended", "released"}
        The sparse term: mean |G(z) - G(z + step e_i)| / step with one grain; or as the public code has it,
        |G(z) - G(z)| with two grains, which measures the grain.
    step : float
        Of the sparse term.
    target : float, optional
        Of the running mean of sign(D(real)); None for no augmentation.
    reach : int
        Number of images in which the probability of augmentation may go from 0 to 1.

    References
    ----------
    Karras et al. (2020), arXiv:1912.04958 and arXiv:2006.06676; Li et al. (2025), arXiv:2503.00639.
    """

    p: Tensor
    sign: Tensor
    path: Tensor

    def __init__(
        self,
        decoder: "CodedGenerator",
        critic: nn.Module,
        encoder: nn.Module,
        *,
        n_noise: int,
        sparse: str | None = None,
        step: float = 0.1,
        target: float | None = 0.6,
        reach: int = 100_000,
    ) -> None:
        super().__init__()
        self.decoder, self.critic, self.encoder = decoder, critic, encoder
        self.n_noise, self.sparse, self.step, self.target, self.reach = n_noise, sparse, step, target, reach
        for name in ("p", "sign", "path"):
            self.register_buffer(name, torch.zeros(()))

    @property
    def n_columns(self) -> int:
        """Columns of noise beside a batch: codes and augmentations of both players, and the step's place."""
        return 2 * self.n_noise + 3 * N_DRAWS + self.decoder.code.n_changing

    def forward(
        self, x: Shaped[Tensor, "n h w c"], u: Domains, noise: Float[Tensor, "n e"]
    ) -> dict[str, Tensor]:
        """Return the generator's terms, unweighted; real images are not looked at."""
        draw = self._draws(noise)
        z = self.decoder.code(draw[1], u)
        w, grain = self.decoder.mapping(z), self._grain(z)
        image = self.decoder.synthesis(w, grain)
        terms = {"adversarial": to_pass(self.critic(self._seen(image, draw[2]), u))}
        terms["path"] = self._path(w, image, grain)
        if self.sparse is not None:
            terms["sparsity"] = self._sparsity(z, image, grain, draw[5])
        return terms | self.decoder.code.terms()

    def distinguish(
        self, x: Shaped[Tensor, "n h w c"], u: Domains, noise: Float[Tensor, "n e"]
    ) -> dict[str, Tensor]:
        """Return the discriminator's terms, unweighted, and move the probability of augmentation."""
        draw = self._draws(noise)
        with torch.no_grad():
            fake = self.made(draw[0], u)
        real = self._seen(as_floats(x), draw[3])
        logits = self.critic(real, u)
        self._adapt(logits.detach())
        return {
            "real": to_pass(logits),
            "fake": to_expose(self.critic(self._seen(fake, draw[4]), u)),
            "r1": self._slope(real, u),
        }

    def invert(
        self, x: Shaped[Tensor, "n h w c"], u: Domains, noise: Float[Tensor, "n e"]
    ) -> dict[str, Tensor]:
        """Return the encoder's terms: squared errors of codes of made images, and of real images."""
        x = as_floats(x)
        with torch.no_grad():
            z = self.decoder.code(noise[:, : self.n_noise], u)
            image = self.decoder(z)
        found = wide(self.encoder(torch.cat([image, x])))
        again = self.decoder(found[len(x) :])
        return {
            "code": (found[: len(x)] - z).square().mean(),
            "image": (again - x).square().mean(),
        }

    def made(self, noise: Float[Tensor, "n e"], u: Domains) -> Float[Tensor, "n h w c"]:
        """Return images of noise, with fresh grain."""
        z = self.decoder.code(noise, u)
        return self.decoder(z, self._grain(z))

    def _draws(self, noise: Tensor) -> tuple[Tensor, ...]:
        """Split: codes of either player, augmentations of made, real and made images, the step's place."""
        sizes = [self.n_noise, self.n_noise, N_DRAWS, N_DRAWS, N_DRAWS, self.decoder.code.n_changing]
        return noise.split(sizes, 1)

    def _grain(self, z: Tensor) -> Tensor:
        size = self.decoder.n_noise
        return drawn(len(z), lambda n: torch.randn(n, size, device=z.device, dtype=z.dtype))

    def _seen(self, image: Tensor, draw: Tensor) -> Tensor:
        """Return images as the discriminator sees them."""
        return image if self.target is None else augmented(image, self.p, draw)

    @torch.no_grad()
    def _adapt(self, logits: Tensor) -> None:
        if self.target is not None:
            self.sign.lerp_(of_all(logits.sign().mean()).to(self.sign.dtype), _SMOOTH)
            moving(self.sign, self.p, self.target, whole(len(logits)) / self.reach)

    def _path(self, w: Tensor, image: Tensor, grain: Tensor) -> Tensor:
        rows = _few(len(w), "path")
        with among(rows, w, grain) as (w, grain):
            y = normals(image, len(rows))
            lengths = path_lengths(lambda w: self.decoder.synthesis(w, grain), w, y)
            found = path_deviation(lengths, self.path)
        return of_some(found, rows)

    def _slope(self, real: Tensor, u: Domains) -> Tensor:
        rows = _few(len(real), "r1")
        with among(rows, real, *([] if u is None else [u])) as (some, *domains):
            found = r1(lambda x: self.critic(x, *domains), some)
        return of_some(found, rows)

    def _sparsity(self, z: Tensor, image: Tensor, grain: Tensor, draw: Tensor) -> Tensor:
        rows = _few(len(z), "sparsity")
        with among(rows, z, image, grain, draw) as (z, image, grain, draw):
            if self.sparse == "released":
                found = (self.decoder(z, self._grain(z)) - image).abs().mean() * self.decoder.grained
            else:
                moved = moved_code(z, draw, self.decoder.code.active, self.step)
                found = (self.decoder(moved, grain) - image).abs().mean() / self.step
        return of_some(found, rows)


class CodedGenerator(nn.Module):
    """A generator with the law of its codes beside it; a function of the code, as a decoder is.

    Parameters
    ----------
    code : Module
        (noise, domains) -> codes; see `NoiseCode`, `LabelCode`, `FlowCode`.
    generator : StyleGenerator
    """

    def __init__(self, code: Any, generator: Any) -> None:
        super().__init__()
        self.code, self.generator = code, generator

    def forward(
        self, z: Float[Tensor, "n z"], noise: Float[Tensor, "n e"] | None = None
    ) -> Float[Tensor, "n h w c"]:
        """Return the images of codes."""
        return self.generator(z, noise)

    @property
    def mapping(self) -> nn.Module:
        """The network from codes to styles w."""
        return self.generator.mapping

    @property
    def synthesis(self) -> nn.Module:
        """The network from styles w to images."""
        return self.generator.synthesis

    @property
    def n_noise(self) -> int:
        """The number of noise values of an image."""
        return self.generator.n_noise

    @property
    def grained(self) -> Bool[Tensor, ""]:
        """Whether noise reaches images; without strength two of them differ by rounding alone."""
        return self.synthesis.strength.any()  # type: ignore[union-attr, operator]


def _few(n: int, what: str) -> range:
    """Return the images of the whole batch that a regulariser looks at."""
    n = whole(n)
    return range(min(n, max(_FEWEST, n // _SHARES[what])))
