"""Speed of the exact Jacobian penalty against its peers, as ratios measured in one run.

python benchmarks/jacobian.py [--device cuda] [--quick] [--keep]

The first table times one penalty step (forward and backward of the mean L1 norm of the Jacobian) of an MLP
decoder: ours, `vmap(jacrev)`, and a loop over samples of `torch.autograd.functional.jacobian`, timed on a few
samples and scaled up to the batch. The others time whole training steps of an autoencoder, with and without
the penalty. Contestants take turns, and a ratio is the median over turns: a slow moment of the machine
hits both of its sides.
"""

import time
from collections.abc import Callable

import torch
from _table import judged, keep, parser, show
from torch import Tensor, nn
from torch.func import functional_call, jacrev, vmap

from unmix.nn import mlp, value_and_jacobian, value_and_jvp_columns
from unmix.penalties import dependency_sparsity, jacobian_sparsity

BATCH = 512
LOOP_SAMPLES = 4
PENALTY_SHAPES = [(d_z, d_x) for d_z in (10, 20, 50) for d_x in (10, 50, 200)]
EXACT_SHAPES = [(5, 5), (5, 10), (5, 15), (5, 50)]
SAMPLED_SHAPES = [(d_z, d_x) for d_z in (5, 10, 20, 50, 100) for d_x in (d_z, 2 * d_z)]
GOALS = {"loop": 5.0, "jacrev": 1.0, "exact": 3.0, "columns": 2.5}

Step = Callable[[], object]


def ours(decoder: nn.Module, z: Tensor) -> Tensor:
    return dependency_sparsity(decoder, z)


def by_jacrev(decoder: nn.Module, z: Tensor) -> Tensor:
    parameters = dict(decoder.named_parameters())
    J = vmap(jacrev(lambda a: functional_call(decoder, parameters, (a,))))(z)
    return J.abs().sum((1, 2)).mean()


def by_loop(decoder: nn.Module, z: Tensor) -> Tensor:
    jacobian = torch.autograd.functional.jacobian
    return torch.stack([jacobian(decoder, a, create_graph=True).abs().sum() for a in z]).mean()


def penalty_step(penalty: Callable[[nn.Module, Tensor], Tensor], decoder: nn.Module, z: Tensor) -> Step:
    def step() -> None:
        decoder.zero_grad()
        penalty(decoder, z).backward()

    return step


def training_step(d_z: int, d_x: int, device: torch.device, reconstruct: Callable) -> Step:
    """One Adam step of an autoencoder; `reconstruct(decoder, z)` gives the reconstruction and the penalty."""
    encoder, decoder = mlp(d_x, d_z).to(device), mlp(d_z, d_x).to(device)
    optimiser = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-3)
    x = torch.randn(BATCH, d_x, device=device)

    def step() -> None:
        optimiser.zero_grad()
        x_hat, penalty = reconstruct(decoder, encoder(x))
        ((x - x_hat).square().sum(1).mean() + 0.05 * penalty).backward()
        optimiser.step()

    return step


def plain(decoder: nn.Module, z: Tensor) -> tuple[Tensor, float]:
    return decoder(z), 0.0


def with_exact(decoder: nn.Module, z: Tensor) -> tuple[Tensor, Tensor]:
    x_hat, J = value_and_jacobian(decoder, z)
    return x_hat, jacobian_sparsity(J)


def with_penalty(decoder: nn.Module, z: Tensor) -> tuple[Tensor, Tensor]:
    return decoder(z), dependency_sparsity(decoder, z)


def with_columns(decoder: nn.Module, z: Tensor) -> tuple[Tensor, Tensor]:
    columns = torch.randperm(z.shape[1], device=z.device)[:2]
    x_hat, J = value_and_jvp_columns(decoder, z, columns)
    return x_hat, jacobian_sparsity(J) * (z.shape[1] / 2)


def with_column_penalty(decoder: nn.Module, z: Tensor) -> tuple[Tensor, Tensor]:
    return decoder(z), dependency_sparsity(decoder, z, columns=2)


def milliseconds(steps: dict[str, Step], repeats: int, device: torch.device) -> dict[str, Tensor]:
    """Time each step, the steps taking turns after one round to warm up."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(repeats + 1):
        for name, step in steps.items():
            synchronise(device)
            start = time.perf_counter()
            step()
            synchronise(device)
            times[name].append(1e3 * (time.perf_counter() - start))
    return {name: torch.tensor(values[1:]) for name, values in times.items()}


def medians(times: dict[str, Tensor]) -> dict[str, float]:
    return {name: values.median().item() for name, values in times.items()}


def synchronise(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def penalty_row(d_z: int, d_x: int, device: torch.device, repeats: int) -> dict:
    decoder, z = mlp(d_z, d_x).to(device), torch.randn(BATCH, d_z, device=device)
    steps = {
        "ours": penalty_step(ours, decoder, z),
        "jacrev": penalty_step(by_jacrev, decoder, z),
        "loop": penalty_step(by_loop, decoder, z[:LOOP_SAMPLES]),
    }
    ms = milliseconds(steps, repeats, device)
    ms["loop"] *= BATCH / LOOP_SAMPLES
    ratios = medians({name: ms[name] / ms["ours"] for name in ("loop", "jacrev")})
    return {"d_z": d_z, "d_x": d_x, "milliseconds": medians(ms), "times_faster_than": ratios}


def training_row(
    d_z: int, d_x: int, device: torch.device, repeats: int, variants: dict[str, Callable]
) -> dict:
    variants = {"plain": plain, **variants}
    steps = {name: training_step(d_z, d_x, device, variant) for name, variant in variants.items()}
    ms = milliseconds(steps, repeats, device)
    ratios = medians({name: ms[name] / ms["plain"] for name in variants if name != "plain"})
    return {"d_z": d_z, "d_x": d_x, "milliseconds": medians(ms), "times_a_plain_step": ratios}


def measure(device: torch.device, quick: bool) -> dict:
    repeats, every = (5, 4) if quick else (25, 1)
    exact = {"exact": with_exact, "exact, decoder run twice": with_penalty}
    sampled = {"columns": with_columns, "columns, decoder run twice": with_column_penalty}
    return {
        "batch": BATCH,
        "repeats": repeats,
        "loop": f"timed on {LOOP_SAMPLES} samples, scaled to {BATCH}",
        "penalty": [penalty_row(*shape, device, repeats) for shape in PENALTY_SHAPES[::every]],
        "exact": [training_row(*s, device, 3 * repeats, exact) for s in EXACT_SHAPES[::every]],
        "columns": [training_row(*s, device, 3 * repeats, sampled) for s in SAMPLED_SHAPES[::every]],
    }


def worst(results: dict) -> dict[str, float]:
    """Return the worst ratio of each kind."""
    faster = [row["times_faster_than"] for row in results["penalty"]]
    return {name: min(row[name] for row in faster) for name in ("loop", "jacrev")} | {
        name: max(row["times_a_plain_step"][name] for row in results[name]) for name in ("exact", "columns")
    }


def draw(title: str, rows: list[dict], ratio: str) -> None:
    names, ratios = rows[0]["milliseconds"], rows[0][ratio]
    heads = ("d_z", "d_x", *(f"{n}, ms" for n in names), *(f"x {n}" for n in ratios))
    entries = ((row["d_z"], row["d_x"], *row["milliseconds"].values(), *row[ratio].values()) for row in rows)
    show(heads, entries, title=title)


def main() -> None:
    asked = parser(__doc__)
    asked.add_argument("--device", default="cpu", help="cpu or cuda")
    asked.add_argument("--quick", action="store_true", help="fewer shapes and repeats")
    options = asked.parse_args()
    torch.manual_seed(0)
    results = measure(torch.device(options.device), options.quick)
    draw("Penalty step: times faster than", results["penalty"], "times_faster_than")
    for kind in ("exact", "columns"):
        draw(f"Training step, {kind}: times a plain step", results[kind], "times_a_plain_step")
    goals = judged(worst(results), GOALS, at_least=("loop", "jacrev"))
    if options.keep:
        keep(f"jacobian_{options.device}", results | {"goals": goals})


if __name__ == "__main__":
    main()
