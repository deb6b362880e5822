"""Results in words: counts, reasons, and that the documents of the repository say what is stored."""

import json
from pathlib import Path

import pytest
from test_experiments_summary import cell, record

from unmix.experiments import ROTATION, Reason, Store, read_reasons, summarise, write_markdown
from unmix.experiments.engine._markdown import BEGIN, END, counts, largest, summary

ROOT = Path(__file__).parent.parent.parent
ONE = Reason("The seeds disagree.", experiment="ddl.*", column="n = 3")


def stored(value, experiment="ddl.table4", **changes):
    return record(value, experiment=experiment, **changes)


def test_the_first_reason_that_fits_is_the_one():
    reasons = (Reason("No.", row="other"), ONE, Reason("Later."))
    (table,) = summarise([stored(0.5)], reasons)
    assert table.lines[0].reason == "The seeds disagree."
    (table,) = summarise([stored(0.5, "pdgmm.d4")], reasons)
    assert table.lines[0].reason == "Later."
    assert summarise([stored(0.5)])[0].lines[0].reason == ""


def test_reasons_are_read_from_the_folder_and_checked(tmp_path):
    assert read_reasons(tmp_path) == ()
    path = tmp_path / "reasons.json"
    path.write_text(json.dumps([{"says": "So.", "experiment": "ddl.*"}]))
    assert read_reasons(tmp_path) == (Reason("So.", experiment="ddl.*"),)
    for wrong in ('{"says"', '[{"row": "a"}]', '[{"says": " "}]', '[{"says": "a", "cell": "b"}]', "[3]", "3"):
        path.write_text(wrong)
        with pytest.raises(ValueError, match=r"reasons\.json"):
            read_reasons(tmp_path)


def test_verdicts_are_counted_by_paper_at_the_largest_budget():
    floor = stored(0.85, cells=[cell(ROTATION, paper=None)])
    judged = [stored(0.9), floor, stored(0.8, "pdgmm.d4"), stored(0.5, "pdgmm.e1")]
    others = [stored(0.1, budget="smoke"), stored(0.1, "pdgmm.e1", budget="full")]
    tables = summarise([*judged, *others])
    lines = counts(tables).splitlines()
    assert lines[2:5] == [
        "| Diverse dictionary learning | 1 | 0 | 0 | 0 | 0 |",
        "| Degenerate Gaussian mixtures | 0 | 1 | 1 | 0 | 0 |",
        "| **all** | **1** | **1** | **1** | **0** | **0** |",
    ]
    assert "Of 3 published numbers, 1 are no better" in lines[-1] and lines[-1].endswith("beside them, 0.")
    assert [table.budget for table in largest(tables)] == ["laptop", "laptop", "full"]


def test_smoke_runs_alone_are_not_called_nothing(tmp_path):
    assert counts([]) == "No results are stored yet."
    tables = summarise([stored(0.5, budget="smoke"), stored(0.5, "pdgmm.d4", budget="smoke")])
    said = "Only runs of the smoke budget are stored, which are too short to be judged."
    assert counts(iter(tables)) == said and said in summary(iter(tables))
    assert said in write_markdown(tmp_path / "y.md", tables).read_text()


def test_every_worse_number_stands_under_its_reason_or_the_lack_of_one():
    shown = [stored(0.5), stored(0.6, "pdgmm.d4", seed=1), stored(0.4, "ddl.table5")]
    lines = summary(summarise(shown, (ONE,))).splitlines()
    start = lines.index("## Worse than the paper") + 2
    assert lines[start : start + 5] == [
        "- The seeds disagree.",
        "    - `ddl.table4`, ours, n = 3, mcc: 0.5 (1 seed), paper 0.8 ± 0.01",
        "    - `ddl.table5`, ours, n = 3, mcc: 0.4 (1 seed), paper 0.8 ± 0.01",
        "- Not looked into yet.",
        "    - `pdgmm.d4`, ours, n = 3, mcc: 0.6 (1 seed), paper 0.8 ± 0.01",
    ]


def test_every_number_is_listed_with_the_command_that_made_it():
    hostile = stored(0.25, cells=[cell("a|b\n<img>", paper=None)])
    titled = stored(0.5, "pdgmm.d4", title="<script>")
    failed = stored({}, seed=1, error={"type": "ValueError", "message": "no"})
    lines = summary(summarise([stored(0.5), failed, hostile, titled])).splitlines()
    assert "## pdgmm.d4: &lt;script>" in lines
    start = lines.index("## ddl.table4: Some table")
    assert lines[start + 2] == "    unmix reproduce some.table1"
    assert r"| a\|b &lt;img> | n = 3 | mcc |  | 0.25 | 1 |  |" in lines[start:]
    line = next(line for line in lines[start:] if line.startswith("| ours "))
    assert line.startswith("| ours | n = 3 | mcc | 0.8 ± 0.01 | 0.5 | 1 | worse; seed 1: ValueError")


def test_a_file_with_marks_keeps_what_is_outside_them(tmp_path):
    marked, plain = tmp_path / "README.md", tmp_path / "summary.md"
    marked.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    tables = summarise([stored(0.5)])
    write_markdown(marked, tables)
    assert marked.read_text() == f"before\n{BEGIN}\n{counts(tables)}\n{END}\nafter\n"
    assert write_markdown(plain, tables).read_text() == summary(tables)


@pytest.fixture(scope="module")
def ours():
    folder = ROOT / "results"
    return summarise(Store(folder).records(), read_reasons(folder))


def test_the_page_of_results_counts_what_is_stored(ours):
    text = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    assert f"{BEGIN}\n{counts(ours)}\n{END}" in text, "run `make results`"


def test_the_summary_of_results_is_that_of_the_files_and_every_worse_number_was_looked_into(ours):
    if ours:
        assert (ROOT / "results/README.md").read_text(encoding="utf-8") == summary(ours), "run `make results`"
    worse = [line for table in largest(ours) for line in table.lines if line.verdict == "worse"]
    assert [line for line in worse if not line.reason] == []
