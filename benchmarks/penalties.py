"""What a penalty on the decoder of images adds to a step: a FactorVAE with and without, which take turns.

python benchmarks/penalties.py [--device cuda] [--rounds 6] [--quick] [--keep]

The networks are those of `FactorVAE.preset("locatello2019")`, ten latents, images of 64 x 64 x 3 bytes on the
device, batches of 64. On CUDA a step is recorded as a graph. In each round every contestant takes the same
number of steps; the ratio is of medians over rounds, so that others who use the machine matter little. The
goals are for CUDA: on a CPU a step is bound by arithmetic, and ten columns cost what theirs does.
"""

import statistics
import time
from functools import partial

import torch
from _table import judged, keep, parser, show
from torch.nn import functional as F

from unmix import FactorVAE
from unmix.penalties import dependency_sparsity, hessian_penalty, latent_sparsity, orojar
from unmix.training import Minibatches, Run, device
from unmix.training._graph import Recorder
from unmix.training._parts import RandomState
from unmix.training._play import Game

PENALTIES = {
    "none": None,
    "latent": latent_sparsity,
    "dependency, exact": dependency_sparsity,
    "dependency, one column": partial(dependency_sparsity, columns=1),
    "dependency, one secant": partial(dependency_sparsity, columns=1, step=0.1),
    "OroJAR, two secants": partial(orojar, exact=False, step=0.1),
    "Hessian penalty, two secants": partial(hessian_penalty, exact=False, step=0.1),
}
GOALS = {"dependency, exact": 2.5, "dependency, one column": 1.3}
WARM_UP = 8  # steps before the clock starts, of which the fourth is recorded


class Contestant:
    """A FactorVAE in training."""

    def __init__(self, penalty, images: torch.Tensor, batch: int) -> None:
        torch.manual_seed(0)
        model = FactorVAE.preset("locatello2019", penalty=penalty, penalty_weight=0.01)
        member = model._networks(tuple(images.shape[1:])).to(images.device)
        settings = {"lr": model.lr, "weights": {} if penalty is None else {"penalty": 0.01}}
        run, cuda = Run(n_steps=10**6, compile=False), images.is_cuda
        game = Game(model._players(member, settings), run, look_ahead=False, static=cuda)
        parts = {"players": game, "random": RandomState((), images.device)}
        self.update = Recorder(game, parts, run) if cuda else game
        generator = torch.Generator().manual_seed(0)
        self.batches = Minibatches(images, batch_size=batch, generator=generator, noise=20)
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
    asked.add_argument("--quick", action="store_true", help="small images, one step")
    options = asked.parse_args()
    where = device(options.device)
    cuda = where.type == "cuda"
    size, batch, n_steps = (16, 8, 1) if options.quick else (64, 64, 100 if cuda else 3)
    smooth = F.interpolate(torch.rand(1000, 3, 4, 4), size, mode="bilinear")
    images = (255 * smooth).byte().permute(0, 2, 3, 1).contiguous().to(where)
    found = {name: Contestant(penalty, images, batch) for name, penalty in PENALTIES.items()}
    for each in found.values():
        each.steps(WARM_UP if cuda else 1)
    for _ in range(options.rounds):
        for each in found.values():
            each.seconds.append(each.steps(n_steps))
    seconds = {name: statistics.median(each.seconds) for name, each in found.items()}
    times = {name: value / seconds["none"] for name, value in seconds.items()}
    rows = [(name, 1 / seconds[name], times[name]) for name in found]
    show(("penalty", "steps a second", "times none"), rows, f"{size} x {size}, batch {batch}, {where.type}")
    goals = judged({name: times[name] for name in GOALS}, GOALS) if cuda and not options.quick else {}
    if options.keep:
        measured = {"steps_per_second": {name: 1 / value for name, value in seconds.items()}, "times": times}
        keep(f"penalties_{where.type}", {"size": size, "batch": batch, **measured, "goals": goals})


if __name__ == "__main__":
    main()
