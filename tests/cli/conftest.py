"""Run the command line inside the test process."""

import json
from collections import namedtuple

import pytest

from unmix.cli import main

Result = namedtuple("Result", "code out err")


@pytest.fixture
def unmix(capsys):
    """Run a command; return its exit code, standard output and standard error."""

    def run(*arguments):
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        return Result(left.value.code, *capsys.readouterr())

    return run


@pytest.fixture
def unmix_json(unmix):
    """Run a command with --json; return the one document it prints."""

    def run(*arguments):
        result = unmix(*arguments, "--json")
        assert result.code == 0, result.err
        return json.loads(result.out, parse_constant=pytest.fail)

    return run
