"""What default and thorough fits cost beside the plain ones of 0.1, as ratios of one run.

python benchmarks/effort.py [--quick] [--case NAME ...] [--keep]

Processor seconds of one thread, in one process; efforts take turns on the same data, after a short fit that
does not count. Goals: usual fits at most twice as slow as plain ones, and thorough ones five times as slow as
usual ones.
How near fits come to the truth is measured by `unmix reproduce worlds.sparse worlds.domains worlds.slots`.
"""

import json
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import torch
from _table import RESULTS, judged, keep, parser, show, timed

import unmix
from unmix.experiments.papers.worlds._draws import domains, slots, sparse

GOALS = {("usual", "plain"): 2.0, ("thorough", "usual"): 5.0}
PARTITION = [[0, 1], [2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]


class Case(NamedTuple):
    """An estimator without its effort, what it is fitted to, and the efforts that are timed."""

    name: str
    model: Any
    fit: dict[str, Any]
    efforts: tuple[str, ...]


def cases(rows: int) -> Iterator[Case]:
    """Draw the worlds: gentle and bent mixings, few rows, skewed units, many latents, domains, slots."""
    two, three = ("plain", "usual"), ("plain", "usual", "thorough")
    for name, n_rows, n, world, efforts in (
        ("500 rows", 500, 5, {"family": "sine"}, three),
        ("2,000 rows, bent", 2000, 5, {"family": "sine"}, three),
        ("gentle", rows, 5, {"family": "leaky"}, two),
        ("bent", rows, 5, {"family": "sine"}, three),
        ("skewed units", rows, 5, {"family": "tanh", "units": "skewed"}, two),
        ("10 in 20, bent", rows, 10, {"family": "sine", "d": 20}, two),
    ):
        x = sparse(n_rows, 1, n=n, **world).x
        yield Case(name, unmix.DiverseDictionaryLearning(n, random_state=0), {"X": x}, efforts)
    for name, world in (("domains, sparse", {}), ("domains, three layers", {"n_layers": 3})):
        data = domains(rows, 1, **world)
        yield Case(name, unmix.CGVAE(5, random_state=0), {"X": data.x, "domains": data.u}, two)
    x = slots(rows, 1, sizes=[len(slot) for slot in PARTITION]).x
    model = unmix.SlotAutoencoder(12, slots=PARTITION, random_state=0)
    yield Case("slots of 2, 4 and 6", model, {"X": x}, two)
    yield Case("slots of 2, 4 and 6, not told", unmix.SlotAutoencoder(12, random_state=0), {"X": x}, two)


def seconds(case: Case) -> dict[str, Any]:
    """Time each effort once, in turn."""
    took = {}
    for effort in case.efforts:
        model = case.model.set_params(effort=effort)
        took[effort] = timed(partial(model.fit, **case.fit))[1]["processor"]
    return {"case": case.name} | took


def with_ratios(run: dict[str, Any]) -> dict[str, Any]:
    """Set beside the seconds of a case what one effort takes of another."""
    return run | {f"{slow}/{fast}": run[slow] / run[fast] for slow, fast in GOALS if slow in run}


def among_kept(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what was kept before, with what was found now in the place of the same cases."""
    kept = json.loads((RESULTS / "effort.json").read_text())["runs"]
    now = {run["case"]: run for run in found}
    return [now.get(run["case"], run) for run in kept]


def main() -> None:
    """Time all cases, and judge the largest ratios."""
    options = parser(__doc__)
    options.add_argument("--quick", action="store_true", help="2,500 rows instead of 10,000")
    options.add_argument("--case", nargs="*", help="only these; what is kept of the others stays")
    given = options.parse_args()
    torch.set_num_threads(1)
    unmix.DiverseDictionaryLearning(3, max_iter=2).fit(sparse(200, 0, n=3, d=6).x)
    found = []
    for case in cases(2500 if given.quick else 10_000):
        if given.case is not None and case.name not in given.case:
            continue
        found.append(with_ratios(seconds(case)))
        print(
            {name: value if isinstance(value, str) else round(value, 2) for name, value in found[-1].items()}
        )
    heads = list(dict.fromkeys(name for run in found for name in run))
    show(heads, ([run.get(head, "") for head in heads] for run in found), "processor seconds")
    if given.keep and given.case is not None:
        found = among_kept(found)
    goals = {f"{slow}/{fast}": goal for (slow, fast), goal in GOALS.items()}
    largest = {ratio: max(run.get(ratio, 0.0) for run in found) for ratio in goals}
    verdicts = judged(largest, goals)
    if given.keep:
        keep("effort", {"runs": found, "goals": verdicts})


if __name__ == "__main__":
    main()
