"""What a person waits for: which refit is being made, how many there are, and about how long that takes."""

from collections.abc import Iterator
from contextlib import contextmanager

from unmix._waiting import called, stages, waiting

from ._argument import argument_for
from ._case import Case

# about what each refit costs, in order, beside one to half of the rows; plain autoencoders cost little
_QUICK: dict[str, list[float]] = {"sparse": [1, 0.1, 0.1, 0.1], "mixture": [1, 1], "linear": [1] * 11}
_MORE: dict[str, list[float]] = {"sparse": [1, 1], "slots": [1, 1], "domains": [1, 1], "linear": [1]}
_SHARE = 0.5  # of the time of the fit that a refit to half of the rows takes


@contextmanager
def shown(verbose: bool | None, case: Case) -> Iterator[None]:
    """Show every refit that a case makes, by default on a terminal; nothing where there is none."""
    costs = refits(argument_for(case.model).kind, case.effort)
    took = getattr(case.findings.history, "seconds", None)  # a model of another make has none
    guess = None if took is None else sum(costs) * _SHARE * took
    plan = f"{len(costs)} refit{'s' * (len(costs) > 1)} to halves of {len(case.x):,} rows"
    with waiting(verbose if costs else False, "trust", plan=plan, guess=guess) as show:
        parts = iter(stages(costs))

        @contextmanager
        def telling(words: str) -> Iterator[None]:
            with next(parts, waiting(False, words)), called(words), waiting(None, words) as inner:
                inner(0.0, words)
                yield

        case.telling = telling
        yield
        show(1.0, "")


def refits(kind: str, effort: str) -> list[float]:
    """Return about what each refit that an argument makes at an effort costs, in their order."""
    if kind == "none" or effort == "none":
        return []
    return _QUICK.get(kind, [1]) + (_MORE.get(kind, []) if effort == "full" else [])
