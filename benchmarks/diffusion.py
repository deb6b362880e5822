"""What the dependency term adds to a step of EncDiff: with and without it, which take turns.

python benchmarks/diffusion.py [--device cuda] [--rounds 6] [--quick] [--keep]

Images are 32 x 32 x 3 bytes on the device, batches of 64, one sampled token on an eighth of the batch; the
ratio is of medians over rounds. On CUDA a step is recorded as a graph.
"""

import statistics
import time
from functools import partial

import torch
from _table import judged, keep, parser, show

from unmix import EncDiff
from unmix.nn import leaky_encoder, unet
from unmix.penalties import dependency_sparsity
from unmix.training import Average, Minibatches, Player, Run, device
from unmix.training._graph import Recorder
from unmix.training._parts import RandomState
from unmix.training._play import Game

PENALTIES = {
    "none": None,
    "secant": partial(dependency_sparsity, columns=1, step=0.1, normalize="std"),
    "derivative": partial(dependency_sparsity, columns=1, normalize="std"),
}
GOALS = {"secant": 1.5}
WARM_UP = 8
SMALL = {
    "network": partial(unet, widths=(16, 32), n_blocks=1, attention=(1,), heads=4),
    "encoder": partial(leaky_encoder, widths=(16, 32, 64), dense=(128,)),
}


class Contestant:
    """An EncDiff in training."""

    def __init__(self, penalty, images: torch.Tensor, batch: int, **networks) -> None:
        torch.manual_seed(0)
        model = EncDiff(20, penalty=penalty, **networks)
        member = model._networks(tuple(images.shape[1:])).to(images.device)
        run, cuda = Run(n_steps=10**6, compile=False), images.is_cuda
        player = Player(loss=lambda batch: member(*batch), parameters=member, ema=Average(0.999))
        game = Game([player], run, look_ahead=False, static=cuda)
        parts = {"players": game, "random": RandomState((), images.device)}
        self.update = Recorder(game, parts, run) if cuda else game
        generator = torch.Generator().manual_seed(0)
        self.batches = Minibatches(images, batch_size=batch, generator=generator, noise=1)
        self.step, self.seconds = 0, []

    def steps(self, n_steps: int) -> float:
        """Take steps and return the seconds of one."""
        begun = time.process_time() if not self.batches.tensors[0].is_cuda else time.perf_counter()
        for _ in range(n_steps):
            row = self.update(next(self.batches), self.step)
            self.step += 1
        row.values.sum().item()
        ended = time.process_time() if not self.batches.tensors[0].is_cuda else time.perf_counter()
        return (ended - begun) / n_steps


def main() -> None:
    asked = parser(__doc__)
    asked.add_argument("--device", default="auto", help="cpu or cuda")
    asked.add_argument("--rounds", type=int, default=6)
    asked.add_argument("--quick", action="store_true", help="images of 16 pixels and small networks")
    options = asked.parse_args()
    where = device(options.device)
    size, n_steps = (16, 1) if options.quick else (32, 20 if where.type == "cuda" else 2)
    images = (255 * torch.rand(1000, size, size, 3)).byte().to(where)
    networks = SMALL if options.quick else {}
    found = {name: Contestant(penalty, images, 64, **networks) for name, penalty in PENALTIES.items()}
    for each in found.values():
        each.steps(WARM_UP if where.type == "cuda" else 1)
    for _ in range(options.rounds):
        for each in found.values():
            each.seconds.append(each.steps(n_steps))
    seconds = {name: statistics.median(each.seconds) for name, each in found.items()}
    times = {name: value / seconds["none"] for name, value in seconds.items()}
    rows = [(name, 1 / seconds[name], times[name]) for name in found]
    show(("penalty", "steps a second", "times none"), rows, f"{size} x {size}, batch 64, {where.type}")
    goals = judged({name: times[name] for name in GOALS}, GOALS)
    if options.keep:
        keep("diffusion", {"device": str(where), "size": size, "times": times, "goals": goals})


if __name__ == "__main__":
    main()
