"""Steps a second of a convolutional autoencoder: plain, recorded as a CUDA graph, compiled, and both.

python benchmarks/graphs.py [--device cuda] [--batch 128] [--quick] [--out results.json]

The network is that of Hsu et al. (2023), 7.6 million parameters, on images of 64 x 64 that lie on the device
as bytes and become numbers inside the loss. Each way of computing trains anew through `minimise`; the clock
starts after the first steps, in which a loss is compiled and a step recorded. With --quick the network and
the images are tiny; without CUDA there is nothing to record.

References
----------
Hsu et al. (2023), Disentanglement via latent quantization, appendix, arXiv:2305.18378.
"""

import argparse
import json
import platform
import time
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn
from torch.nn import functional as F

from unmix.training import Minibatches, device, minimise

N_CODES, STYLE = 12, 256
WARM_UP = 20  # steps before the clock starts
WAYS = {
    "plain": {"graph": False, "compile": False},
    "graph": {"graph": True, "compile": False},
    "compiled": {"graph": False, "compile": True},
    "compiled, graph": {"graph": True, "compile": True},
}


def normalised(x: Tensor) -> Tensor:
    """Instance norm, written out in single precision so that a compiler can join it with its neighbours."""
    centred = x.float() - x.float().mean((2, 3), keepdim=True)
    return centred * torch.rsqrt(centred.square().mean((2, 3), keepdim=True) + 1e-6)


class Block(nn.Module):
    """Convolution, instance norm with scale and shift, leaky ReLU."""

    def __init__(self, n_in: int, n_out: int, stride: int):
        super().__init__()
        self.conv = nn.Conv2d(n_in, n_out, 4 if stride == 2 else 3, stride, 1, bias=False)
        self.scale, self.shift = nn.Parameter(torch.ones(n_out, 1, 1)), nn.Parameter(torch.zeros(n_out, 1, 1))

    def forward(self, x: Tensor) -> Tensor:
        """Return the image of the next layer."""
        h = self.conv(x)
        return F.leaky_relu(normalised(h) * self.scale + self.shift, 0.2).to(h.dtype)


class StyledBlock(nn.Module):
    """Convolution or its transpose, leaky ReLU, instance norm with scale and shift read off the code."""

    def __init__(self, n_in: int, n_out: int, stride: int):
        super().__init__()
        kinds = {1: nn.Conv2d, 2: nn.ConvTranspose2d}
        self.conv = kinds[stride](n_in, n_out, 4 if stride == 2 else 3, stride, 1, bias=False)
        self.style = nn.Linear(STYLE, 2 * n_out)

    def forward(self, x: Tensor, w: Tensor) -> Tensor:
        """Return the image of the next layer, in the style w."""
        h = self.conv(x)
        scale, shift = F.relu(self.style(w)).float()[:, :, None, None].chunk(2, 1)
        return (normalised(F.leaky_relu(h, 0.2)) * scale + shift).to(h.dtype)


class Autoencoder(nn.Module):
    """Twelve blocks down to 4 x 4 and a code, twelve blocks up again; the widths are those at each size."""

    def __init__(self, widths: tuple[int, ...], channels: int = 3):
        super().__init__()
        down, up = [channels, *widths], [widths[-1], *widths[::-1]]
        self.down = nn.Sequential(
            *(block for a, b in zip(down, widths, strict=False) for block in _stage(Block, a, b))
        )
        self.up = nn.ModuleList(
            b for a, w in zip(up, widths[::-1], strict=False) for b in _stage(StyledBlock, a, w)
        )
        self.encode = nn.Sequential(nn.Flatten(), *_dense(16 * widths[-1]), nn.Linear(STYLE, N_CODES))
        self.style = nn.Sequential(*_dense(N_CODES))
        self.start = nn.Parameter(torch.full((1, widths[-1], 4, 4), 0.1))
        self.last = nn.Conv2d(widths[0], channels, 3, 1, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits of the pixels."""
        w = self.style(self.encode(self.down(x)))
        h = self.start.expand(len(x), -1, -1, -1).to(w.dtype).contiguous(memory_format=torch.channels_last)
        for block in self.up:
            h = block(h, w)
        return self.last(h)


def _stage(block: type[nn.Module], n_in: int, n_out: int) -> list[nn.Module]:
    return [block(n_in, n_out, 1), block(n_out, n_out, 1), block(n_out, n_out, 2)]


def _dense(n_in: int) -> list[nn.Module]:
    return [nn.Linear(n_in, STYLE), nn.ReLU(), nn.Linear(STYLE, STYLE), nn.ReLU()]


def steps_per_second(
    where: torch.device, batch: int, n_steps: int, quick: bool, **way: bool
) -> dict[str, float]:
    """Train and return the speed, the number of parameters, and how long the first steps took."""
    widths = (8, 8) if quick else (32, 64, 128, 256)
    torch.manual_seed(0)
    model = Autoencoder(widths).to(where, memory_format=torch.channels_last)
    size = 4 * 2 ** len(widths)
    images = (255 * F.interpolate(torch.rand(20 * batch, 3, 4, 4), size, mode="bilinear")).byte().to(where)
    batches = Minibatches(images, batch_size=batch, generator=torch.Generator().manual_seed(0))
    clock: list[float] = [time.perf_counter()]

    def loss(batch: tuple[Tensor, ...]) -> dict[str, Tensor]:
        x = batch[0].float() / 255
        logits = model(x.contiguous(memory_format=torch.channels_last))
        return {"fit": F.binary_cross_entropy_with_logits(logits.float(), x)}

    def on_step(step: int, terms: dict[str, Tensor]) -> None:
        if step + 1 in (WARM_UP, n_steps):
            terms["fit"].item()
            clock.append(time.perf_counter())

    history = minimise(
        loss,
        model,
        batches,
        n_steps=n_steps,
        precision="bf16" if where.type == "cuda" else None,
        weight_decay=1e-3,
        progress=False,
        on_step=on_step,
        **way,  # type: ignore[typeddict-item]
    )
    return {
        "steps_per_second": (n_steps - WARM_UP) / (clock[2] - clock[1]),
        "first_steps_seconds": clock[1] - clock[0],
        "parameters": sum(p.numel() for p in model.parameters()),
        "last": history.terms["fit"][-1],
    }


def table(results: dict) -> Table:
    drawn = Table(
        "steps", "a second", "times plain", f"first {WARM_UP}, s", "last loss", title="Training steps"
    )
    plain = results["ways"]["plain"]["steps_per_second"]
    for name, row in results["ways"].items():
        speed = row["steps_per_second"]
        first, last = f"{row['first_steps_seconds']:.1f}", f"{row['last']:.4f}"
        drawn.add_row(name, f"{speed:.1f}", f"{speed / plain:.2f}", first, last)
    return drawn


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="auto", help="cpu or cuda")
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--quick", action="store_true", help="a tiny network on tiny images")
    parser.add_argument("--out", type=Path, help="write the results to this JSON file")
    options = parser.parse_args()
    where = device(options.device)
    cuda = where.type == "cuda"
    batch, n_steps = (8, WARM_UP + 5) if options.quick else (options.batch, options.steps)
    ways = WAYS if cuda else {"plain": WAYS["plain"]}
    results = {
        "device": torch.cuda.get_device_name(where) if cuda else platform.processor() or "cpu",
        "torch": torch.__version__,
        "batch": batch,
        "ways": {
            name: steps_per_second(where, batch, n_steps, options.quick, **way) for name, way in ways.items()
        },
    }
    Console().print(f"{results['device']}, torch {results['torch']}, batch {batch}")
    Console().print(table(results))
    if options.out:
        options.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
