"""Several processes fit as one does, by the environment that `torchrun` or `srun` gives them."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from families import DICTIONARIES, ESTIMATORS, IMAGE_MAKERS, IMAGE_READERS, label
from unmix._group import Group, together, told_by
from unmix.rows import array_rows
from unmix.training import Streamed
from unmix.training._sources import Held

pytestmark = pytest.mark.timeout(2500)  # three processes that fit every estimator, on two cores
WORKER = Path(__file__).parents[1] / "together.py"


def started(what, **environment):
    """Start a process: code, or the worker on a folder."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("SLURM")}
    known |= {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1", **environment}
    line = [sys.executable, *(["-c", what] if isinstance(what, str) else [str(WORKER), str(what)])]
    return subprocess.Popen(line, env=known, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(*processes):
    errors = [process.communicate(timeout=1200)[1] for process in processes]
    assert not any(process.returncode for process in processes), "\n".join(error[-3000:] for error in errors)


def free_port():
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return str(door.getsockname()[1])


def by_torchrun(rank, port):
    return {
        "RANK": rank,
        "WORLD_SIZE": "2",
        "LOCAL_RANK": rank,
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": port,
    }


def by_srun(rank, port):
    step = {"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": rank, "SLURM_LOCALID": rank}
    return step | {"SLURM_STEP_NODELIST": "127.0.0.1", "SLURM_JOB_ID": "7", "MASTER_PORT": port}


@pytest.mark.parametrize("initialised", [False, True])
def test_processes_share_gpus_where_these_are_fewer(initialised, monkeypatch):
    taken, told = [], by_torchrun("1", "9")
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
    monkeypatch.setattr("torch.cuda.set_device", taken.append)
    monkeypatch.setattr("torch.distributed.is_initialized", lambda: initialised)
    monkeypatch.setattr("torch.distributed.init_process_group", lambda *a, **k: None)
    monkeypatch.setattr("atexit.register", lambda call: None)
    monkeypatch.setattr("torch.distributed.get_rank", lambda: 1)
    monkeypatch.setattr("torch.distributed.get_world_size", lambda: 2)
    with together() as group:
        assert group == Group(1, 2)
    assert taken == [0], "the second of two processes has the only GPU too"


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Fit every estimator by one process, then by two, as `torchrun` starts them; return all codes."""
    folder = tmp_path_factory.mktemp("together")
    np.save(folder / "x.npy", np.random.default_rng(3).normal(size=(301, 5)) @ np.diag([1, 2, 3, 4, 5]))
    ended(started(folder))
    port = free_port()
    ended(*(started(folder, **by_torchrun(rank, port)) for rank in "01"))
    return [dict(np.load(folder / f"codes-{name}.npz")) for name in ("1-0", "2-0", "2-1")]


@pytest.mark.slow
def test_two_processes_fit_as_one_on_the_joined_batch(found):
    one, first, second = found
    names = one.keys() & first.keys()
    assert len(names) > 60
    for name in names:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)
        assert np.abs(first[name] - one[name]).max() <= 1e-10 * max(1, np.abs(one[name]).max()), name


@pytest.mark.slow
def test_every_estimator_that_trains_by_gradient_is_among_them(found):
    kinds = (*ESTIMATORS, *DICTIONARIES, *IMAGE_MAKERS, *IMAGE_READERS)
    for name in {label(member) for member in kinds}:
        assert any(name in known for known in found[0]), name


@pytest.mark.slow
def test_the_loop_does_what_distributed_data_parallel_does(found):
    one, first, second = found
    for weights in (first["by loop"], first["by ddp"], second["by ddp"]):
        np.testing.assert_allclose(weights, one["by loop"], rtol=0, atol=1e-10)


@pytest.mark.slow
def test_a_checkpoint_goes_on_with_another_number_of_processes(found):
    one, first, _ = found
    for name in ("ended by two", "ended by one"):
        np.testing.assert_allclose(first[name], one["whole run"], rtol=0, atol=1e-12)


def test_processes_of_srun_find_each_other(tmp_path):
    port = free_port()
    code = (
        "from unmix._group import together, added; import torch\n"
        "with together() as group:\n"
        "    print(group.rank, group.size, added(torch.tensor(group.rank + 1))[0].item())"
    )
    processes = [started(code, **by_srun(rank, port)) for rank in "01"]
    told = sorted(process.communicate(timeout=200)[0].split() for process in processes)
    assert told == [["0", "2", "3"], ["1", "2", "3"]]


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"RANK": "0", "WORLD_SIZE": "1"},
        {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "4", "SLURM_PROCID": "0"},  # a batch script is one process
        {"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "1", "SLURM_NTASKS": "4", "SLURM_PROCID": "0"},
    ],
)
def test_one_process_is_alone(environment):
    assert told_by(environment) is None


@given(st.integers(2, 5), st.integers(5, 40), st.integers(1, 12), st.integers(0, 20), st.booleans())
def test_parts_of_batches_are_the_batches(size, n_rows, batch_size, n_drawn, streamed):
    """Whatever the sizes, rows r, r + size, ... of each batch are those of process r, also after a pause."""
    x = torch.arange(n_rows * 2.0).reshape(n_rows, 2)

    def batches(rank, size):
        generator = torch.Generator().manual_seed(0)
        source = Streamed(array_rows(x, 3), torch.as_tensor, window=20) if streamed else Held(x)
        found = source.batches(batch_size=batch_size, generator=generator, noise=1)
        assert found.share(rank, size) == min(batch_size, n_rows)
        return found

    whole, parts = batches(0, 1), [batches(rank, size) for rank in range(size)]
    for step in range(n_drawn):
        if step == n_drawn // 2:  # go on with another number of processes
            state = parts[0].state_dict()
            parts = [batches(rank, size + 1) for rank in range(size + 1)]
            for part in parts:
                part.load_state_dict(state)
        rows, noise = next(whole)
        for rank, part in enumerate(map(next, parts)):
            assert torch.equal(part[0], rows[rank :: len(parts)])
            assert torch.equal(part[1], noise[rank :: len(parts)])
