"""Real processes: sweeps and workers that are killed, two sweeps on one folder, and a Dask cluster."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import fake_table
import pytest

from loopback import loopback_cluster, wait_for
from unmix.experiments import Cell, Store, dask_executor, sweep, tasks_of
from unmix.experiments.engine._work import perform

HERE = str(Path(__file__).parent)


def environment(tmp_path, **extra):
    inherited = os.environ | {"PYTHONPATH": HERE, "OMP_NUM_THREADS": "1", "FAKE_LOG": str(tmp_path / "log")}
    return inherited | extra


def start(tmp_path, *arguments, **extra):
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "unmix",
            "reproduce",
            "fake_table",
            "--budget",
            "smoke",
            "--out",
            "results",
            *arguments,
        ],
        cwd=tmp_path,
        env=environment(tmp_path, **extra),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(tmp_path, *arguments, **extra):
    process = start(tmp_path, *arguments, **extra)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def stored(tmp_path):
    return {record["key"]: record for record in Store(tmp_path / "results").records()}


def values(tmp_path):
    store = Store(tmp_path / "results")
    found = {(record["seed"], record["settings"]["k"]): record["values"] for record in store.records()}
    assert not store.corrupt
    return found


def expected(seeds):
    tasks = tasks_of(fake_table, seeds=seeds, budget="smoke")
    return {(task.seed, task.cells[0].settings["k"]): perform(task)["values"] for task in tasks}


def workers_of(pid):
    """Process ids of the children that compute (one of them only keeps track of resources)."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [c for c in children if b"spawn_main" in Path(f"/proc/{c}/cmdline").read_bytes()]


def stopped_by(number, tmp_path, least):
    """Start a sweep, stop it by a signal once so many results are stored, and wait for its workers to end."""
    process = start(tmp_path, "--seeds", "4", FAKE_PAUSE="0.1")
    wait_for(lambda: len(stored(tmp_path)) >= least)
    workers = workers_of(process.pid)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    wait_for(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))
    assert workers
    return process.returncode, err


def test_a_sweep_stopped_or_killed_outright_goes_on_where_it_was_and_leaves_no_worker(tmp_path):
    code, err = stopped_by(signal.SIGINT, tmp_path, least=2)
    assert code == 130 and "To go on: unmix reproduce " in err and not (tmp_path / "results/.claims").exists()
    code, _ = stopped_by(signal.SIGKILL, tmp_path, least=len(stored(tmp_path)) + 2)
    kept = stored(tmp_path)
    assert code == -signal.SIGKILL and 4 <= len(kept) < 24
    code, out, err = run(tmp_path, "--seeds", "4", "--json")
    assert code == 0, err
    told = json.loads(out)
    assert (told["done"], told["skipped"]) == (24 - len(kept), len(kept))
    assert values(tmp_path) == expected(4)
    assert stored(tmp_path).items() >= kept.items()
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["fake_table.jsonl"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_sweep_that_is_stopped_does_not_wait_for_its_runs(number, tmp_path):
    process = start(tmp_path, "--seeds", "1", FAKE_PAUSE="600")
    wait_for((tmp_path / "log").exists)
    workers = workers_of(process.pid)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number and "To go on: unmix reproduce " in err
    wait_for(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers))
    assert workers and not (tmp_path / "results/.claims").exists()


def test_two_sweeps_on_one_folder_share_the_work(tmp_path):
    sweeps = [start(tmp_path, "--seeds", "3", "--json", FAKE_PAUSE="0.05") for _ in range(2)]
    told = [json.loads(process.communicate(timeout=120)[0]) for process in sweeps]
    assert [process.returncode for process in sweeps] == [0, 0]
    assert sum(one["done"] for one in told) == 18 == (tmp_path / "log").stat().st_size
    assert all(one["done"] + one["skipped"] == 18 for one in told)
    assert values(tmp_path) == expected(3)


def test_a_worker_that_dies_costs_its_own_cell_only(tmp_path, monkeypatch):
    monkeypatch.setenv("FAKE_LOG", str(tmp_path / "log"))
    monkeypatch.setenv("PYTHONPATH", HERE)
    good = tasks_of(fake_table, seeds=1, budget="smoke")
    always, unlucky = (
        replace(good[0], cells=(Cell(does, "column", settings={"do": does, "k": 1}),))
        for does in ("die", "die 3 times")
    )
    outcome = sweep(
        [unlucky, *good[:2]], Store(tmp_path / "results"), workers=2
    )  # once in company, twice alone
    assert (outcome.done, outcome.failed) == (3, 0)
    outcome = sweep([good[2], always, *good[3:]], Store(tmp_path / "results"), workers=2)
    assert (outcome.done, outcome.failed) == (4, 1)
    failure = outcome.failures[0]
    assert failure["key"] == always.key and failure["error"]["type"] == "WorkerDied"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A scheduler and two workers, each a process of its own on loopback."""
    pytest.importorskip("distributed")
    folder = tmp_path_factory.mktemp("cluster")
    with loopback_cluster(folder, environment(folder)) as (address, workers):
        yield address, workers, folder


def test_a_cluster_gives_the_same_bits_even_when_a_worker_is_killed(cluster, tmp_path):
    address, workers, folder = cluster
    store, killed = Store(tmp_path / "results"), []
    tasks = tasks_of(fake_table, seeds=5, budget="smoke")

    def listen(event, task, record):
        if event == "done" and len(killed) == 0 and len(list(store.records())) >= 6:
            workers[0].kill()
            killed.append(workers[0].wait())

    with dask_executor(address, 2, ("fake_table",)) as executor:
        executor._client.wait_for_workers(2, timeout=60)
        outcome = sweep(tasks, store, executor=executor, workers=2, listen=listen)
    assert (outcome.done, outcome.failed) == (30, 0) and killed == [-signal.SIGKILL]
    assert values(tmp_path) == expected(5)
    assert (folder / "log").stat().st_size >= 30, "the cells ran on the workers"


def test_an_address_that_leads_nowhere_is_an_error():
    pytest.importorskip("distributed")
    with pytest.raises(ValueError, match="tcp://"), dask_executor("nonsense", 1):
        pass


def test_a_local_cluster_works_and_lets_nobody_else_in():
    pytest.importorskip("distributed")
    with dask_executor("local", 1) as executor:
        address = executor._client.scheduler.address
        assert executor.submit(abs, -3).result() == 3 and address.startswith("tls://127.0.0.1:")
        before = executor._client.run_on_scheduler(known_clients)
        for asked in (address, address.replace("tls", "tcp")):  # another user of the machine has no key
            knock = "import sys, distributed; distributed.Client(sys.argv[1], timeout=5)"
            asker = subprocess.run([sys.executable, "-c", knock, asked], capture_output=True, timeout=120)
            assert asker.returncode != 0
        assert executor._client.run_on_scheduler(known_clients) == before, "somebody else came in"


def known_clients(dask_scheduler):
    return sorted(dask_scheduler.clients)
