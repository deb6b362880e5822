"""Interrupted, a command says what is kept and prints the command that goes on, as one would type it."""

import shlex

import numpy as np
import pytest

from unmix.cli import _certify, _fit, _reproduce
from unmix.training import Interrupted


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save(tmp_path / "my x.npy", np.random.default_rng(0).normal(size=(40, 3)))
    return tmp_path


FIT = ("fit", "my x.npy", "--method", "ae", "--n-components", 2, "--max-iter", 1, "--out", "my model")


def stop(error):
    def stopped(*_, **__):
        raise error

    return stopped


def command(err, *words):
    """Return the command that the last line ends with, as a shell would take it apart."""
    line = err.splitlines()[-1]
    said, _, typed = line.rpartition(": ")
    assert all(word in said for word in words), line
    return shlex.split(typed)


@pytest.mark.parametrize(
    ("saved", "words"),
    [
        ("", ["after 3 of 9 steps. To go on"]),
        ("warm-up/round-1", ["after 3 of 9 steps of warm-up, round 2. To go on"]),
        (None, ["unmix: interrupted. To start again"]),
    ],
)
def test_a_fit_goes_on_by_the_same_command_without_fresh(saved, words, table, unmix, monkeypatch):
    class Stopped:
        def get_params(self):
            return {"checkpoint": None, "verbose": False}

        def set_params(self, checkpoint, verbose):
            if saved is not None:
                (table / "my model.checkpoint" / saved).mkdir(parents=True)
                (table / "my model.checkpoint" / saved / "checkpoint.safetensors").touch()

        fit = staticmethod(stop(KeyboardInterrupt() if saved is None else Interrupted(3, 9, table)))

    monkeypatch.setattr(_fit, "make", lambda *_, **__: Stopped())
    result = unmix(*FIT, "--fresh")
    assert (result.code, result.out) == (130, "")
    assert command(result.err, "unmix: interrupted", *words) == ["unmix", *map(str, FIT)]


def test_a_model_that_is_saved_can_be_checked_later(table, unmix, monkeypatch):
    monkeypatch.setattr(_fit, "judged", stop(KeyboardInterrupt()))
    result = unmix(*FIT)
    assert result.code == 130 and (table / "my model").exists()
    check = ["unmix", "trust", "my model", "my x.npy", "--effort", "quick"]
    assert command(result.err, "The model is saved", "To check it") == check


def test_a_sweep_goes_on_without_doing_again_what_is_stored(table, unmix, monkeypatch):
    monkeypatch.setattr(_reproduce, "_executor", stop(KeyboardInterrupt()))
    line = ["reproduce", "floor.scores", "--budget", "smoke", "--out", "my results"]
    result = unmix(*line, "--force")
    assert result.code == 130 and result.err.count("\n") == 1
    assert command(result.err, "What is done is stored", "To go on") == ["unmix", *line]


def test_what_cannot_go_on_starts_again_and_loses_nothing(table, unmix, monkeypatch):
    (table / "a mask.csv").write_text("1,0\n1,1\n")
    monkeypatch.setattr(_certify, "_facts", stop(KeyboardInterrupt()))
    result = unmix("certify", "a mask.csv", "--out", "a.json")
    assert result.code == 130 and not (table / "a.json").exists()
    start = ["unmix", "certify", "a mask.csv", "--out", "a.json"]
    assert command(result.err, "No file was left unfinished", "To start again") == start


def test_a_stop_says_how_far_it_came_and_how_to_go_on(tmp_path):
    assert "give a `checkpoint` folder" in str(Interrupted(3, 9, None)) and not Interrupted(3, 9, None).saved
    assert repr(str(tmp_path)) in str(Interrupted(3, 9, tmp_path)) and Interrupted(3, 9, tmp_path).saved


def lost_in_a_lock(*_, **__):
    """Raise what comes of a signal that arrives while Python waits for a lock."""
    try:
        raise KeyboardInterrupt
    finally:
        raise RuntimeError("release unlocked lock")


def test_an_interruption_that_python_loses_in_a_lock_is_one(table, unmix, monkeypatch):
    (table / "mask.csv").write_text("1,0\n1,1\n")
    monkeypatch.setattr(_reproduce, "_executor", lost_in_a_lock)
    monkeypatch.setattr(_certify, "_facts", lost_in_a_lock)
    for line, word in (
        (["reproduce", "floor.scores", "--budget", "smoke", "--out", "r"], "go on"),
        (["certify", "mask.csv"], "start again"),
    ):
        result = unmix(*line)
        assert result.code == 130 and result.err.count("\n") == 1 and word in result.err


def test_another_error_of_a_lock_is_none(table, unmix, monkeypatch):
    monkeypatch.setattr(_reproduce, "_executor", stop(RuntimeError("release unlocked lock")))
    with pytest.raises(RuntimeError, match="unlocked"):
        unmix("reproduce", "floor.scores", "--budget", "smoke", "--out", "r")
