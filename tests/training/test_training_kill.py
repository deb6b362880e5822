"""A run killed at any moment and resumed ends with the same bits as one never killed."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

WORKER = Path(__file__).with_name("worker.py")
KILLED, INTERRUPTED = -signal.SIGKILL, 130


class Worker:
    """The process that forks a child for each job."""

    def __init__(self, stderr):
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
        self.process = subprocess.Popen(
            [sys.executable, str(WORKER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=environment,
            text=True,
        )

    def start(self, **job):
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def wait(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def run(self, **job):
        self.start(**job)
        return self.wait()

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=30)
        self.process.stdout.close()


@pytest.fixture(scope="module")
def stderr(tmp_path_factory):
    with open(tmp_path_factory.mktemp("worker") / "stderr", "w+") as file:
        yield file


@pytest.fixture(scope="module")
def worker(stderr):
    worker = Worker(stderr)
    yield worker
    worker.close()


@pytest.fixture(scope="module", params=["minimise", "constrained", "adversaries"])
def game(request):
    return request.param


@pytest.fixture(scope="module")
def untouched(worker, game, tmp_path_factory):
    """The outcome of a run that nobody disturbed, saving at another rhythm than the disturbed ones."""
    folder = tmp_path_factory.mktemp("untouched")
    out = str(folder / "out.json")
    job = {"folder": str(folder / "run"), "every": 1000, "n_steps": 90, "game": game}
    assert worker.run(**job, out=out) == 0
    return json.loads(Path(out).read_text())


def _job(tmp_path, game, every):
    return {
        "folder": str(tmp_path / "run"),
        "every": every,
        "n_steps": 90,
        "out": str(tmp_path / "out.json"),
        "game": game,
    }


def _wait_for(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the worker made no progress"
        time.sleep(0.0005)


def _version(path):
    return path.stat().st_mtime_ns if path.exists() else None


@pytest.mark.parametrize("every", [1, 7])
def test_random_kills_change_nothing(worker, game, untouched, tmp_path, every):
    job, moments = _job(tmp_path, game, every), random.Random(every)
    saved, statuses = Path(job["folder"]) / "checkpoint.safetensors", []
    for _ in range(5):
        before = _version(saved)
        pid = worker.start(**job)
        _wait_for(lambda before=before: _version(saved) != before)
        time.sleep(moments.uniform(0.0, 0.01))
        os.kill(pid, signal.SIGKILL)
        statuses.append(worker.wait())
        if statuses[-1] == 0:
            break
    assert statuses.count(KILLED) >= 2
    assert worker.run(**job) == 0
    assert json.loads(Path(job["out"]).read_text()) == untouched


@pytest.mark.parametrize("moment", ["half written", "before disk", "before rename", "after rename"])
def test_a_kill_within_a_checkpoint_write_changes_nothing(worker, game, untouched, tmp_path, moment):
    job = _job(tmp_path, game, 3)
    assert worker.run(**job, die=(moment, 1)) == KILLED  # no checkpoint yet, or just the first
    assert worker.run(**job, die=(moment, 6)) == KILLED
    assert worker.run(**job) == 0
    assert json.loads(Path(job["out"]).read_text()) == untouched
    assert [path.name for path in Path(job["folder"]).iterdir()] == ["checkpoint.safetensors"]


def test_a_finished_run_returns_at_once_with_the_same_bits(worker, game, untouched, tmp_path):
    job = _job(tmp_path, game, 50)
    assert worker.run(**job) == 0
    os.unlink(job["out"] + ".started")
    os.unlink(job["out"])
    assert worker.run(**job) == 0
    assert json.loads(Path(job["out"]).read_text()) == untouched
    assert not os.path.exists(job["out"] + ".started")  # no step was taken


def test_ctrl_c_leaves_a_checkpoint_and_one_line(worker, stderr, game, untouched, tmp_path):
    job = _job(tmp_path, game, 1_000_000)  # only Ctrl-C can have written the checkpoint
    stderr.seek(0, os.SEEK_END)
    begin = stderr.tell()
    pid = worker.start(**job, pause=0.02)  # slow enough to be caught on the way
    _wait_for(lambda: os.path.exists(job["out"] + ".started"))
    os.kill(pid, signal.SIGINT)
    assert worker.wait() == INTERRUPTED
    stderr.seek(begin)
    lines = stderr.read().splitlines()
    assert len(lines) == 1
    after, of = map(int, re.match(r"Interrupted after (\d+) of (\d+) steps\. ", lines[0]).groups())
    assert 5 <= after < of == 90
    assert job["folder"] in lines[0] and "run the same again" in lines[0]
    assert os.listdir(job["folder"]) == ["checkpoint.safetensors"]
    assert worker.run(**job) == 0
    assert json.loads(Path(job["out"]).read_text()) == untouched
