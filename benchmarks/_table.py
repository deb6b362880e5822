"""How a benchmark is asked, shows its tables and goals, and keeps what it measured."""

import argparse
import json
import os
import platform
import time
from collections.abc import Callable, Collection, Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

import unmix
from unmix._files import atomic_write

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("torch", "numpy", "scikit-learn")


def parser(doc: str) -> argparse.ArgumentParser:
    """Return a parser that tells what a benchmark measures, with the option to keep it."""
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--keep", action="store_true", help="write the results into benchmarks/results")
    return made


def show(heads: Iterable[str], rows: Iterable[Iterable[Any]], title: str = "") -> None:
    """Print an aligned table; numbers that are not whole have three digits."""
    drawn = Table(*heads, title=title or None)
    for row in rows:
        drawn.add_row(*(f"{entry:.3g}" if isinstance(entry, float) else str(entry) for entry in row))
    Console().print(drawn)


def timed(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """Do work, and return what it made and its seconds by the clock and by the processor."""
    wall, processor = time.perf_counter(), time.process_time()
    made = work()
    return made, {"wall": time.perf_counter() - wall, "processor": time.process_time() - processor}


def judged(
    measured: dict[str, float], goals: dict[str, float], at_least: Collection[str] = ()
) -> dict[str, Any]:
    """Set what was measured beside its goals, print and return it; a goal is a bound from above or below."""
    verdicts = {
        name: {"measured": value, "goal": goals[name], "met": _met(value, goals[name], name in at_least)}
        for name, value in measured.items()
    }
    for name, verdict in verdicts.items():
        said = "met" if verdict["met"] else "MISSED"
        print(f"{name}: {verdict['measured']:.3g}, goal {verdict['goal']:g}, {said}")
    return verdicts


def _met(value: float, goal: float, at_least: bool) -> bool:
    return bool(value >= goal if at_least else value < goal)


def keep(name: str, results: dict[str, Any]) -> Path:
    """Write results with the kind of machine, its load and versions, whole or not at all."""
    document = {"machine": machine(), "versions": versions(), **results}
    return atomic_write(RESULTS / f"{name}.json", json.dumps(document, indent=1) + "\n")


def versions() -> dict[str, str]:
    """Name what was measured, and what it stood on."""
    return {"unmix": unmix.__version__} | {name: version(name) for name in PACKAGES}


def machine() -> dict[str, Any]:
    """Describe the machine without naming it."""
    import torch  # here, so that benchmarks of memory do not carry it

    return {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "threads": torch.get_num_threads(),
        "load": os.getloadavg()[0],
    }
