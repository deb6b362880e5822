"""A Dask cluster of real processes on loopback: a scheduler and two workers that stay dead when killed."""

import json
import subprocess
import sys
import time
from contextlib import contextmanager

FLAGS = ("--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard")


def wait_for(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.02)


@contextmanager
def loopback_cluster(folder, environment):
    """Yield the address of the scheduler and the two worker processes."""
    where, processes = folder / "scheduler.json", []

    def launch(command, *arguments):
        line = [sys.executable, "-m", f"distributed.cli.dask_{command}", "--scheduler-file", str(where)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        processes.append(subprocess.Popen([*line, *arguments], cwd=folder, env=environment, **quiet))
        return processes[-1]

    try:
        launch("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show")
        wait_for(lambda: where.exists() and where.stat().st_size > 0)
        workers = [launch("worker", *FLAGS, "--local-directory", str(folder)) for _ in range(2)]
        yield json.loads(where.read_text())["address"], workers
    finally:
        for process in processes:
            process.kill()
            process.wait()
