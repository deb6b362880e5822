"""Sparse autoencoders: tokens per second on a GPU, time against peers on a CPU, memory of a long stream.

--gpu      TopK, BatchTopK and the Jacobian pair, 12,288 features of 768, 32 active, batches of 4,096
--peers    steps of ours, of SAELens and of overcomplete in turns on the same work, CPU, where these are
           (pip install sae-lens overcomplete)
--memory   ten million tokens of 576 dimensions on disk (one shard under a hundred names), peak of the process
"""

import json
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

import _table
import numpy as np
import torch

import unmix
from unmix._files import atomic_write
from unmix.estimators import _sae_training as training
from unmix.nn import Feedforward
from unmix.objectives import SparseCoder, SparsePair, Units
from unmix.training import Minibatches, Player, Run, play

GOALS = {"TopK": 2.0e6, "BatchTopK": 1.5e6, "Jacobian step / pair": 1.5, "GB": 2.0}
GOALS |= {"ours / SAELens": 1.0, "ours / overcomplete": 1.0}

PEERS = {"SAELens": "sae-lens", "overcomplete": "overcomplete"}
TURNS = ("pair", "pair, Jacobian of 256")
Step = Callable[[torch.Tensor], None]


def main() -> None:
    parser = _table.parser(__doc__ or "")
    for option in ("gpu", "peers", "memory"):
        parser.add_argument(f"--{option}", action="store_true")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--tokens", type=int, default=10_000_000)
    asked = parser.parse_args()
    found: dict[str, Any] = {}
    if asked.gpu:
        found["gpu"] = on_gpu(asked.steps)
    if asked.peers:
        found[f"peers, threads: {torch.get_num_threads()}"] = against_peers()
    if asked.memory:
        found["memory"] = of_stream(asked.tokens)
    if asked.keep:
        keep(found)


def keep(found: dict[str, Any]) -> None:
    """Write what was measured this time; other parts stay, each with the machine that it was measured on."""
    path = _table.RESULTS / "sae.json"
    older = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    here = {"machine": _table.machine(), "versions": _table.versions()}
    document = older | {part: here | results for part, results in found.items()}
    atomic_write(path, json.dumps(document, indent=1) + "\n")


def on_gpu(steps: int, m: int = 12_288, k: int = 32, d: int = 768, batch: int = 4096) -> dict[str, Any]:
    """Measure steps as `fit` takes them, from the hundredth on."""
    place = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    x = torch.randn(262_144, d, generator=torch.Generator().manual_seed(1)).to(place)
    rng, hidden = np.random.default_rng(0), 4 * d
    block = Feedforward(rng.normal(size=(hidden, d)) / d**0.5, rng.normal(size=(d, hidden)) / hidden**0.5)
    shapes = {"m": m, "k": k, "d": d, "batch": batch}
    rates = {
        "TopK": speed(coder("topk", 0, **shapes), x, steps, place),
        "TopK, AuxK": speed(coder("topk", d // 2, **shapes), x, steps, place),
        "BatchTopK": speed(coder("batch_topk", 0, **shapes), x, steps, place),
        "BatchTopK, AuxK": speed(coder("batch_topk", d // 2, **shapes), x, steps, place),
    }
    pairs = {"pair": 0, "pair, Jacobian of 256": 256, "pair, Jacobian of 1,024": 1024}
    turns = [{name: speed(pair(block, n, **shapes), x, steps, place) for name, n in pairs.items()}]
    for _ in range(2):  # in turns, since others may use the GPU
        turns.append({name: speed(pair(block, pairs[name], **shapes), x, steps, place) for name in TURNS})
    rates |= {name: statistics.median(each[name] for each in turns if name in each) for name in pairs}
    _table.show(("what", "tokens/s", "ms a step"), [(n, r, 1000 * batch / r) for n, r in rates.items()])
    measured = {name: rates[name] for name in ("TopK", "BatchTopK")}
    ratios = [each[TURNS[0]] / each[TURNS[1]] for each in turns]
    measured["Jacobian step / pair"] = statistics.median(ratios)
    print("Jacobian step / pair, in turns:", *(f"{ratio:.2f}" for ratio in ratios))
    return {
        "tokens per second": rates,
        "Jacobian step / pair, in turns": ratios,
        "goals": _table.judged(measured, GOALS, at_least=("TopK", "BatchTopK")),
    }


def coder(kind: str, n_auxiliary: int, *, m: int, k: int, d: int, batch: int) -> Any:
    model = unmix.SparseAutoencoder(
        m, activation=kind, k=k, batch_size=batch, auxiliary=1 / 32 if n_auxiliary else 0
    )
    recipe = training.recipe_of(model, d, 10_000, batch)
    return model, training.built(lambda: SparseCoder(d, m, recipe), 0)


def pair(block: Feedforward, n_jacobian: int, *, m: int, k: int, d: int, batch: int) -> Any:
    model = unmix.JacobianSparseAutoencoder(m, k=k, batch_size=batch, n_jacobian=n_jacobian)
    recipe = training.recipe_of(model, d, 10_000, batch)
    coders = tuple(training.built(lambda: SparseCoder(d, m, recipe), seed) for seed in (0, 1))
    zero = torch.zeros(d)
    return model, SparsePair(coders, block, Units(zero, 1.0, zero, 1.0), n_jacobian)  # type: ignore[arg-type]


def speed(made: Any, x: torch.Tensor, steps: int, place: torch.device) -> float:
    """Return tokens per second."""
    model, objective = made
    objective.to(place)
    player = training.player_of(model, "", objective, steps, place)
    batches = Minibatches(x, batch_size=model.batch_size, generator=torch.Generator().manual_seed(0))
    first, moments = steps // 4, {}

    def watch(step: int, terms: Any) -> None:
        if step in (first, steps - 1):
            if place.type == "cuda":
                torch.cuda.synchronize()
            moments[step] = time.perf_counter()

    play([player], batches, Run(n_steps=steps, on_step=watch, compile=False, progress=False))
    if place.type == "cuda":
        torch.cuda.empty_cache()
    return (steps - 1 - first) * model.batch_size / (moments[steps - 1] - moments[first])


def against_peers(
    m: int = 4096, k: int = 32, d: int = 576, batch: int = 1024, rounds: int = 5
) -> dict[str, Any]:
    """Take turns: one TopK training step each, on the same batches, as many threads for all."""
    x = torch.randn(rounds * 2, batch, d, generator=torch.Generator().manual_seed(0))
    model, objective = coder("topk", d // 2, m=m, k=k, d=d, batch=batch)
    player: Player = training.player_of(model, "", objective, 1000, torch.device("cpu"))
    ours = unmix.training.Stepper([player])
    steps: dict[str, Step] = {"ours": lambda part: ours((part,))}
    for name, make in (("SAELens", sae_lens_step), ("overcomplete", overcomplete_step)):
        with suppress(ImportError):
            steps[name] = make(m, k, d)
    seconds: dict[str, list[dict[str, float]]] = {name: [] for name in steps}
    for part in x:
        for name, step in steps.items():
            seconds[name].append(_table.timed(lambda step=step, part=part: step(part))[1])
    middle = {name: _middle(spent[1:]) for name, spent in seconds.items()}
    heads = ("who", "s a step by the clock", "of the processor")
    _table.show(heads, [(name, each["wall"], each["processor"]) for name, each in middle.items()])
    peers = [name for name in steps if name != "ours"]
    own = middle["ours"]["processor"]
    measured = {f"ours / {name}": own / middle[name]["processor"] for name in peers}
    return {
        "seconds": middle,
        "threads": torch.get_num_threads(),
        "peers": {name: version(PEERS[name]) for name in peers},
        "goals": _table.judged(measured, GOALS),
    }


def _middle(spent: list[dict[str, float]]) -> dict[str, float]:
    return {kind: statistics.median(each[kind] for each in spent) for kind in ("wall", "processor")}


def sae_lens_step(m: int, k: int, d: int) -> Step:
    """Return a training step of SAELens, as its trainer takes it."""
    from sae_lens import TopKTrainingSAE, TopKTrainingSAEConfig
    from sae_lens.saes.sae import TrainStepInput

    theirs = TopKTrainingSAE(TopKTrainingSAEConfig(d_in=d, d_sae=m, k=k, device="cpu"))
    adam = torch.optim.Adam(theirs.parameters(), lr=3e-4)
    nobody = torch.zeros(m, dtype=torch.bool)

    def step(part: torch.Tensor) -> None:
        adam.zero_grad()
        asked = TrainStepInput(part, {}, nobody, 0, False)
        theirs.training_forward_pass(asked).loss.backward()
        torch.nn.utils.clip_grad_norm_(theirs.parameters(), 1.0)
        adam.step()

    return step


def overcomplete_step(m: int, k: int, d: int) -> Step:
    """Return a training step of overcomplete, with its own encoder and dictionary and a squared error."""
    from overcomplete.sae import TopKSAE

    theirs = TopKSAE(d, m, top_k=k, device="cpu").train()
    adam = torch.optim.Adam(theirs.parameters(), lr=3e-4)

    def step(part: torch.Tensor) -> None:
        adam.zero_grad()
        _, codes = theirs.encode(part)
        (part - theirs.decode(codes)).square().mean().backward()
        torch.nn.utils.clip_grad_norm_(theirs.parameters(), 1.0)
        adam.step()

    return step


def of_stream(n_tokens: int, d: int = 576, m: int = 128) -> dict[str, Any]:
    """Train one pass over a store of a hundred shards, all the same file under other names."""
    with tempfile.TemporaryDirectory() as folder:
        store = long_store(Path(folder), n_tokens, d)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        model = unmix.SparseAutoencoder(m, k=8, max_iter=1, auxiliary=0, device="cpu", random_state=0)
        _, spent = _table.timed(lambda: model.fit(store))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{model.n_tokens_seen_:,} tokens in {spent['wall']:.0f} s, {before:.2f} GB before")
    return {"tokens": n_tokens, **spent, "GB before": before, "goals": _table.judged({"GB": peak}, GOALS)}


def long_store(folder: Path, n_tokens: int, d: int, n_shards: int = 100) -> Path:
    """Write one shard, name it a hundred times, and index all."""
    from unmix.data import store_activations

    x = np.random.default_rng(0).normal(size=(n_tokens // n_shards, d)).astype(np.float16)
    np.save(folder / "x.npy", x)
    store = folder / "store"
    store_activations(folder / "x.npy", store, dtype="float16")
    index = json.loads((store / "index.json").read_text())
    first = index["shards"]
    shards = []
    for number in range(n_shards):
        for shard in first:
            name = f"copy-{number:03d}-{shard['file']}"
            os.link(store / shard["file"], store / name)
            shards.append(shard | {"file": name})
    np.save(store / "masked.npy", np.tile(np.load(store / "masked.npy"), n_shards))
    (store / "index.json").write_text(json.dumps(index | {"shards": shards, "n_rows": n_tokens}))
    return store


if __name__ == "__main__":
    main()
