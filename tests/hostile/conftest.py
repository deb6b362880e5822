"""A folder of whole files for all tests, and a clean folder to write to for each call."""

import shutil
import warnings
from collections import namedtuple

import pytest
import torch

from hostile.commands import made
from hostile.guard import faults
from hostile.whole import write_all
from unmix.cli import main

Result = namedtuple("Result", "code out err")


@pytest.fixture(scope="session")
def whole_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    torch.set_num_threads(1)
    with warnings.catch_warnings(action="ignore"):
        write_all(folder)
    return folder


@pytest.fixture
def tried(whole_files, tmp_path):
    """Run a command on a file, and return what is wrong with how it ended."""

    def run(command, file, **settings):
        out = tmp_path / "out"
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir()
        with warnings.catch_warnings(action="ignore"):
            bad = faults(made(command, file, whole_files, out), out, **settings)
        return f"{command}: {bad}" if bad else ""

    return run


@pytest.fixture
def unmix(capsys):
    """Run a command; return its exit code, and what it printed."""

    def run(*arguments):
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        return Result(left.value.code, *capsys.readouterr())

    return run
