import json
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from unmix.training import History
from unmix.training._history import Patience, Record, Row

numbers = st.floats(-5, 5, width=32)


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=8))
def test_the_objective_is_the_sum_of_the_terms(rows):
    a, b = map(list, zip(*rows, strict=True))
    history = History({"a": a, "b": b}, len(rows), 0.5, "finished", {"multiplier": a})
    assert history.objective == [x + y for x, y in rows]
    assert json.loads(json.dumps(history.to_dict()))["terms"] == {"a": a, "b": b}


def _row(extras=(), **terms):
    return Row(tuple(terms), torch.tensor(list(terms.values()), dtype=torch.float64), extras)


def _record(rows, extras=(), **options):
    record = Record(**options)
    for row in rows:
        record.append(_row(extras, **row))
    return record


@given(st.lists(numbers, min_size=1, max_size=12), st.data())
def test_when_the_record_is_read_makes_no_difference(values, data):
    record = Record()
    for value in values:
        record.append(_row(a=value))
        if data.draw(st.booleans()):
            record.flush()
    record.flush()
    assert record.history().terms == {"a": values}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_the_first_value_that_is_not_finite_is_named_with_its_step(value):
    record = _record(
        [{"fit": 1.0, "size": 2.0}] * 3 + [{"fit": 1.0, "size": value}, {"fit": value, "size": 1.0}]
    )
    with pytest.raises(
        FloatingPointError, match=f"term `size` must stay finite, got {value} at step 3. Kept."
    ):
        record.flush(lambda: "Kept.")
    assert record.history().n_steps == 3


def test_extras_stay_out_of_the_objective():
    record = _record([{"f": 1.0, "g": 10.0}], extras=("g",))
    record.flush()
    assert record.mean_objective(50) == 1.0
    assert record.history().objective == [1.0] and record.history().extras == {"g": [10.0]}


@given(st.integers(1, 300), st.integers(1, 20), st.lists(st.integers(1, 60), max_size=6))
def test_a_long_history_keeps_evenly_spaced_steps_and_the_last(n_steps, max_rows, cuts):
    record = Record(max_rows)
    for step in range(n_steps):
        record.append(_row(a=float(step), g=-float(step), extras=("g",)))
        if step in cuts:
            record.flush()
            other = Record(max_rows)
            other.load_state_dict(record.state_dict())
            record = other
    record.flush()
    history = record.history()
    stride = next(2**k for k in range(20) if 2**k * max_rows >= n_steps)
    assert history.steps == sorted({*range(0, n_steps, stride), n_steps - 1})
    assert history.terms["a"] == history.steps == [-g for g in history.extras["g"]]
    assert history.n_steps == n_steps and record.latest() == {"a": n_steps - 1, "g": 1 - n_steps}
    assert record.mean_objective(10) == sum(range(n_steps)[-10:]) / min(10, n_steps)


def _stop_after(values, patience, monitor=None, every=10):
    """The number of steps after which patience is exhausted, looking every `every` steps."""
    stopper, record = Patience(patience, monitor, window=every), Record()
    for step, value in enumerate(values):
        record.append(_row(a=value))
        record.flush()
        if (step + 1) % every == 0 and stopper.exhausted(record):
            return step + 1
    return None


@given(st.lists(st.integers(-8, 8).map(float), min_size=30, max_size=30), st.integers(1, 60))
def test_patience_waits_for_a_new_minimum_of_the_mean_objective(means, patience):
    values = [mean + noise for mean in means for noise in (1, -1) * 5]
    ends = [10 * (i + 1) for i in range(30)]
    minima = [i for i in range(30) if all(means[i] < earlier for earlier in means[:i])]
    since = [end - ends[max(m for m in minima if m <= i)] for i, end in enumerate(ends)]
    assert _stop_after(values, patience) == next(
        (e for e, s in zip(ends, since, strict=True) if s >= patience), None
    )


def test_progress_too_small_to_matter_does_not_count():
    assert _stop_after([1 + math.exp(-step) for step in range(500)], 50) == 70
    assert _stop_after([math.exp(-step / 100) for step in range(500)], 50) is None


def test_a_monitor_replaces_the_objective():
    watched = iter([3.0, 2.0, 1.0, 1.5, 1.5, 1.5, 1.5])
    assert _stop_after([1.0] * 70, 30, monitor=lambda: next(watched)) == 60


def test_patience_goes_on_where_it_was():
    one, other, record = Patience(50, None), Patience(50, None), _record([{"a": 3.0}, {"a": 2.0}])
    other.load_state_dict(json.loads(json.dumps(one.state_dict())))
    assert other.state_dict() == one.state_dict()
    record.flush()
    one.exhausted(record)
    assert one.state_dict() == {"best": 2.5, "best_step": 2}
    other.load_state_dict(json.loads(json.dumps(one.state_dict())))
    assert other.state_dict() == one.state_dict()


def test_patience_must_be_positive():
    with pytest.raises(ValueError, match="`patience` must be at least 1 step, got 0"):
        Patience(0, None)
