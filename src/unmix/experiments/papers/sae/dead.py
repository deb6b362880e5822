"""What makes features die, and in which order: TopK, BatchTopK, Jacobian pairs, one cause at a time.

Zheng et al. (2026), arXiv:2604.17568, Table 3, count 439, 207 and 62 dead features of 12,288; with the
defaults here nobody has one (`ddl.table3`). Each row of this table changes one thing: the mean is kept and
the bias starts at zero, as in bartbussmann/BatchTopK; the encoder starts apart from the dictionary; the rate
is ten times as high; fewer features are active; the dictionary is wider; training lasts longer. Same tokens
for all, no auxiliary term for anyone but in one row, features counted with frozen weights by three rules:
never on in tokens held out; not on in 20,480 tokens, five batches of that code; never on in the tokens of
training, the nearest here to the four million of jacobian-saes. BatchTopK and the pair are also counted where
they explain as much of the inputs as TopK does, on the line between two numbers of active features. Beside
them stands the share of the features of TopK that are never on before training: random atoms.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from unmix.estimators import JacobianSparseAutoencoder, SparseAutoencoder
from unmix.estimators._sae_training import Scale, Source, place_of, player_of, run_of, source_of
from unmix.rows import array_rows
from unmix.training import play

from ...engine import Cell, Place
from ._common import Site, data_name, site

__all__ = ["BUDGETS", "CELLS", "data_name", "run"]

BUDGETS = ("smoke", "laptop", "gpu")
METHODS = {"TopK": "topk", "BatchTopK": "batch_topk", "JSAE": "jacobian"}
RULES = {
    "held": "never on in tokens held out",
    "window": "not on in 20,480 tokens",
    "trained": "never on in tokens of training",
}
WINDOW = 20_480
# rows planted, variables, width over variables, active, passes, batch
SIZES: dict[str, tuple[int, int, int, int, int, int]] = {
    "smoke": (600, 12, 4, 4, 2, 100),
    "laptop": (8000, 24, 8, 4, 20, 512),
    "gpu": (40_000, 24, 16, 32, 40, 2048),
}


@dataclass(frozen=True)
class Cause:
    """What is changed of a training: whether the mean goes, whether the encoder starts tied; and factors."""

    centred: bool = True
    tied: bool = True
    auxiliary: float = 0.0
    rate: float = 1.0
    active: float = 1.0
    width: float = 1.0
    passes: float = 1.0


CAUSES: dict[str, Cause] = {
    "as it is": Cause(),
    "mean kept": Cause(centred=False),
    "mean kept, AuxK": Cause(centred=False, auxiliary=1 / 32),
    "mean kept, own encoder": Cause(centred=False, tied=False),
    "rate x 10": Cause(rate=10.0),
    "own encoder": Cause(tied=False),
    "k / 4": Cause(active=0.25),
    "passes x 4": Cause(passes=4.0),
    "width x 2": Cause(width=2.0),
}


def _columns() -> Iterator[tuple[str, str, bool]]:
    """Yield the name of each value, the words for it, and whether every run has it."""
    for method in METHODS:
        for rule, words in RULES.items():
            yield f"{method}, input, {rule}", f"{method}, input: {words}", True
        yield f"{method}, output, held", f"{method}, output: {RULES['held']}", True
        yield f"{method}, input, explained", f"{method}, input: variance explained", True
        yield f"{method}, output, explained", f"{method}, output: variance explained", True
        if method != "TopK":
            words = f"{method}, input: {RULES['held']}, where as much is explained as by TopK"
            yield f"{method}, equal", words, False
    yield "random", "TopK, input: never on in tokens held out, before training", True


CELLS = tuple(
    Cell(row, words, value=value, settings={"row": row}, better="lower", always=always)
    for row in CAUSES
    for value, words, always in _columns()
)


def run(
    cell: Cell, seed: int, budget: str, data: str | None = None, place: Place | None = None
) -> dict[str, Any]:
    """Train all methods under one cause on the same tokens, and count."""
    n, d, width, k, passes, batch = SIZES[budget]
    cause, where = CAUSES[cell.settings["row"]], place or Place("cpu")
    found = site(data, seed, n_planted=n, d=d)
    settings: dict[str, Any] = {
        "n_components": int(width * cause.width * found.train.shape[1]),
        "auxiliary": cause.auxiliary,
        "max_iter": max(1, round(passes * cause.passes)),
        "batch_size": batch,
        "lr": cause.rate * (5e-4 if data is not None else 5e-3),
        "device": "auto" if place is None else where.device,
        "random_state": 100 + seed,
    }
    k = max(1, round((k if data is not None else 4) * cause.active))
    with where.training():
        return counted_all(Bench(found, cause, settings), k)


def counted_all(bench: "Bench", k: int) -> dict[str, float]:
    """Count for every method at k, and again where it explains as much of the inputs as TopK."""
    values = {"random": bench.untrained(k)}
    for method in METHODS:
        own = bench.counts(method, k)
        values |= {f"{method}, {name}": value for name, value in own.items()}
        goal = values["TopK, input, explained"]
        if method != "TopK":
            other = bench.counts(
                method, max(1, round(k * (1.25 if own["input, explained"] < goal else 0.75)))
            )
            values[f"{method}, equal"] = at_equal(goal, own, other)
    return values


def at_equal(goal: float, *counts: dict[str, float]) -> float:
    """Return the share of dead features at a variance explained, on the line through two points.

    >>> near, far = ({"input, explained": e, "input, held": h} for e, h in ((0.7, 0.1), (0.8, 0.2)))
    >>> round(at_equal(0.75, near, far), 3)
    0.15
    """
    (e0, e1), (h0, h1) = ([each[f"input, {name}"] for each in counts] for name in ("explained", "held"))
    share = (goal - e0) / (e1 - e0) if e1 != e0 else 0.0
    return float(np.clip(h0 + share * (h1 - h0), 0, 1)) if -0.5 <= share <= 2 else float("nan")


class Bench:
    """The activations on both sides of a block, and how dictionaries of them are trained here."""

    def __init__(self, found: Site, cause: Cause, settings: dict[str, Any]) -> None:
        self.found, self.cause, self.settings = found, cause, settings
        self.train = {"input": found.train, "output": _mapped(found.block, found.train, settings)}
        self.held = {"input": found.held, "output": _mapped(found.block, found.held, settings)}

    def counts(self, method: str, k: int) -> dict[str, float]:
        """Train a method, and return what is dead and what is explained on both sides."""
        if METHODS[method] == "jacobian":
            made = self._pair(k)
            sides = {"input": made.input, "output": made.output}
        else:
            sides = {side: self._one(METHODS[method], k, side) for side in ("input", "output")}
        found: dict[str, float] = {}
        for side, model in sides.items():
            found[f"{side}, explained"] = float(model.score(self.held[side]))
            found[f"{side}, held"] = _dead(model, self.held[side])
        train = self.train["input"]
        found["input, window"] = _dead(sides["input"], train[-WINDOW:])
        return found | {"input, trained": _dead(sides["input"], train)}

    def untrained(self, k: int) -> float:
        """Return the share of features of TopK that are never on before training."""
        return _dead(self._one("topk", k, "input", train=False), self.held["input"])

    def source(self, side: str) -> Source:
        """Look at one side: centred, with its geometric median, unless the mean is kept."""
        x = self.train[side]
        found = source_of(array_rows(x, 8192))
        if self.cause.centred:
            return found
        zero = np.zeros(x.shape[1])
        return found._replace(scale=Scale(zero, float(np.sqrt(np.square(x).mean()))), median=zero)

    def _one(self, kind: str, k: int, side: str, *, train: bool = True) -> SparseAutoencoder:
        model, source = SparseAutoencoder(activation=kind, k=k, **self.settings), self.source(side)
        coder = model._objective(source, self._steps(source), model.random_state)
        self._part(coder)
        if train:
            self._play(model, coder, source)
        model._remember(coder, source, 0)
        model.n_features_in_ = source.rows.n_features
        return model

    def _pair(self, k: int) -> JacobianSparseAutoencoder:
        model = JacobianSparseAutoencoder(k=k, **self.settings)
        source, output = self.source("input"), self.source("output")
        block, outputs = model._block(self.found.block, source.rows.n_features), (output.scale, output.median)
        pair = model._pair(block, source, outputs, self._steps(source), model.random_state)
        for coder in (pair.input, pair.output):
            self._part(coder)
        pair.to(place_of(model))
        self._play(model, pair, source)
        model._remember(pair, source, outputs)
        model.n_tokens_seen_, model.n_iter_ = 0, model.max_iter
        return model

    def _steps(self, source: Source) -> int:
        size = min(self.settings["batch_size"], source.rows.n_rows)
        return int(self.settings["max_iter"] * -(-source.rows.n_rows // size))

    def _part(self, coder: Any) -> None:
        """Start the encoder apart from the dictionary, where that is the cause."""
        if not self.cause.tied:
            drawn = np.random.default_rng([7, self.settings["random_state"]]).normal(size=coder.encoder.shape)
            with torch.no_grad():
                coder.encoder.copy_(torch.from_numpy(drawn / np.linalg.norm(drawn, axis=1, keepdims=True)))

    def _play(self, model: Any, objective: Any, source: Source) -> None:
        place, n_steps = place_of(model), self._steps(source)
        generator = torch.Generator().manual_seed(model.random_state)
        batches = source.batches(min(model.batch_size, source.rows.n_rows), generator, place)
        play([player_of(model, "", objective, n_steps, place)], batches, run_of(model, n_steps, None))


@torch.no_grad()
def _mapped(block: Any, x: np.ndarray, settings: dict[str, Any], size: int = 8192) -> np.ndarray:
    """Return what the block makes of rows, on the device of the training."""
    place = place_of(SparseAutoencoder(**settings))
    block = block.to(place)
    parts = [block(torch.from_numpy(x[a : a + size]).to(place)).cpu().numpy() for a in range(0, len(x), size)]
    block.to("cpu")
    return np.concatenate(parts)


def _dead(model: Any, x: np.ndarray) -> float:
    """Return the share of features that are never on in these rows."""
    return float((np.diff(model.transform(x).tocsc().indptr) == 0).mean())
