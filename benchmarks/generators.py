"""What the sparse term adds to a step of the game: CGGAN with and without it, which take turns.

python benchmarks/generators.py [--device cuda] [--rounds 6] [--quick] [--keep]

Networks are the defaults, images 32 x 32 x 3 bytes on the device in two domains, batches of 64; a step is one
move of the discriminator and one of the generator. On CUDA it is recorded as a graph. In each round every
contestant takes the same number of steps; the ratio is of medians over rounds.
"""

import statistics
import time
from functools import partial

import numpy as np
import torch
from _table import judged, keep, parser, show

from unmix import CGGAN
from unmix.nn import style_discriminator, style_generator
from unmix.training import Average, Minibatches, Run, device
from unmix.training._graph import Recorder
from unmix.training._parts import RandomState
from unmix.training._play import Game

TERMS = {"none": None, "intended": "intended", "released": "released"}
GOALS = {"intended": 1.25}
WARM_UP = 8  # steps before the clock starts, of which the fourth is recorded
SMALL = {
    "decoder": partial(style_generator, widths=(16, 16, 16), style=16),
    "critic": partial(style_discriminator, widths=(16, 16, 16)),
}


class Contestant:
    """A CGGAN in training."""

    def __init__(self, sparse: str | None, images: torch.Tensor, batch: int, **networks) -> None:
        torch.manual_seed(0)
        model = CGGAN(32, n_changing=8, sparse=sparse, **networks)
        model.domain_shares_ = np.array([0.5, 0.5])
        member = model._networks(tuple(images.shape[1:])).to(images.device)
        run, cuda = Run(n_steps=10**6, compile=False), images.is_cuda
        game = Game(model._players(member, Average(0.995), model.lr), run, look_ahead=False, static=cuda)
        parts = {"players": game, "random": RandomState((), images.device)}
        self.update = Recorder(game, parts, run) if cuda else game
        u = torch.arange(len(images), dtype=torch.int32, device=images.device) % 2
        generator = torch.Generator().manual_seed(0)
        self.batches = Minibatches(images, u, batch_size=batch, generator=generator, noise=member.n_columns)
        self.step, self.seconds = 0, []

    def steps(self, n_steps: int) -> float:
        """Take steps and return the seconds of one."""
        begun = time.perf_counter()
        for _ in range(n_steps):
            row = self.update(next(self.batches), self.step)
            self.step += 1
        row.values.sum().item()
        return (time.perf_counter() - begun) / n_steps


def main() -> None:
    asked = parser(__doc__)
    asked.add_argument("--device", default="auto", help="cpu or cuda")
    asked.add_argument("--rounds", type=int, default=6)
    asked.add_argument("--quick", action="store_true", help="small images and networks, one step")
    options = asked.parse_args()
    where = device(options.device)
    cuda = where.type == "cuda"
    size, batch, n_steps = (16, 16, 1) if options.quick else (32, 64, 50 if cuda else 2)
    images = (255 * torch.rand(1000, size, size, 3)).byte().to(where)
    networks = SMALL if options.quick else {}
    found = {name: Contestant(sparse, images, batch, **networks) for name, sparse in TERMS.items()}
    for each in found.values():
        each.steps(WARM_UP if cuda else 1)
    for _ in range(options.rounds):
        for each in found.values():
            each.seconds.append(each.steps(n_steps))
    seconds = {name: statistics.median(each.seconds) for name, each in found.items()}
    times = {name: value / seconds["none"] for name, value in seconds.items()}
    rows = [(name, 1 / seconds[name], times[name]) for name in found]
    show(
        ("sparse term", "steps a second", "times none"), rows, f"{size} x {size}, batch {batch}, {where.type}"
    )
    goals = {} if options.quick else judged({name: times[name] for name in GOALS}, GOALS)
    if options.keep:
        measured = {"steps_per_second": {name: 1 / value for name, value in seconds.items()}, "times": times}
        keep(f"generators_{where.type}", {"size": size, "batch": batch, **measured, "goals": goals})


if __name__ == "__main__":
    main()
