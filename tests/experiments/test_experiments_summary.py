"""From results to tables: means, spreads, verdicts and what stands beside them."""

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmix.experiments import RAW, ROTATION, summarise
from unmix.experiments.engine._summary import verdict

numbers = st.floats(0, 1).map(lambda x: round(x, 4))


def cell(row="ours", column="n = 3", **changes):
    plain = {"value": "mcc", "better": "higher", "source": "Table 1", "paper": 0.8, "spread": 0.01}
    return {"row": row, "column": column, "precision": 0.005, "place": 0, **plain, **changes}


def record(values, seed=0, cells=None, **changes):
    row = cells[0]["row"] if cells else "ours"
    made = {
        "experiment": "some.table1",
        "budget": "laptop",
        "settings": {"method": row},
        "seed": seed,
        "code": "1",
        "cells": cells or [cell()],
        "values": {"mcc": values} if not isinstance(values, dict) else values,
        "error": None,
        "seconds": 2.0,
        "command": "unmix reproduce some.table1",
        "title": "Some table",
    }
    return made | changes


def only_line(*records):
    (table,) = summarise(records)
    (line,) = table.lines
    return line


@given(st.lists(numbers, min_size=2, max_size=8))
def test_ours_is_mean_and_standard_deviation_over_seeds(values):
    line = only_line(*(record(value, seed) for seed, value in enumerate(values)))
    assert line.ours == pytest.approx(statistics.fmean(values)) and line.n == len(values)
    assert line.our_spread == pytest.approx(statistics.stdev(values))
    assert line.difference == pytest.approx(line.ours - 0.8)


@given(numbers, numbers, st.floats(0, 0.2), st.floats(0, 0.2), st.sampled_from(["higher", "lower"]))
def test_a_verdict_turns_round_with_the_two_numbers(paper, ours, spread, ours_spread, better):
    said = cell(paper=paper, spread=spread, better=better)
    back = cell(paper=ours, spread=ours_spread, better=better)
    opposite = {"better": "worse", "worse": "better", "within": "within"}
    assert opposite[verdict(said, ours, ours_spread)] == verdict(back, paper, spread)
    flipped = cell(paper=paper, spread=spread, better="lower" if better == "higher" else "higher")
    assert opposite[verdict(said, ours, ours_spread)] == verdict(flipped, ours, ours_spread)


@pytest.mark.parametrize(
    ("ours", "ours_spread", "expected"),
    [(0.8149, None, "within"), (0.8151, None, "better"), (0.7849, 0.0, "worse"), (0.76, 0.05, "within")],
)
def test_within_means_both_spreads_and_the_precision(ours, ours_spread, expected):
    assert verdict(cell(), ours, ours_spread) == expected


def test_a_smoke_run_is_not_judged_and_nothing_is_said_without_a_number():
    assert only_line(record(0.9, budget="smoke")).verdict == "not judged"
    assert only_line(record(0.9, cells=[cell(paper=None, spread=None)])).verdict == ""
    assert only_line(record({"mcc": None})).ours is None


def test_failures_stay_visible():
    error = {"type": "ValueError", "message": "no", "where": []}
    failed = record({}, 1, error=error)
    line = only_line(record(0.8, 0), failed)
    assert (line.n, line.verdict) == (1, "within") and line.failures == ("seed 1: ValueError: no",)
    assert only_line(failed).verdict == "failed"


def test_the_latest_code_counts():
    old, new = record(0.1, code="1", finished="2026-01-01"), record(0.9, code="2", finished="2026-01-02")
    assert only_line(new, old).ours == 0.9 and only_line(old, new).ours == 0.9


def test_numbers_no_better_than_what_learned_nothing_are_pointed_out():
    marks = [record(0.85, cells=[cell(RAW, paper=None)]), record(0.7, cells=[cell(ROTATION, paper=None)])]
    (table,) = summarise([record(0.9), *marks])
    notes = {line.row: line.notes for line in table.lines}
    assert notes["ours"] == ("no better than raw x (0.850): the paper",) and notes[RAW] == ()
    lower = [{**r, "cells": [{**r["cells"][0], "better": "lower"}]} for r in (record(0.75), *marks)]
    (table,) = summarise(lower)
    notes = {line.row: line.notes for line in table.lines}
    assert notes["ours"] == ("no better than random rotation of the truth (0.700): the paper, ours",)


def test_lines_keep_the_order_of_the_table_and_own_methods_come_last():
    rows = [("b", 1), ("a", 0), ("c", 2)]
    records = [record(0.5, cells=[cell(row, place=place)]) for row, place in rows]
    mine = record(0.5, cells=[cell("Mine", place=0)], settings={"method": "my:Mine"})
    (table,) = summarise([mine, *records])
    assert [line.row for line in table.lines] == ["a", "b", "c", "Mine"]


def test_budgets_and_data_are_kept_apart_the_largest_first():
    found = summarise(
        [record(0.5), record(0.6, budget="full"), record(0.7, budget="smoke"), record(0.8, data="abc")]
    )
    assert [(t.budget, t.data, t.lines[0].ours) for t in found] == [
        ("full", "", 0.6),
        ("laptop", "", 0.5),
        ("laptop", "abc", 0.8),
        ("smoke", "", 0.7),
    ]


@given(st.permutations(range(6)))
def test_tables_do_not_hang_on_the_order_in_which_results_are_read(order):
    failed = {"values": {}, "error": {"type": "ValueError", "message": "no"}}
    records = [
        record(0.1 * seed, seed, finished="2026-01-01", code=str(seed % 2), command=f"command {seed}")
        | (failed if seed % 3 == 0 else {})
        for seed in range(6)
    ]
    tables = summarise([records[number] for number in order])
    assert tables == summarise(records)
    assert [text.split(":")[0] for text in tables[0].lines[0].failures] == ["seed 0", "seed 3"]
