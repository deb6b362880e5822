"""Diffusion: noise that is added to images by a schedule, told by a network, and taken away step by step."""

import math
from copy import deepcopy
from functools import partial

import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor, nn
from torch.nn import functional as F

from unmix._group import among, current, gathered, mine, normals, of_some, whole

from ._likelihood import Penalty, wide
from ._vae import as_floats

TARGETS = ("noise", "velocity")
THROUGH = ("noise", "image")
_GOLDEN = (5**0.5 - 1) / 2
_MOST = 0.999  # of a step's variance


def cosine_schedule(n_times: int, *, shift: float = 1.0) -> tuple[Float[Tensor, " t"], Float[Tensor, " t"]]:
    """Return how much of an image and how much noise there is at each time: x_t = a_t x + s_t noise.

    a_t^2 = prod_(r <= t) (1 - b_r) follows cos^2, with b_r at most .999, and s_t^2 = 1 - a_t^2.

    Parameters
    ----------
    n_times : int
    shift : float
        Factor of a_t / s_t. Neighbouring pixels of a larger image tell the same, so that it takes more noise
        to hide: 16 divided by its side brings it to what an image of 16 pixels has.

    Examples
    --------
    >>> a, s = cosine_schedule(1000)
    >>> [round(float(a[t] ** 2), 3) for t in (0, 500, 999)], bool((a**2 + s**2 - 1).abs().max() < 1e-6)
    ([1.0, 0.492, 0.0], True)

    References
    ----------
    Nichol and Dhariwal (2021), Improved denoising diffusion probabilistic models, Eq. (17), arXiv:2102.09672;
    Hoogeboom, Heek and Salimans (2023), Simple diffusion, Section 3.1 (the shift), arXiv:2301.11093.
    """
    share = torch.arange(n_times + 1, dtype=torch.float64) / n_times
    whole = torch.cos((share + 0.008) / 1.008 * math.pi / 2).square()
    left = torch.cumprod(1 - (1 - whole[1:] / whole[:-1]).clamp(max=_MOST), 0)
    left = torch.sigmoid(torch.logit(left) + 2 * math.log(shift))
    return left.sqrt().float(), (1 - left).sqrt().float()


class Pixels(nn.Module):
    """Images as diffusion takes them, from -1 to 1, and back."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.shape, self.bound = tuple(shape), 1.0

    def inside(self, x: Float[Tensor, "n h w c"]) -> Float[Tensor, "n h w c"]:
        """From pixels between 0 and 1."""
        return 2 * x - 1

    def outside(self, x: Float[Tensor, "n h w c"]) -> Float[Tensor, "n h w c"]:
        """To pixels between 0 and 1."""
        return (x.clamp(-1, 1) + 1) / 2


class Grids(nn.Module):
    """Images as small grids of vectors of a quantised autoencoder, which does not learn any more.

    Parameters
    ----------
    encoder, decoder : QuantisedEncoder, QuantisedDecoder
        With as many latents as the grid has places.
    shape : (height, width, size)
        Of a grid.
    """

    bound = 6.0  # standard deviations, beyond which no grid is looked for

    def __init__(self, encoder: nn.Module, decoder: nn.Module, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.encoder, self.decoder, self.shape = encoder, decoder, tuple(shape)
        self.register_buffer("centre", torch.zeros(shape[-1]))
        self.register_buffer("scale", torch.ones(shape[-1]))

    @torch.no_grad()
    def settle(self, x: Shaped[Tensor, "n h w c"]) -> "Grids":
        """Take mean and scale of the vectors from images, and stop to learn."""
        vectors = self.encoder.continuous(as_floats(x)).flatten(0, 1)  # type: ignore[operator]
        self.centre.copy_(vectors.mean(0))  # type: ignore[operator]
        self.scale.copy_(vectors.std(0).clamp_min(1e-6))  # type: ignore[operator]
        self.decoder.book = deepcopy(self.encoder.book)  # as a file keeps one for each network
        return self.requires_grad_(False).eval()  # type: ignore[return-value]

    @torch.no_grad()
    def inside(self, x: Float[Tensor, "n h w c"]) -> Float[Tensor, "n a b s"]:
        """From pixels between 0 and 1 to vectors before they are quantised."""
        vectors = (self.encoder.continuous(x) - self.centre) / self.scale  # type: ignore[operator]
        return vectors.unflatten(1, self.shape[:2])

    def outside(self, x: Float[Tensor, "n a b s"]) -> Float[Tensor, "n h w c"]:
        """To pixels; vectors are not rounded to the codebook, so that images have derivatives."""
        vectors = x.flatten(1, 2) * self.scale + self.centre  # type: ignore[operator]
        return self.decoder.network(vectors.flatten(1)).clamp(0, 1)  # type: ignore[operator, union-attr]


class DiffusionDecoder(nn.Module):
    """From codes to images: their tokens tell a network which noise to take away, from fixed noise on.

    `forward` is deterministic (DDIM with eta 0): the same codes give the same image, and two codes differ by
    what their tokens say alone.

    Parameters
    ----------
    tokens : Module
        From (n, k) to (n, k, d).
    network : Module
        From noisy images, times between 0 and 1 and tokens to images of the same shape.
    space : Pixels or Grids
        Where the diffusion runs.
    n_times, shift
        As for `cosine_schedule`.
    n_steps : int
        Steps from noise to an image.

    References
    ----------
    Song, Meng and Ermon (2021), Denoising diffusion implicit models, Eq. (12), arXiv:2010.02502.
    """

    signal: Tensor
    level: Tensor
    start: Tensor

    def __init__(
        self,
        tokens: nn.Module,
        network: nn.Module,
        space: "Pixels | Grids",
        *,
        n_times: int = 1000,
        shift: float = 1.0,
        n_steps: int = 50,
    ) -> None:
        super().__init__()
        self.tokens, self.network, self.space = tokens, network, space
        self.n_times, self.n_steps = n_times, min(n_steps, n_times)
        signal, level = cosine_schedule(n_times, shift=shift)
        self.register_buffer("signal", signal, persistent=False)
        self.register_buffer("level", level, persistent=False)
        self.register_buffer("start", torch.randn(1, *space.shape))

    def noised(
        self, x: Float[Tensor, "n *x"], t: Int[Tensor, " n"], noise: Float[Tensor, "n *x"]
    ) -> Float[Tensor, "n *x"]:
        """Return images with the noise of a time."""
        return self._at(self.signal, t, x) * x + self._at(self.level, t, x) * noise

    def velocity(
        self, x: Float[Tensor, "n *x"], t: Int[Tensor, " n"], z: Float[Tensor, "n k"]
    ) -> Float[Tensor, "n *x"]:
        """Return what the network tells of a noisy image and codes: a_t noise - s_t image.

        Both can be told from it at every time, while the noise alone says nothing of an image that is all
        noise.
        """
        return wide(self.network(x, t / self.n_times, self.tokens(z)))

    def noise(
        self, x: Float[Tensor, "n *x"], t: Int[Tensor, " n"], velocity: Float[Tensor, "n *x"]
    ) -> Float[Tensor, "n *x"]:
        """Return the noise in a noisy image."""
        return self._at(self.signal, t, x) * velocity + self._at(self.level, t, x) * x

    def denoised(
        self, x: Float[Tensor, "n *x"], t: Int[Tensor, " n"], velocity: Float[Tensor, "n *x"]
    ) -> Float[Tensor, "n *x"]:
        """Return the image without the noise."""
        return self._at(self.signal, t, x) * x - self._at(self.level, t, x) * velocity

    def forward(self, z: Float[Tensor, "n k"]) -> Float[Tensor, "n h w c"]:
        """Take the noise away in `n_steps` steps."""
        x = self.start.expand(len(z), *self.space.shape)  # type: ignore[operator]
        times = torch.linspace(self.n_times - 1, 0, self.n_steps).round().long().tolist()
        for now, after in zip(times, [*times[1:], None], strict=True):
            t = torch.full((len(z),), now, device=z.device)
            found = self.denoised(x, t, self.velocity(x, t, z))
            clean = found.clamp(-self.space.bound, self.space.bound)
            if after is None:
                return self.space.outside(clean)
            noise = (x - self._at(self.signal, t, x) * clean) / self._at(self.level, t, x)
            x = self.noised(clean, torch.full_like(t, after), noise)  # Eq. (12)
        return x

    def _at(self, values: Float[Tensor, " t"], t: Int[Tensor, " n"], x: Tensor) -> Tensor:
        return values[t].reshape(-1, *[1] * (x.ndim - 1))


class DiffusionObjective(nn.Module):
    """An encoder to scalars, and a network that tells noise from noisy images and the scalars' tokens.

    The terms are the mean squared error of the noise (or of the velocity, a_t noise - s_t image, which is
    that of the noise over a_t^2: the noisiest images, of which codes tell most, count as much as others), and
    where asked a penalty for each entry of an image on the way from codes to what the network tells of one
    noisy image: the noise, or the image left without it.

    Parameters
    ----------
    encoder : Module
        From images to (n, k).
    decoder : DiffusionDecoder
    target : {"noise", "velocity"}
        Whose error is squared.
    penalty : callable (decoder, z) -> scalar, optional
    through : {"noise", "image"}
        What the penalty looks at.
    share : float
        Part of each batch that the penalty looks at, at least one image.

    References
    ----------
    Yang et al. (2024), Eq. (4), arXiv:2402.09712; Ho, Jain and Abbeel (2020), Denoising diffusion
    probabilistic models, Eq. (14), arXiv:2006.11239.
    """

    def __init__(
        self,
        encoder: nn.Module,
        decoder: DiffusionDecoder,
        *,
        target: str = "noise",
        penalty: Penalty | None = None,
        through: str = "noise",
        share: float = 1.0,
    ) -> None:
        super().__init__()
        self.encoder, self.decoder, self.target = encoder, decoder, target
        self.penalty, self.through, self.share = penalty, through, share

    def forward(self, x: Shaped[Tensor, "n h w c"], place: Float[Tensor, "n 1"]) -> dict[str, Tensor]:
        """Return the terms; `place` is normal, and says where among the times the batch begins."""
        x = as_floats(x)
        noise = normals(self.decoder.space.inside(x), whole(len(x)))
        return self.terms(x, self.times(place), noise)

    def terms(
        self, x: Float[Tensor, "n h w c"], t: Int[Tensor, " n"], noise: Float[Tensor, "n *x"]
    ) -> dict[str, Tensor]:
        """Return the terms for times and noise that were drawn."""
        z, clean = wide(self.encoder(x)), self.decoder.space.inside(x)
        noisy = self.decoder.noised(clean, t, noise)
        told, penalty = self._passed(noisy, t, z)
        if self.target == "noise":
            found = {"noise": F.mse_loss(self.decoder.noise(noisy, t, told), noise)}
        else:
            found = {"velocity": F.mse_loss(told, self.decoder.noised(noise, t, -clean))}
        return found if penalty is None else found | {"penalty": penalty}

    def _passed(
        self, noisy: Float[Tensor, "n *x"], t: Int[Tensor, " n"], z: Float[Tensor, "n k"]
    ) -> tuple[Float[Tensor, "n *x"], Float[Tensor, ""] | None]:
        """Return what the network tells of a batch, and the penalty: by one pass for both where it can be.

        A small batch costs a GPU nearly as much as a large one. Differences ask the network for values alone,
        which are computed beside those of the batch, unless in half precision or by several processes.
        """
        if self.penalty is None:
            return self.decoder.velocity(noisy, t, z), None
        rows = range(max(1, round(self.share * whole(len(z)))))
        if self._in_one_pass(z):
            beside = _Beside(self, noisy, t, z, len(rows))
            penalty = self.penalty(beside, z[: len(rows)])
            told = beside.told
        else:
            with among(rows, noisy, t, z) as (some, times, codes):
                penalty = self.penalty(partial(self.told, some, times), codes)
            penalty, told = of_some(penalty, rows), None
        told = self.decoder.velocity(noisy, t, z) if told is None else told
        return told, penalty / noisy[0].numel()

    def _in_one_pass(self, z: Float[Tensor, "n k"]) -> bool:
        """Say whether the penalty asks for values alone, of rows that this process has in full precision."""
        precise = not torch.is_autocast_enabled(z.device.type)
        return self.penalty is not None and _by_differences(self.penalty) and precise and not current().parted

    def told(
        self, x: Float[Tensor, "m *x"], t: Int[Tensor, " m"], z: Float[Tensor, "n k"]
    ) -> Float[Tensor, "n *x"]:
        """Return what is told of noisy images, again for every further set of codes."""
        x, t = self._again(x, t, len(z))
        return self._seen(x, t, self.decoder.velocity(x, t, z))

    def _again(
        self, x: Float[Tensor, "m *x"], t: Int[Tensor, " m"], n: int
    ) -> tuple[Float[Tensor, "n *x"], Int[Tensor, " n"]]:
        """Return noisy images and their times once more for every further set of codes."""
        times, left = divmod(n, len(t))
        if left:
            raise ValueError(
                f"`penalty` must decode all {len(t)} codes at once, each beside its own image, got {n}. "
                "Take columns of the Jacobian: partial(dependency_sparsity, columns=1)."
            )
        return x.repeat(times, *[1] * (x.ndim - 1)), t.repeat(times)

    def _seen(
        self, x: Float[Tensor, "n *x"], t: Int[Tensor, " n"], velocity: Float[Tensor, "n *x"]
    ) -> Float[Tensor, "n *x"]:
        """Return what a penalty looks at."""
        return (self.decoder.noise if self.through == "noise" else self.decoder.denoised)(x, t, velocity)

    def times(self, place: Float[Tensor, "n 1"]) -> Int[Tensor, " n"]:
        """Return times that cover the whole evenly from a random place on, also in a part of a batch."""
        first = torch.special.ndtr(gathered(place)[:1, 0].float())
        steps = mine(torch.arange(whole(len(place)), device=place.device)) * _GOLDEN
        share = torch.remainder(first + steps, 1.0)
        return (share * self.decoder.n_times).long().clamp(max=self.decoder.n_times - 1)


class _Beside:
    """From codes to what is told of noisy images; the first call computes a whole batch beside them.

    Attributes
    ----------
    told : Tensor, optional
        What the network told of the batch, once somebody has called.
    """

    def __init__(self, objective: DiffusionObjective, noisy: Tensor, t: Tensor, z: Tensor, n: int) -> None:
        self.objective, self.batch, self.n = objective, (noisy, t, z), n
        self.told: Tensor | None = None

    def __call__(self, codes: Float[Tensor, "m k"]) -> Float[Tensor, "m *x"]:
        noisy, t, z = self.batch
        x, at = self.objective._again(noisy[: self.n], t[: self.n], len(codes))
        if self.told is not None:
            return self.objective._seen(x, at, self.objective.decoder.velocity(x, at, codes))
        both = zip((noisy, t, z), (x, at, codes), strict=True)
        velocity = self.objective.decoder.velocity(*(torch.cat(pair) for pair in both))
        self.told = velocity[: len(z)]
        return self.objective._seen(x, at, velocity[len(z) :])


def _by_differences(penalty: Penalty) -> bool:
    """Say whether a penalty is known to take differences, and no derivatives, of what it looks at."""
    return getattr(penalty, "keywords", {}).get("step") is not None
