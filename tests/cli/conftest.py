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
def refused(unmix, monkeypatch):
    """Run a command in a folder: it must end with 2, say the words in one line, and write nothing."""

    def run(folder, line, words, **files):
        monkeypatch.chdir(folder)
        before = sorted(folder.iterdir())
        named = {path.stem: path for path in before} | files
        result = unmix(*(str(part).format(**named) for part in line))
        assert result.code == 2 and result.out == ""
        assert result.err.startswith("unmix: error: ") and result.err.count("\n") == 1
        assert words in result.err and "Traceback" not in result.err
        assert sorted(folder.iterdir()) == before

    return run


@pytest.fixture
def unmix_json(unmix):
    """Run a command with --json; return the one document it prints."""

    def run(*arguments):
        result = unmix(*arguments, "--json")
        assert result.code == 0, result.err
        return json.loads(result.out, parse_constant=pytest.fail)

    return run
