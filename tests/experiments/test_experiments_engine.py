"""The store and the sweep: what is there is kept, what is broken is redone, what fails is recorded."""

import json
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace

import fake_table
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unmix.experiments import (
    Cell,
    Store,
    estimate,
    load_experiment,
    sweep,
    tasks_of,
)
from unmix.experiments.engine._work import anonymous, perform


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results")


def tasks(seeds=2, **settings):
    return tasks_of(fake_table, seeds=seeds, budget="smoke", **settings)


def task_that(does, k=0):
    cell = Cell(does, "column", settings={"do": does, "k": k})
    return replace(tasks(1)[0], cells=(cell,))


def swept(wanted, store, **settings):
    events = []
    with ThreadPoolExecutor(1) as threads:
        outcome = sweep(
            wanted,
            store,
            executor=threads,
            listen=lambda event, task, record: events.append(event),
            **settings,
        )
    return outcome, events


def files(store):
    found = (path for path in store.folder.rglob("*") if path.is_file())
    return {str(path.relative_to(store.folder)): path.read_text() for path in found}


def test_cells_with_the_same_settings_share_a_run():
    shared = tasks(1)
    assert len(shared) == len(fake_table.CELLS) - 1
    assert [cell.value for cell in shared[0].cells] == ["mcc", "other"]


def test_a_second_sweep_does_nothing_and_force_does_all(store):
    first, _ = swept(tasks(), store)
    before = files(store)
    second, events = swept(tasks(), store)
    assert (first.done, first.skipped, first.failed) == (12, 0, 0)
    assert (second.done, second.skipped) == (0, 12) and set(events) == {"skip"}
    assert files(store) == before
    forced, _ = swept(tasks(), store, force=True)
    assert (forced.done, forced.skipped) == (12, 0)


def test_one_file_for_each_table_and_nothing_else(store):
    swept(tasks(), store)
    assert list(files(store)) == ["fake_table.jsonl"] and not (store.folder / ".claims").exists()
    assert {record["key"] for record in store.records()} == {task.key for task in tasks()}


def test_each_run_is_stored_at_once_and_folded_in_even_when_the_sweep_is_stopped(store):
    seen = []

    def listen(event, task, record):
        if event == "done":  # of runs that end together any may be the first
            seen.append(f"fake_table/{task.key}.json" in files(store))
        if len(seen) == 3:
            raise KeyboardInterrupt

    with ThreadPoolExecutor(1) as threads, pytest.raises(KeyboardInterrupt):
        sweep(tasks(), store, executor=threads, listen=listen)
    assert seen == [True, True, True]
    assert list(files(store)) == ["fake_table.jsonl"] and len(list(store.records())) == 3


class AtOnce(Executor):
    """Runs what it is given before it answers, so that many runs end together."""

    def submit(self, function, /, *args, **kwargs):
        future = Future()
        future.set_result(function(*args, **kwargs))
        return future


def test_runs_that_end_together_leave_no_claim_when_the_sweep_is_stopped(store):
    def listen(event, task, record):
        if event == "done":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep(tasks(), store, executor=AtOnce(), workers=4, listen=listen)
    assert list(files(store)) == ["fake_table.jsonl"] and len(list(store.records())) == 1


def test_a_result_holds_what_is_needed_to_judge_it(store):
    swept(tasks(1), store, command="unmix reproduce fake_table")
    record = store.read(tasks(1)[0])
    assert record["values"]["mcc"] == perform(tasks(1)[0])["values"]["mcc"]
    assert record["command"] == "unmix reproduce fake_table"
    assert record["cells"][0]["paper"] == 0.5 and record["settings"] == {"do": "draw", "k": 0}
    assert record["seconds"] >= 0 and record["cpu_seconds"] >= 0 and record["peak_memory_mib"] > 1
    assert set(record["machine"]) == {"system", "processor", "cores", "gpu"}
    assert {"unmix", "python", "numpy"} <= set(record["versions"])


def test_a_failing_cell_is_recorded_without_places_and_stops_nothing(store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/somebody")
    outcome, events = swept([task_that("raise", 7), *tasks(1)], store)
    assert (outcome.done, outcome.failed) == (6, 1) and events.count("fail") == 1
    record = store.read(task_that("raise", 7))
    assert record["error"]["type"] == "RuntimeError" and record["error"]["where"][-1].startswith(
        "fake_table:"
    )
    assert record["error"]["message"] == "cell 7 can't: .../secret and ..."
    assert str(tmp_path) not in json.dumps(record) and "/" not in json.dumps(record["error"]["where"])
    again, _ = swept([task_that("raise", 7), *tasks(1)], store)
    assert (again.skipped, again.failed) == (6, 1), "a failure is tried again"


def test_a_value_that_the_cell_wants_must_be_there(store):
    wrong = replace(tasks(1)[1], cells=(replace(tasks(1)[1].cells[0], value="dci"),))
    outcome, _ = swept([wrong], store)
    assert "must return ['dci']" in outcome.failures[0]["error"]["message"]


def test_what_is_claimed_elsewhere_is_left_and_then_looked_at_again(store):
    first, *rest = tasks(1)
    claim = store.claim(first)
    assert store.claim(first) is None
    seen = []

    def listen(event, task, record):
        seen.append((event, task.key))
        if len(seen) == 2 * len(rest):  # the other sweep ends now, without a result
            store.release(first, claim)

    with ThreadPoolExecutor(1) as threads:
        sweep([first, *rest], Store(store.folder), executor=threads, listen=listen)
    assert [key for event, key in seen if event == "done"][-1] == first.key


@given(st.sampled_from(["experiment", "settings", "seed", "budget", "code"]), st.integers(1, 9))
def test_the_address_depends_on_everything_that_the_numbers_do(name, k):
    task = tasks(1)[0]
    other = {
        "experiment": replace(task, module=f"fake{k}"),
        "settings": replace(task, cells=(Cell("row 0", "column", settings={"do": "draw", "k": k}),)),
        "seed": replace(task, seed=k),
        "budget": replace(task, budget="full"),
        "code": replace(task, code=f"0.0.{k}"),
    }[name]
    assert other.key != task.key and replace(task).key == task.key


def test_the_address_does_not_depend_on_labels_or_the_papers_number():
    task = tasks(1)[0]
    renamed = tuple(replace(cell, row="renamed", paper=0.9) for cell in task.cells)
    assert replace(task, cells=renamed).key == task.key


def test_a_method_of_ones_own_gets_cells_and_its_own_code_version():
    with_own = tasks(1, method="sklearn.decomposition:PCA")
    assert [task.cells[0].row for task in with_own[-1:]] == ["PCA"]
    assert with_own[:-1] == tasks(1), "ours keep their address"


def test_time_is_estimated_from_earlier_runs(store):
    assert estimate(tasks(), store.records(), workers=2).seconds is None
    records = [perform(task) | {"seconds": 4.0 + 2 * task.cells[0].settings["k"]} for task in tasks(1)[:2]]
    guess = estimate(tasks(2)[6:8], records, workers=2)  # the same settings, another seed
    assert (guess.seconds, guess.n_timed) == (5.0, 2)
    assert estimate(tasks(1)[5:], records, workers=1)[::2] == (5.0, 0), "other settings count like the mean"


def test_texts_lose_places_and_names():
    import platform

    assert platform.node() not in anonymous(f"at {platform.node()}:80")


def test_what_is_no_experiment_is_refused():
    with pytest.raises(ValueError, match="--list"):
        load_experiment("json")
    with pytest.raises(ValueError, match="--list"):
        load_experiment("no_such_table")
    with pytest.raises(ValueError, match="`budget` must be one of"):
        tasks_of(fake_table, budget="huge")
    with pytest.raises(ValueError, match="`seeds`"):
        tasks_of(fake_table, seeds=0)
    with pytest.raises(ValueError, match="`better`"):
        Cell("row", "column", better="bigger")


def test_tables_that_ask_for_the_same_run_share_it(store, monkeypatch, tmp_path):
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "log"))
    other = [replace(task, module="fake_table_again", cells=task.cells[:1]) for task in tasks(1)]
    assert all(a.work == b.work and a.key != b.key for a, b in zip(tasks(1), other, strict=True))
    monkeypatch.setattr("unmix.experiments.engine._runner.load_experiment", lambda name: fake_table)
    outcome, _ = swept([*tasks(1), *other], store)
    assert outcome.done == 12 and (tmp_path / "log").stat().st_size == 6
    found = {record["key"]: record for record in store.records()}
    for a, b in zip(tasks(1), other, strict=True):
        assert found[a.key]["values"] == found[b.key]["values"]
        assert found[b.key]["experiment"] == "fake_table_again" and len(found[b.key]["cells"]) == 1
    assert swept([*tasks(1), *other], store)[0].skipped == 12
