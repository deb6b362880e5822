"""The table of slots: read from stored results, judged by its goals, and the one of the documentation."""

import importlib
import json
from pathlib import Path

import pytest

from unmix.experiments import load_experiment, tasks_of
from unmix.experiments.engine._store import Store

ROOT = Path(__file__).parent.parent


@pytest.fixture
def slots(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("slots")


def stored(folder, sis, budget="laptop", seeds=2, finished="1"):
    """Write a result for each run of the table, whose score depends on its seed."""
    for task in tasks_of(load_experiment("mechanistic.overlap"), seeds=seeds, budget=budget):
        record = {
            **{"key": task.key, "experiment": task.experiment, "settings": dict(task.cells[0].settings)},
            **{"cells": [], "seed": task.seed, "budget": budget, "code": task.code, "error": None},
            **{"values": {"SIS": sis + task.seed / 100}, "seconds": 1.0, "finished": finished},
        }
        Store(folder).write(record)


def test_scores_are_those_of_each_seed_at_the_judged_budget(slots, tmp_path):
    stored(tmp_path, 0.9)
    stored(tmp_path, 0.1, budget="smoke")
    found = slots.scores(tmp_path)
    assert len(found) == 21 and set(found[3, 0.5]) == set(slots.METHODS)
    assert found[5, 0.8][slots.SEARCH] == pytest.approx([0.9, 0.91])


@pytest.mark.parametrize(
    ("world", "search", "contrast", "said"),
    [
        ((2, 0.0), 0.96, 0.99, "0.95, met"),
        ((2, 0.5), 0.89, 0.1, "0.90, missed"),
        ((3, 0.6), 0.7, 0.5, "0.65, met"),
        ((3, 0.6), 0.6, 0.5, "0.65, missed"),
        ((2, 0.9), 0.9, 0.1, "none"),
    ],
)
def test_goals_are_those_of_the_overlap(slots, world, search, contrast, said):
    of = {slots.SEARCH: [search], slots.CONTRASTS[0]: [contrast], slots.CONTRASTS[1]: [0.0]}
    assert slots.goal(world, of) == said
    assert slots.goal(world, {slots.SEARCH: [search]}) == "not all measured"


def test_the_table_of_the_documentation_is_that_of_the_stored_results(slots):
    assert slots.table(slots.scores()) in (ROOT / "docs/slots.md").read_text(encoding="utf-8")


def test_stored_times_of_the_contrast_are_ratios_of_themselves():
    for run in json.loads((ROOT / "benchmarks/results/slots_speed.json").read_text(encoding="utf-8")):
        for name in ("alone", "network"):
            ratio = run[f"{name}: loop"] / run[f"{name}: vectorised"]
            assert run[f"{name}: ratio"] == pytest.approx(ratio) and ratio > 5
