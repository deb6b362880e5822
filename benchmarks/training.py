"""Time of a training step of a small perceptron on the CPU, against a bare loop with torch's own optimiser.

python benchmarks/training.py [--quick] [--out results.json]

All contestants train the same network on the same batches and take turns; a ratio is the median over turns.
`minimise` also records the terms, checks that they are finite and can be interrupted; the bare loop does not.
"""

import time
from collections.abc import Callable

import torch
from _table import keep, parser, show
from torch import nn

from unmix.training import Minibatches, minimise

SHAPES = ((10, 32), (10, 128), (50, 256))  # data, hidden units
BATCH = 64


def problem(n_in: int, hidden: int) -> tuple[nn.Module, Minibatches]:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(n_in, hidden), nn.ReLU(), nn.Linear(hidden, n_in))
    x = torch.randn(1000, n_in, generator=torch.Generator().manual_seed(0))
    return model, Minibatches(x, batch_size=BATCH, generator=torch.Generator().manual_seed(1))


def ours(n_in: int, hidden: int, n_steps: int, **settings) -> None:
    model, batches = problem(n_in, hidden)

    def loss(batch):
        return {"fit": (model(batch[0]) - batch[0]).square().mean()}

    minimise(loss, model, batches, n_steps=n_steps, progress=False, **settings)


def bare(n_in: int, hidden: int, n_steps: int) -> None:
    model, batches = problem(n_in, hidden)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.0, fused=True)
    for _ in range(n_steps):
        (x,) = next(batches)
        optimiser.zero_grad()
        (model(x) - x).square().mean().backward()
        optimiser.step()


CONTESTANTS: dict[str, Callable[..., None]] = {
    "bare loop, torch.optim.AdamW": bare,
    "minimise": ours,
    "minimise, average": lambda *size: ours(*size, ema=0.99),
    "minimise, clipped": lambda *size: ours(*size, clip_norm=1.0),
}


def microseconds(shape: tuple[int, int], n_steps: int, repeats: int) -> dict[str, list[float]]:
    """Time a step of each contestant, all taking turns after one round to warm up."""
    times: dict[str, list[float]] = {name: [] for name in CONTESTANTS}
    for _ in range(repeats + 1):
        for name, train in CONTESTANTS.items():
            start = time.process_time()
            train(*shape, n_steps)
            times[name].append(1e6 * (time.process_time() - start) / n_steps)
    return {name: values[1:] for name, values in times.items()}


def measured(n_steps: int, repeats: int) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for shape in SHAPES:
        times = {name: torch.tensor(v) for name, v in microseconds(shape, n_steps, repeats).items()}
        base = times[next(iter(CONTESTANTS))]
        for name, values in times.items():
            found = {"microseconds": values.median().item(), "ratio": (values / base).median().item()}
            rows.append({"shape": list(shape), "contestant": name, **found})
    return rows


def main() -> None:
    asked = parser(__doc__)
    asked.add_argument("--quick", action="store_true", help="few steps: to see that it runs")
    options = asked.parse_args()
    torch.set_num_threads(1)
    rows = measured(*((50, 1) if options.quick else (1000, 9)))
    show(("data, hidden", "contestant", "µs a step", "ratio"), [list(row.values()) for row in rows])
    if options.keep:
        keep("training", {"steps": rows})


if __name__ == "__main__":
    main()
