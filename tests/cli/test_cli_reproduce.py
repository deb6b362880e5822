"""`unmix reproduce` and `unmix report` of a folder."""

import json
import sys
from pathlib import Path

import pytest

FAKES = str(Path(__file__).parent.parent / "experiments")


@pytest.fixture(autouse=True)
def fakes(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(FAKES)
    monkeypatch.chdir(tmp_path)


def test_the_list_names_every_table(unmix):
    from unmix.experiments import EXPERIMENTS

    code, out, _ = unmix("reproduce", "--list", "--json")
    listed = json.loads(out)["experiments"]
    assert code == 0 and [entry["name"] for entry in listed] == list(EXPERIMENTS)
    assert all(entry["cells"] > 3 and entry["title"] for entry in listed)


def test_a_dry_run_writes_nothing(unmix, tmp_path):
    from unmix.experiments import load_experiment, tasks_of

    code, out, _ = unmix("reproduce", "fake_table", "--seeds", 2, "--dry-run", "--json")
    plan = json.loads(out)
    assert (code, plan["to_run"], plan["seconds"]) == (0, 12, None) and not list(tmp_path.iterdir())
    later = ("--seeds", 2, "--first-seed", 7)
    _, out, _ = unmix("reproduce", "fake_table", *later, "--dry-run", "--json")
    planned = json.loads(out)["tasks"]
    expected = {task.key for task in tasks_of(load_experiment("fake_table"), seeds=[7, 8])}
    assert {each["key"] for each in planned} == expected
    _, out, _ = unmix("reproduce", "fake_table", "--seeds", 1, "--dry-run")
    assert "6 runs to do, 0 stored; nothing like it was timed before." in out


def test_results_estimates_and_a_page(unmix, tmp_path, monkeypatch):
    from unmix.experiments import Store, load_experiment, tasks_of
    from unmix.experiments.engine._work import perform

    store = Store("results")
    for task in tasks_of(load_experiment("fake_table"), seeds=1):
        store.write(perform(task) | {"seconds": 60.0})
    _, out, _ = unmix("reproduce", "fake_table", "--seeds", 3, "--dry-run")
    assert "12 runs to do, 6 stored; about 6 min 0 s with 2 workers (12 of 12 timed before)." in out
    code, out, _ = unmix("report", "results", "--json")
    told = json.loads(out)
    assert code == 0 and Path(told["out"]).stat().st_size == told["bytes"]


def planned(unmix, *options):
    code, out, err = unmix("reproduce", "fake_table", "--seeds", 1, *options, "--dry-run", "--json")
    assert code == 0, err
    return {each["run"] for each in json.loads(out)["tasks"]}


def test_rows_and_columns_are_chosen_by_name_or_pattern(unmix):
    every = {f"fake_table: row {k}, column, seed 0" for k in range(6)}
    assert planned(unmix) == planned(unmix, "--row", "row*") == planned(unmix, "--column", "column") == every
    two = planned(unmix, "--row", "row 1", "--row=*3")
    assert two == {"fake_table: row 1, column, seed 0", "fake_table: row 3, column, seed 0"}
    own = ("--method", "sklearn.decomposition:PCA", "--row", "PCA")
    assert planned(unmix, *own) == {"fake_table: PCA, column, seed 0"}


def test_what_other_code_has_stored_is_redone_unless_any_code_will_do(unmix):
    from unmix.experiments import Store, load_experiment, tasks_of
    from unmix.experiments.engine import key_of
    from unmix.experiments.engine._work import perform

    first, second, third, *_ = tasks_of(load_experiment("fake_table"), seeds=1)
    for task, changes in ((first, {"code": "0" * 12}), (second, {}), (third, {"code": "0" * 12, "seed": 1})):
        record = perform(task) | changes
        Store("results").write(record | {"key": key_of(record)})
    assert len(planned(unmix)) == 6 and planned(unmix, "--any-code") == planned(unmix) - {str(first)}
    _, out, err = unmix("reproduce", "fake_table", "--seeds", 1, "--any-code", "--dry-run")
    assert "4 runs to do, 1 stored" in out and "1 runs are stored with other versions of the code" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["reproduce"], "`NAME` must be a table"),
        (["reproduce", "no.such"], "--list"),
        (["reproduce", "fake_table", "--method", "nonsense"], "package:Estimator"),
        (["reproduce", "fake_table", "--method", "no_such_module:X"], "can be imported"),
        (["reproduce", "fake_table", "--method", "json:JSONDecoder"], "fit and transform"),
        (["reproduce", "fake_table", "--budget", "huge"], "budget"),
        (["reproduce", "fake_table", "--seeds", "0"], "seeds"),
        (["reproduce", "fake_table", "--row", "row 9"], "There are: row 0, row 1"),
        (["reproduce", "fake_table", "--row", "row 1", "--column", "r*"], "`--column` must fit a column"),
        (["reproduce", "fake_table", "--any-code", "--force"], "`--any-code`"),
        (["reproduce", "ddl.table6", "--method", "sklearn.decomposition:PCA"], "must fit a table"),
        (["report", "."], "must hold results"),
        (["report", "model"], "--out"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(refused, tmp_path, arguments, words):
    refused(tmp_path, arguments, words)
    assert not list(tmp_path.iterdir())


def test_the_command_stored_says_which_rows(unmix, monkeypatch):
    from unmix.experiments import Store

    line = ["reproduce", "fake_table", "--seeds", "1", "--row", "row 3", "--any-code", "--workers", "1"]
    monkeypatch.setattr(sys, "argv", ["unmix", *line])
    assert unmix(*line)[0] == 0
    (record,) = Store("results").records()
    assert record["command"] == "unmix reproduce fake_table --seeds 1 --row 'row 3'"


def test_the_command_stored_names_no_place(monkeypatch):
    from unmix.cli._reproduce import _command

    line = "unmix reproduce all --out /home/me/r --dask=tcp://host:1 --seeds 2 --workers 4 --force --json"
    monkeypatch.setattr(sys, "argv", line.split())
    assert _command() == ["reproduce", "all", "--seeds", "2"]
    for given in ("--data=/home/me/mnist", "--data /home/me/mnist/"):
        monkeypatch.setattr(sys, "argv", f"unmix reproduce nearid.figure2 {given} --seeds 2".split())
        assert _command() == ["reproduce", "nearid.figure2", "--data", "mnist", "--seeds", "2"], given


EMPTY = """
from unmix.experiments import Cell

CELLS = (
    Cell("ours", "n = 1"),
    Cell("ours", "n = 1", value="other"),
    Cell("ours", "n = 1", value="at times", always=False),
)


def run(cell, seed, budget):
    return {"mcc": 1.0, "other": float("nan"), "at times": None}
"""


def test_a_strict_sweep_fails_where_a_cell_gets_no_number(unmix, tmp_path, monkeypatch):
    (tmp_path / "empty_table.py").write_text(EMPTY)
    monkeypatch.syspath_prepend(str(tmp_path))
    sweep = ("reproduce", "empty_table", "--seeds", 1, "--workers", 1)
    assert unmix(*sweep)[0] == 0
    code, _, err = unmix(*sweep, "--strict")
    assert (
        code == 1
        and "no number: empty_table: ours, n = 1, other, seed 0" in err
        and err.count("no number") == 1
    )


def test_results_are_summed_up_in_markdown(unmix, tmp_path):
    from unmix.experiments import Store, load_experiment, tasks_of
    from unmix.experiments.engine._work import perform

    for task in tasks_of(load_experiment("fake_table"), seeds=1):
        Store("results").write(perform(task))
    code, _, _ = unmix("report", "results", "--out", "summary.md")
    assert code == 0 and "| **all** |" in (tmp_path / "summary.md").read_text()


def test_the_module_is_the_command(tmp_path):
    import subprocess

    from unmix import __version__

    told = subprocess.run([sys.executable, "-m", "unmix", "--version"], capture_output=True, text=True)
    assert (told.returncode, told.stdout.strip()) == (0, __version__)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["reproduce", "fake_table", "--budget", "gpu"], "must be smoke or laptop or full for fake_table"),
        (
            ["reproduce", "nearid.table2", "--budget", "full"],
            "must be smoke or laptop or gpu for nearid.table2",
        ),
        (["reproduce", "fake_table", "--device", "cpu"], "`--device` must fit a table"),
        (["reproduce", "nearid.table2", "--budget", "smoke", "--device", "abacus"], "`device` must be"),
        (["reproduce", "nearid.table2", "--at-once", "0"], "at-once"),
    ],
)
def test_devices_and_budgets_that_a_table_does_not_have_are_refused(refused, tmp_path, arguments, words):
    refused(tmp_path, arguments, words)
    assert not list(tmp_path.iterdir())


def test_all_are_those_that_have_the_budget(unmix):
    _, out, _ = unmix("reproduce", "all", "--budget", "gpu", "--seeds", 1, "--dry-run", "--json")
    planned = {each["run"].partition(":")[0] for each in json.loads(out)["tasks"]}
    assert {"nearid.table2", "ddl.table1"} <= planned and "ddl.table4" not in planned


def test_the_device_is_no_part_of_the_command_stored(monkeypatch):
    from unmix.cli._reproduce import _command

    line = "unmix reproduce ddl.table1 --budget gpu --device cuda:1 --at-once=3 --seeds 3"
    monkeypatch.setattr(sys, "argv", line.split())
    assert _command() == ["reproduce", "ddl.table1", "--budget", "gpu", "--seeds", "3"]
