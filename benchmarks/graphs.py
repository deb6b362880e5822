"""Steps a second of a convolutional autoencoder: plain, recorded as a CUDA graph, compiled, and both.

python benchmarks/graphs.py [--device cuda] [--batch 128] [--quick] [--keep]

The network has 7.6 million parameters (`nn.conv_encoder`, `nn.conv_decoder`), the images of 64 x 64 x 3 lie
on the device as bytes. Each way of computing trains anew through `minimise`, in mixed precision on CUDA; the
clock starts after the first steps, in which a loss is compiled and a step recorded. With --quick the network
and the images are tiny; without CUDA there is nothing to record.
"""

import time

import torch
from _table import judged, keep, parser, show
from torch import Tensor
from torch.nn import functional as F

from unmix.nn import conv_decoder, conv_encoder
from unmix.objectives import Objective
from unmix.training import Minibatches, device, minimise

N_CODES = 12
WARM_UP = 20  # steps before the clock starts
WAYS = {
    "plain": {"graph": False, "compile": False},
    "graph": {"graph": True, "compile": False},
    "compiled": {"graph": False, "compile": True},
    "compiled, graph": {"graph": True, "compile": True},
}
GOAL = {"compiled and graphed, times plain": 5.0}


def objective(widths: tuple[int, ...], size: int) -> Objective:
    shape = (size, size, 3)
    return Objective(
        conv_encoder(shape, N_CODES, widths=widths),
        conv_decoder(N_CODES, shape, widths=widths[::-1]),
        N_CODES,
    )


def steps_per_second(where: torch.device, batch: int, n_steps: int, widths: tuple[int, ...], **way) -> dict:
    """Train and return the speed, the number of parameters, and how long the first steps took."""
    torch.manual_seed(0)
    size = 4 * 2 ** len(widths)
    model = objective(widths, size).to(where)
    smooth = F.interpolate(torch.rand(20 * batch, 3, 4, 4), size, mode="bilinear")
    images = (255 * smooth).byte().permute(0, 2, 3, 1).contiguous().to(where)
    generator = torch.Generator().manual_seed(0)
    batches = Minibatches(images, batch_size=batch, generator=generator, noise=N_CODES)
    clock = [time.perf_counter()]

    def on_step(step: int, terms: dict[str, Tensor]) -> None:
        if step + 1 in (WARM_UP, n_steps):
            terms["reconstruction"].item()
            clock.append(time.perf_counter())

    history = minimise(
        lambda batch: model(*batch),
        model,
        batches,
        n_steps=n_steps,
        precision="bf16" if where.type == "cuda" else None,
        progress=False,
        on_step=on_step,
        **way,
    )
    return {
        "steps_per_second": (n_steps - WARM_UP) / (clock[2] - clock[1]),
        "first_steps_seconds": clock[1] - clock[0],
        "parameters": sum(p.numel() for p in model.parameters()),
        "last": history.terms["reconstruction"][-1],
    }


def main() -> None:
    asked = parser(__doc__)
    asked.add_argument("--device", default="auto", help="cpu or cuda")
    asked.add_argument("--batch", type=int, default=128)
    asked.add_argument("--steps", type=int, default=300)
    asked.add_argument("--quick", action="store_true", help="a tiny network on tiny images")
    options = asked.parse_args()
    where = device(options.device)
    cuda = where.type == "cuda"
    widths = (8, 8) if options.quick else (32, 64, 128, 256)
    batch, n_steps = (8, WARM_UP + 5) if options.quick else (options.batch, options.steps)
    ways = WAYS if cuda else {"plain": WAYS["plain"]}
    found = {name: steps_per_second(where, batch, n_steps, widths, **way) for name, way in ways.items()}
    plain = found["plain"]["steps_per_second"]
    rows = [
        (
            name,
            row["steps_per_second"],
            row["steps_per_second"] / plain,
            row["first_steps_seconds"],
            row["last"],
        )
        for name, row in found.items()
    ]
    show(("steps", "a second", "times plain", f"first {WARM_UP}, s", "last loss"), rows, f"batch {batch}")
    times = rows[-1][2]
    goals = judged({next(iter(GOAL)): times}, GOAL, at_least=GOAL) if cuda and not options.quick else {}
    if options.keep:
        keep("graphs", {"batch": batch, "ways": found, "goals": goals})


if __name__ == "__main__":
    main()
