"""What the benchmarks of speed share, and what they stored."""

import importlib
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def table(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("_table")


def test_a_goal_is_a_bound_from_above_unless_said_otherwise(table, capsys):
    found = table.judged({"ratio": 3.0, "seconds": 3.0}, {"ratio": 2.0, "seconds": 2.0}, at_least=("ratio",))
    assert [verdict["met"] for verdict in found.values()] == [True, False]
    assert capsys.readouterr().out.splitlines() == ["ratio: 3, goal 2, met", "seconds: 3, goal 2, MISSED"]


def test_a_table_shows_every_entry(table, capsys):
    table.show(("name", "seconds"), [("ours", 0.12345), ("theirs", 7)], title="Race")
    shown = capsys.readouterr().out
    assert all(text in shown for text in ("Race", "name", "seconds", "ours", "0.123", "theirs", "7"))


def test_what_is_kept_says_on_what_it_was_measured(table, tmp_path, monkeypatch):
    monkeypatch.setattr(table, "RESULTS", tmp_path)
    stored = json.loads(table.keep("race", {"rows": [1, 2]}).read_text(encoding="utf-8"))
    assert stored["rows"] == [1, 2] and stored["machine"]["cores"] and stored["versions"]["torch"]
    assert [path.name for path in tmp_path.iterdir()] == ["race.json"]


def test_stored_times_of_the_contrast_are_ratios_of_themselves():
    runs = json.loads((ROOT / "benchmarks/results/slots.json").read_text(encoding="utf-8"))["runs"]
    for run in runs:
        for name in ("alone", "network"):
            ratio = run[f"{name}: loop"] / run[f"{name}: vectorised"]
            assert run[f"{name}: ratio"] == pytest.approx(ratio) and ratio > 5
