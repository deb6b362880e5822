"""Runs as jobs: submitit's local executor stands in for Slurm."""

import errno
import gc
import os
import warnings
from concurrent.futures import CancelledError
from dataclasses import replace
from pathlib import Path

import fake_table
import pytest

from unmix.cli._reproduce import Reproduce, Where, _of_jobs, _where
from unmix.experiments import Cell, Store, slurm_executor, sweep, tasks_of
from unmix.experiments.engine._slurm import SlurmExecutor

HERE = str(Path(__file__).parent)


@pytest.fixture
def tasks(tmp_path, monkeypatch):
    pytest.importorskip("submitit")
    known = os.pathsep.join([HERE, os.environ.get("PYTHONPATH", "")])
    for name, value in (("FAKE_LOG", str(tmp_path / "log")), ("PYTHONPATH", known), ("OMP_NUM_THREADS", "1")):
        monkeypatch.setenv(name, value)
    yield tasks_of(fake_table, seeds=1, budget="smoke")
    with warnings.catch_warnings():  # submitit's controllers outlive their handles, which say so when they go
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def jobs(folder, retries=1):
    return slurm_executor(folder / "jobs", {"cluster": "local", "retries": retries}, ("fake_table",))


@pytest.mark.slow
def test_jobs_give_the_same_bits_and_one_that_is_lost_is_submitted_again(tasks, tmp_path):
    once, always = (
        replace(tasks[0], cells=(Cell(does, "column", settings={"do": does, "k": 1}),))
        for does in ("die once", "die")
    )
    store = Store(tmp_path / "results")
    with jobs(tmp_path) as executor:
        outcome = sweep([once, tasks[1], always], store, executor=executor, workers=3)
        assert executor.again == 2 and executor.summary() == "2 tried again"
    assert (outcome.done, outcome.failed) == (2, 1)
    assert outcome.failures[0]["key"] == always.key and outcome.failures[0]["error"]["type"] == "WorkerDied"
    here = Store(tmp_path / "here")
    sweep([tasks[1]], here, workers=1)
    assert store.read(tasks[1])["values"] == here.read(tasks[1])["values"]


@pytest.mark.slow
def test_a_full_disk_costs_only_the_runs_in_flight(tasks, tmp_path, monkeypatch):
    store, write = Store(tmp_path / "results"), Store.write
    written = []

    def until_full(self, record):
        if len(written) == 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(record["key"])
        return write(self, record)

    monkeypatch.setattr(Store, "write", until_full)
    with jobs(tmp_path) as executor, pytest.raises(OSError, match="No space left"):
        sweep(tasks[:3], store, executor=executor, workers=1)
    monkeypatch.setattr(Store, "write", write)
    again = sweep(tasks[:3], Store(tmp_path / "results"), workers=1)
    assert (again.done, again.skipped, again.failed) == (2, 1, 0)


class _Job:
    """A job that is done, whose future is given up just while its answer is read."""

    def __init__(self, error):
        self.error, self.futures = error, []

    def submit(self, *_):
        return self

    def done(self):
        return bool(self.futures)

    def result(self):
        assert self.futures[0].cancel()
        if self.error is not None:
            raise self.error
        return "an answer"

    def cancel(self, check):
        pass


@pytest.mark.parametrize("error", [None, ValueError("no"), FileNotFoundError("lost")], ids=repr)
def test_an_answer_that_nobody_waits_for_any_more_is_let_go(error):
    job = _Job(error)
    executor = SlurmExecutor(job, retries=0, poll=0.01)
    future = executor.submit(len)
    job.futures.append(future)
    with pytest.raises(CancelledError):
        future.result(timeout=20)
    other = executor.submit(len)  # the thread that looks at jobs is still there
    job.futures[0], job.error = other, None
    with pytest.raises(CancelledError):
        other.result(timeout=20)
    executor.shutdown()


def test_a_cluster_that_is_not_there_is_an_error(tmp_path):
    pytest.importorskip("submitit")
    with pytest.raises(ValueError, match="`slurm` must be"), slurm_executor(tmp_path, {"nonsense": 1}):
        pass


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({}, Where.processes),
        ({"dask": "local"}, Where.dask),
        ({"executor": Where.dask}, Where.dask),
        ({"slurm": ["slurm_partition=gpu"]}, Where.slurm),
        ({"executor": Where.slurm}, Where.slurm),
    ],
)
def test_options_say_where_runs_are_done(options, where):
    assert _where(Reproduce(**options)) == where


def test_options_of_another_place_are_refused():
    with pytest.raises(ValueError, match="`--dask` must come with --executor dask"):
        _where(Reproduce(dask="local", executor=Where.slurm))
    with pytest.raises(ValueError, match="`--slurm` must be NAME=VALUE"):
        _of_jobs(Reproduce(slurm=["gpu"]))
    assert _of_jobs(Reproduce(slurm=["timeout_min=5", "slurm_partition=a"])) == {
        "timeout_min": 5,
        "slurm_partition": "a",
    }
