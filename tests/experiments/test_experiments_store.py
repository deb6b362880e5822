"""The store: nothing is lost, whoever writes, folds or reads, and nothing damaged is trusted."""

import json
import random
import threading
from concurrent.futures import ThreadPoolExecutor, wait

import fake_table
import pytest

from unmix.experiments import Store, code_version, sweep, tasks_of
from unmix.experiments.engine._restamp import main as restamp_all
from unmix.experiments.engine._restamp import restamp
from unmix.experiments.engine._task import key_of
from unmix.experiments.engine._work import perform

TABLE = "fake_table"


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results")


def tasks(seeds=1):
    return tasks_of(fake_table, seeds=seeds, budget="smoke")


def record(task, **changes):
    return perform(task) | {"title": "Fake", "command": "unmix reproduce fake_table"} | changes


def written(store, wanted, fold=True):
    for task in wanted:
        store.write(record(task))
    if fold:
        store.fold([TABLE])


def swept(store, wanted):
    with ThreadPoolExecutor(1) as threads:
        return sweep(wanted, store, executor=threads)


def found(store):
    return {each["key"]: each for each in Store(store.folder).records()}


def files(store):
    return sorted(str(path.relative_to(store.folder)) for path in store.folder.rglob("*") if path.is_file())


SPOILT = {
    "half": lambda text: text[: len(text) // 2],
    "number": lambda text: text.replace('"mcc": ', '"mcc": 1'),
    "seed": lambda text: text.replace('"seed": 0', '"seed": 1'),
    "other JSON": lambda text: "[]",
    "empty": lambda text: "",
    "zeros": lambda text: "\x00" * 100,
    "conflict": lambda text: "<<<<<<< ours",
}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_a_corrupt_file_is_reported_left_there_and_redone(store, spoil):
    written(store, tasks(), fold=False)
    before = found(store)
    path = store.path(TABLE, tasks()[0].key)
    path.write_text(spoil(path.read_text()))
    again = Store(store.folder)
    again.fold([TABLE])
    assert files(store) == [f"{TABLE}.jsonl", f"{TABLE}/{path.name}"]
    assert len(list(again.records())) == 5 and list(again.corrupt) == [f"{TABLE}/{path.name}"]
    outcome = swept(again, tasks())
    assert (outcome.done, outcome.skipped) == (1, 5) and not again.corrupt
    assert found(store)[path.stem]["values"] == before[path.stem]["values"]
    assert files(store) == [f"{TABLE}.jsonl"]


@pytest.mark.parametrize("name", SPOILT)
def test_a_corrupt_line_is_named_and_its_run_redone(store, name):
    written(store, tasks())
    before = found(store)
    lines = store.table(TABLE).read_text().split("\n")
    lines[2] = SPOILT[name](lines[2])
    store.table(TABLE).write_text("\n".join(lines))
    again = Store(store.folder)
    assert len(list(again.records())) == 5 and list(again.corrupt) == [f"{TABLE}.jsonl:3"]
    outcome = swept(again, tasks())
    assert (outcome.done, outcome.skipped) == (1, 5)
    assert {key: each["values"] for key, each in found(store).items()} == {
        key: each["values"] for key, each in before.items()
    }
    # where the key can be read, the new line takes its place
    named = name in ("half", "number", "seed", "empty")
    assert list(again.corrupt) == ([] if named else [f"{TABLE}.jsonl:8"])
    assert named or store.table(TABLE).read_text().split("\n")[7] == lines[2], "what is damaged is kept"


@pytest.mark.parametrize("spoil", [lambda line: line[:50], lambda line: line.replace(TABLE, "other")])
def test_a_table_with_a_broken_first_line_is_reported_and_left_alone(store, spoil):
    written(store, tasks())
    first, rest = store.table(TABLE).read_text().split("\n", 1)
    store.table(TABLE).write_text(spoilt := spoil(first) + "\n" + rest)
    again = Store(store.folder)
    assert not list(again.records()) and list(again.corrupt) == [f"{TABLE}.jsonl"]
    assert swept(again, tasks()).done == 6
    assert store.table(TABLE).read_text() == spoilt and len(found(store)) == 6
    with pytest.raises(ValueError, match="no damaged results"):
        restamp(again, TABLE, "0123456789ab")


def test_what_the_first_line_says_is_checked_with_every_run(store):
    written(store, tasks())
    text = store.table(TABLE).read_text()
    store.table(TABLE).write_text(text.replace('"paper": 0.5', '"paper": 0.6', 1))
    again = Store(store.folder)
    assert len(list(again.records())) == 5 and len(again.corrupt) == 1


def test_a_result_at_the_address_of_another_is_not_trusted(store):
    written(store, tasks(), fold=False)
    first, second = (store.path(TABLE, task.key) for task in tasks()[:2])
    second.write_text(first.read_text())
    assert store.read(tasks()[1]) is None and "another" in store.corrupt[f"{TABLE}/{second.name}"]


def test_nothing_of_a_record_is_changed_by_folding(store):
    odd = {
        "values": {"a": 0.1 + 0.2, "b": 5e-324, "c": 1e22, "d": -0.0, "e": 123456789012345678901, "f": None},
        "warnings": ["two\nlines", "a separator \u2028 of lines", "R² ± \ud800", "tab\t\x85"],
        "error": {"type": "E", "message": "\\", "where": []},
    }
    made = [record(task, **odd) for task in tasks()]
    made.append({k: v for k, v in made[0].items() if k not in ("title", "machine")} | {"key": "bare"})
    for each in made:
        store.write(each)
    before = found(store)
    store.fold([TABLE])
    assert files(store) == [f"{TABLE}.jsonl"]
    for key, each in found(store).items():
        assert json.dumps(each, sort_keys=True) == json.dumps(before[key], sort_keys=True)


def test_a_table_is_sorted_says_what_is_shared_once_and_depends_on_no_order(store, tmp_path):
    other, shuffled = Store(tmp_path / "other"), list(tasks(4))
    made = {task.key: record(task, seconds=1.0, finished="") for task in shuffled}
    random.Random(0).shuffle(shuffled)
    for target, order in ((store, tasks(4)), (other, shuffled)):
        for number, task in enumerate(order):
            target.write(made[task.key])
            if number % 5 == 0:
                target.fold([TABLE])
        target.fold([TABLE])
    text = store.table(TABLE).read_text()
    assert text == other.table(TABLE).read_text()
    first, *lines = map(json.loads, text.splitlines())
    assert [len(first[name]) for name in ("title", "command", "cells", "machine")] == [1, 1, 6, 1]
    assert [(line["settings"]["k"], line["seed"]) for line in lines] == [
        (k, seed) for k in range(6) for seed in range(4)
    ]
    assert all(next(iter(line)) == "key" for line in lines)


def test_a_new_run_changes_one_line(store):
    written(store, tasks(3))
    before = store.table(TABLE).read_text().splitlines()
    written(store, tasks(4)[-1:])
    after = store.table(TABLE).read_text().splitlines()
    assert len(set(after) - set(before)) == 1 and set(before) < set(after)


def test_a_crash_between_folding_and_removing_is_harmless_and_the_newer_counts(store):
    written(store, tasks(), fold=False)
    loose = {path: path.read_bytes() for path in store.folder.glob("*/*.json")}
    before = found(store)
    store.fold([TABLE])
    store.path(TABLE, "").parent.mkdir()
    for path, content in loose.items():
        path.write_bytes(content)
    (store.folder / TABLE / ".half.0123.json").write_text("{")  # being written when it was killed
    assert found(store) == before
    store.write(record(tasks()[0], seconds=99.0))
    assert Store(store.folder).read(tasks()[0])["seconds"] == 99.0
    store.fold([TABLE])
    assert files(store) == [f"{TABLE}.jsonl"] and Store(store.folder).read(tasks()[0])["seconds"] == 99.0
    assert len(found(store)) == 6


def test_many_who_write_and_fold_lose_nothing_and_a_reader_sees_all_that_is_finished(store):
    wanted = tasks(12)
    made, finished, stop, missed = {t.key: record(t) for t in wanted}, set(), threading.Event(), []

    def write(part):
        own = Store(store.folder)
        for number, task in enumerate(part):
            own.write(made[task.key])
            finished.add(task.key)
            if number % 3 == 0:
                own.fold([TABLE])

    def look():
        own = Store(store.folder)
        while not stop.is_set():
            must = set(finished)
            missed.extend(must - {each["key"] for each in own.records()})
            missed.extend(t.key for t in wanted if t.key in must and own.read(t) is None)
            missed.extend(own.corrupt)

    with ThreadPoolExecutor(4) as threads:
        reader = threads.submit(look)
        wait(writers := [threads.submit(write, wanted[k::3]) for k in range(3)])
        stop.set()
        for each in (reader, *writers):
            each.result()
    assert not missed
    Store(store.folder).fold([TABLE])
    assert files(store) == [f"{TABLE}.jsonl"] and found(store).keys() == made.keys()


def test_claims_that_nobody_has_are_removed_and_those_of_others_stay(store):
    one, other = tasks()[:2]
    store.claim(one).close()  # as of a sweep that was killed when the run was stored
    held = store.claim(other)
    store.tidy()
    assert files_of_claims(store) == [other.work]
    store.release(other, held)
    store.tidy()
    assert not (store.folder / ".claims").exists()


def files_of_claims(store):
    return [path.name for path in (store.folder / ".claims").iterdir()]


def test_a_table_is_read_again_only_when_it_changed(store, monkeypatch):
    from unmix.experiments.engine import _store

    written(store, tasks())
    reads, real = [], _store.from_lines
    monkeypatch.setattr(_store, "from_lines", lambda *given: reads.append(1) or real(*given))
    reader = Store(store.folder)
    assert all(reader.read(task) for task in tasks()) and len(reads) == 1
    reader.read(tasks()[0])["values"] = {}
    assert reader.read(tasks()[0])["values"], "what a reader does to a record stays with it"
    written(store, tasks(2))
    reads.clear()
    assert all(reader.read(task) for task in tasks(2)) and len(reads) == 1


def test_a_stamp_moves_results_and_changes_nothing_else(store):
    written(store, tasks(2))
    own = tasks_of(fake_table, seeds=1, budget="smoke", method="sklearn.decomposition:PCA")[-1]
    store.write(record(own))
    before = {(r["seed"], r["settings"]["k"]): r for r in found(store).values()}
    assert restamp(store, TABLE, "0123456789ab") == (tasks()[0].code, 12)
    after = {(r["seed"], r["settings"]["k"]): r for r in found(store).values()}
    assert after.keys() == before.keys() and files(store) == [f"{TABLE}.jsonl"]
    for place, each in after.items():
        assert each["key"] == key_of(each)
        assert each["code"] == (own.code if place[1] == 9 else "0123456789ab")
        for unchanged in each.keys() - {"code", "key"}:
            assert each[unchanged] == before[place][unchanged]
    assert swept(store, tasks(2)).done == 12, "other code: these are other runs"
    with pytest.raises(ValueError, match="one code"):
        restamp(store, TABLE, "ba9876543210")


def test_the_stamp_of_a_folder_is_that_of_the_code_here(store, capsys):
    for task in tasks():
        stale = record(task) | {"code": "0.1.0+abc"}
        store.write(stale | {"key": key_of(stale)})
    restamp_all([str(store.folder), TABLE])
    assert f"6 results, 0.1.0+abc -> {code_version(TABLE)}" in capsys.readouterr().out
    assert swept(store, tasks()).skipped == 6


def test_a_result_whose_key_is_not_its_own_is_not_stamped(store):
    store.write(record(tasks()[0]) | {"key": "nonsense"})
    with pytest.raises(ValueError, match="`key`"):
        restamp(store, TABLE, "0123456789ab")
