from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmix.training import constant, cosine, one_cycle, warm_up
from unmix.training._schedules import learning_rate_factor

lengths = st.integers(2, 400)


@given(lengths)
def test_cosine_falls_from_one_to_zero(n_steps):
    values = list(map(cosine(n_steps), range(n_steps)))
    assert values[0] == 1.0
    assert values[-1] == pytest.approx(0.0, abs=1e-12)
    assert all(later < earlier for earlier, later in pairwise(values))


@given(st.integers(3, 200), st.floats(0.05, 0.95))
def test_one_cycle_peaks_once(n_steps, rise):
    values = list(map(one_cycle(n_steps, rise=rise), range(n_steps)))
    peak = values.index(max(values))
    assert values[peak] == 1.0 and values.count(1.0) == 1
    assert values[0] == pytest.approx(1 / 25) and values[-1] == pytest.approx(1e-5)
    assert values[: peak + 1] == sorted(values[: peak + 1])
    assert values[peak:] == sorted(values[peak:], reverse=True)


@given(st.floats(0.0, 10.0), st.integers(0, 50))
def test_warm_up_never_falls_and_arrives(weight, steps):
    values = [warm_up(weight, steps)(step) for step in range(steps + 5)]
    assert values == sorted(values)
    assert values[-1] == weight == values[steps]
    assert values[0] == (0.0 if steps else weight)


def test_schedules_go_on_past_the_end():
    assert cosine(10)(25) == pytest.approx(0.0)
    assert one_cycle(10)(25) == pytest.approx(1e-5)
    assert constant(10**9) == 1.0


@pytest.mark.parametrize("n_steps", [1, 2])
def test_the_shortest_runs_have_schedules(n_steps):
    assert all(0.0 <= f(n_steps)(step) <= 1.0 for f in (cosine, one_cycle) for step in range(n_steps))


def test_bad_arguments_say_what_to_do():
    with pytest.raises(ValueError, match=r"`rise` must be strictly between 0 and 1, got 1\.5"):
        one_cycle(10, rise=1.5)
    with pytest.raises(ValueError, match=r"`schedule` must be one of .*got 'linear'"):
        learning_rate_factor("linear", 10)
