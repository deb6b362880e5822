"""Speed of the vectorised compositional contrast against a loop over pairs of slots, as ratios of one run.

python benchmarks/slots.py [--keep]

How well slots are found is measured by `unmix reproduce mechanistic.overlap`.
"""

import time
from itertools import combinations

import numpy as np
import torch
from _table import keep, parser, show

from unmix.nn import jacobian, mlp, residual_mlp
from unmix.penalties import compositional_contrast


def speed(n_slots: int = 10, repeats: int = 30) -> dict:
    """Time the contrast with its gradient, vectorised and as a loop over pairs of slots, same Jacobian.

    "alone": given the Jacobian (a linear decoder, whose Jacobian costs nothing); "network": with it.
    """
    torch.set_num_threads(1)
    torch.manual_seed(0)
    z = torch.randn(64, 3 * n_slots)

    def vectorised(f, z):
        return compositional_contrast(f, z, slots=n_slots)

    def loop(f, z):
        J = jacobian(f, z).unflatten(2, (n_slots, 3))
        pairs = combinations(range(n_slots), 2)
        norm = lambda k: (J[:, :, k].square().sum(2) + 1e-12).sqrt()  # noqa: E731
        return sum(((norm(k) * norm(m)).sum() for k, m in pairs), z.new_zeros(())) / len(z)

    def seconds(f, decoder) -> float:
        times = []
        for _ in range(repeats + 1):
            start = time.perf_counter()
            f(decoder, z).backward()
            times.append(time.perf_counter() - start)
        return float(np.median(times[1:]))

    found: dict = {"slots": n_slots}
    decoders = {
        "alone": mlp(3 * n_slots, 20 * n_slots, hidden=()),
        "network": residual_mlp(3 * n_slots, 20 * n_slots),
    }
    for name, decoder in decoders.items():
        assert torch.allclose(vectorised(decoder, z), loop(decoder, z), rtol=1e-3)
        fast, slow = seconds(vectorised, decoder), seconds(loop, decoder)
        found |= {f"{name}: vectorised": fast, f"{name}: loop": slow, f"{name}: ratio": slow / fast}
    return found


def main() -> None:
    options = parser(__doc__).parse_args()
    runs = [speed() for _ in range(3)]
    show(runs[0], (run.values() for run in runs))
    if options.keep:
        keep("slots", {"runs": runs})


if __name__ == "__main__":
    main()
