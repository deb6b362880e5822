"""Where runs are done: processes of this machine, or a Dask cluster."""

import os
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import connection, get_context, parent_process
from typing import Any, final

from ._code import code_version


@final
class ProcessPool(ProcessPoolExecutor):
    """Fresh processes, which end when this process does, however it ends, or when they are abandoned."""

    def __init__(self, workers: int) -> None:
        spawned = get_context("spawn")
        theirs, self._line = spawned.Pipe(duplex=False)
        super().__init__(workers, mp_context=spawned, initializer=_follow_parent, initargs=(theirs,))

    def abandon(self) -> None:
        """End all processes at once, whatever they do: a run may take hours, and nobody waits for it."""
        self._line.close()
        self.shutdown(wait=False, cancel_futures=True)


def _follow_parent(line: connection.Connection) -> None:
    """End this worker when its parent is gone or hangs up: a sweep must not leave workers behind."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # read by libraries that a run imports later
    parent = parent_process()
    if parent is None:
        return

    def watch() -> None:
        connection.wait([parent.sentinel, line])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def dask_executor(address: str, workers: int, modules: tuple[str, ...] = ()) -> Iterator[Executor]:
    """Yield an executor that submits to a Dask scheduler.

    Parameters
    ----------
    address : str
        `tcp://host:port` of a scheduler, or `local` for a cluster of processes on this machine.
    workers : int
        Processes of a local cluster.
    modules : tuple of str
        Modules about to run. Workers must have the same code of them as this process has.
    """
    distributed = _distributed()
    settings = {
        "distributed.worker.multiprocessing-method": "spawn",
        "distributed.scheduler.http.routes": [],  # a local scheduler tells nobody what it does
        "logging.distributed": "error",
    }
    import dask

    with dask.config.set(settings), _client(distributed, address, workers) as client:
        client.wait_for_workers(1, timeout=60)
        _check_code(client, modules)
        yield client.get_executor(pure=False)


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise ImportError("`dask` needs dask: pip install 'unmix[cluster]'") from None
    return distributed


@contextmanager
def _client(distributed: Any, address: str, workers: int) -> Iterator[Any]:
    if address != "local":
        if "://" not in address:
            raise ValueError(f"`dask` must be `local` or an address like tcp://host:8786, got {address!r}.")
        with distributed.Client(address, timeout=30) as client:
            yield client
        return
    with (
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",
            memory_limit=0,
            security=_secret(distributed),
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def _secret(distributed: Any) -> Any:
    """Return keys that are made for this cluster and known to nobody else on the machine.

    Whoever can talk to a scheduler can run code in its workers.
    """
    try:
        return distributed.Security.temporary()
    except ImportError:
        raise ImportError("`dask` needs cryptography: pip install 'unmix[cluster]'") from None


def _check_code(client: Any, modules: tuple[str, ...]) -> None:
    """Refuse workers with other code: their results would lie at the wrong address."""
    mine = code_version(*modules)
    other = sorted(set(client.run(code_version, *modules).values()) - {mine})
    if other:
        raise ValueError(
            f"`dask` must lead to workers that run the code {mine}, got {other[0]}. Install the same there."
        )
