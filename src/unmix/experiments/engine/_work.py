"""What a worker does: run one task on one thread, and say what came out of it and at what cost."""

import os
import platform
import re
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ..._version import __version__
from ._task import Task

_PACKAGES = ("numpy", "scipy", "scikit-learn", "torch")
_MAX_WARNINGS = 5


def perform(task: Task) -> dict[str, Any]:
    """Run a task and return its record; an error of the experiment's own is part of the record.

    Parameters
    ----------
    task : Task

    Returns
    -------
    dict
        Ready for JSON: identity, cells, values or error, warnings, seconds (by the clock and of the
        processor), peak memory, versions, machine.
    """
    start, cpu, noted = time.perf_counter(), time.process_time(), []
    _forget_peak()
    values, error = {}, None
    try:
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always")
            experiment = import_module(task.module)
            with one_thread():
                values = _values(experiment, task)
    except Exception as failure:  # the rest of the sweep goes on, whatever this cell raised
        error = described(failure)
    return {
        "key": task.key,
        **task.identity,
        "cells": task.described,
        "values": values,
        "error": error,
        "warnings": list(dict.fromkeys(anonymous(str(w.message)) for w in noted))[:_MAX_WARNINGS],
        "seconds": round(time.perf_counter() - start, 4),
        "cpu_seconds": round(time.process_time() - cpu, 4),
        "peak_memory_mib": _peak(),
        "versions": _versions(),
        "machine": _machine(),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _values(experiment: ModuleType, task: Task) -> dict[str, float | None]:
    given: dict[str, Any] = {} if task.data is None else {"data": task.data}
    given |= {} if task.place is None else {"place": task.place}
    returned = experiment.run(task.cells[0], task.seed, task.budget, **given)
    values = {str(name): _number(value) for name, value in returned.items()}
    missing = {cell.value for cell in task.cells} - values.keys()
    if missing:
        raise ValueError(f"`run` must return {sorted(missing)}, got {sorted(values)}. Name the values alike.")
    return values


def _number(value: Any) -> float | None:
    """Return a finite float, or None for what could not be measured."""
    return float(value) if value is not None and np.isfinite(value) else None


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one thread, as every worker does: speed is comparable and results are the same bits."""
    from threadpoolctl import threadpool_limits

    torch = sys.modules.get("torch")  # a table without networks need not wait for it
    before = None if torch is None else torch.get_num_threads()
    try:
        if torch is not None:
            torch.set_num_threads(1)
        with threadpool_limits(1):
            yield
    finally:
        if torch is not None:
            torch.set_num_threads(before)


def described(failure: BaseException) -> dict[str, Any]:
    """Describe an error by type, message and place, the place by module rather than by path."""
    frames = traceback.extract_tb(failure.__traceback__)
    where = [f"{Path(frame.filename).stem}:{frame.lineno} in {frame.name}" for frame in frames]
    return {"type": type(failure).__name__, "message": anonymous(str(failure)), "where": where[-6:]}


def anonymous(text: str) -> str:
    """Take places on this machine, its name and its user out of a text.

    >>> anonymous(f"no file {tempfile.gettempdir()}/data.npy")
    'no file .../data.npy'
    """
    places = {str(Path.home()), os.getcwd(), sys.prefix, sys.base_prefix, tempfile.gettempdir()} - {"/", ""}
    for place in sorted(places, key=len, reverse=True):
        text = text.replace(place, "...")
    host = platform.node()
    return re.sub(rf"\b{re.escape(host)}\b", "...", text) if host else text


def _forget_peak() -> None:
    """Restart the count of memory where the system can (Linux); else the peak is that of the process."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def _peak() -> float | None:
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return _peak_of_process()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return round(int(found[1]) / 1024, 1) if found else _peak_of_process()


def _peak_of_process() -> float | None:
    try:
        import resource
    except ImportError:
        return None
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit, 1)


def _versions() -> dict[str, str]:
    return {"unmix": __version__, "python": platform.python_version()} | {
        name: found for name in _PACKAGES if (found := _version(name))
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _machine() -> dict[str, Any]:
    """Describe the machine without naming it."""
    torch = sys.modules.get("torch")
    gpu = torch.cuda.get_device_name() if torch is not None and torch.cuda.is_available() else None
    return {"system": platform.system(), "processor": platform.machine(), "cores": os.cpu_count(), "gpu": gpu}
