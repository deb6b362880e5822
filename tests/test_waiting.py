"""A person who waits is told how far the work is, and about how long the rest takes: by a clock of ours."""

import os
import pty
import re
import subprocess
import sys

import pytest

from unmix import _waiting
from unmix._waiting import Lines, Pace, Plan, called, duration, stages, waiting


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self):
        self.time = 0.0

    def __call__(self):
        return self.time


@pytest.fixture
def clock():
    return Clock()


def work(show, clock, *, seconds=100.0, steps=1000, begin=0.0):
    """Do even work of so many seconds, telling it step by step."""
    for step in range(steps + 1):
        show(begin + (1 - begin) * step / steps, f"step {step}")
        clock.time += seconds / steps


def test_even_work_is_foreseen_to_the_second(clock):
    pace = Pace(clock=clock)
    for step in range(100):
        clock.time = 2.0 * step
        pace.at(step / 100)
        assert pace.left == (pytest.approx(200 - 2.0 * step) if step else None)


def test_what_came_before_the_first_step_and_what_was_done_before_is_no_part_of_the_pace(clock):
    pace = Pace(clock=clock)
    for clock.time, share in ((50.0, 0.6), (70.0, 0.6), (71.0, 0.65)):  # a search, and a run that goes on
        pace.at(share)
    assert pace.left == pytest.approx(7.0)


def test_a_pace_that_changes_is_followed_and_a_share_never_goes_back(clock):
    pace = Pace(clock=clock)
    for step in range(1, 51):  # ten times as slow from the middle on
        clock.time += 1.0 if step <= 25 else 10.0
        assert pace.at(step / 100) == step / 100
    assert pace.left == pytest.approx(500, rel=0.1)
    assert pace.at(0.1) == 0.5


def test_long_work_keeps_few_moments(clock):
    pace = Pace(clock=clock)
    for step in range(5000):
        clock.time += 1.0
        pace.at(step / 10_000)
    assert len(pace.seen) <= _waiting._KEPT + 1 and pace.left == pytest.approx(5000, rel=0.01)


def test_lines_come_for_each_tenth_and_never_within_ten_seconds(clock, capsys):
    work(Lines("fit", clock=clock), clock, seconds=200)
    lines = capsys.readouterr().err.splitlines()
    assert [int(re.search(r"(\d+)%", line)[1]) for line in lines] == [10, 20, 30, 40, 50, 60, 70, 80, 90]
    assert lines[4] == "unmix: fit: 50%, 1 min 40 s left, step 500"
    work(Lines("fit", clock=clock), clock, seconds=30)
    assert len(capsys.readouterr().err.splitlines()) == 2
    work(Lines("fit", clock=clock), clock, seconds=9)
    assert capsys.readouterr().err == ""


def test_silence_is_broken_after_ten_minutes(clock, capsys):
    work(Lines("fit", clock=clock), clock, seconds=20_000)
    assert len(capsys.readouterr().err.splitlines()) == 33


def test_a_plan_is_told_once_after_a_few_timed_steps_and_only_of_long_work(clock, capsys):
    work(Lines("fit", "5 restarts x 40 passes over 10,000 rows", clock=clock), clock, seconds=120)
    told = [line for line in capsys.readouterr().err.splitlines() if "restarts" in line]
    assert told == ["unmix: about 2 min 0 s: 5 restarts x 40 passes over 10,000 rows"]
    work(Lines("fit", "1 restart", clock=clock), clock, seconds=4.9)
    assert capsys.readouterr().err == ""


def test_a_guess_serves_until_the_pace_is_known(clock):
    pace = Pace(guess=60.0, clock=clock)
    clock.time = 15.0
    pace.at(0.0)
    plan = Plan("4 refits")
    assert pace.left == 45.0 and plan.once(pace) == ""  # which tells what was measured
    clock.time = 20.0
    pace.at(0.5)
    assert pace.left == 5.0 and plan.once(pace) == "unmix: about 25 s: 4 refits" and plan.once(pace) == ""


def test_a_slow_first_step_of_many_is_not_taken_for_the_pace(clock):
    pace, plan, told = Pace(clock=clock), Plan("a million rows"), []
    for step in range(4000):  # the first block opens the file
        pace.at(step / 4000)
        clock.time += 2.0 if step == 0 else 0.1
        told.append(plan.once(pace))
        assert pace.left is None or pace.left < 500
    assert [line for line in told if line] == [f"unmix: about {duration(402 + 0.2)}: a million rows"]


def test_work_within_work_tells_its_part(monkeypatch):
    told = []
    monkeypatch.setattr(_waiting, "_display", lambda *_: _waiting.nobody(lambda *share: told.append(share)))
    with waiting(True, "all"):
        first, second = stages([3, 1])
        with first, waiting(None, "a part") as show:
            show(0.5, "begun")
            with waiting(False, "hushed") as hushed:
                hushed(0.9, "never seen")
                for part in stages([1]):
                    with part:
                        hushed(1.0, "never seen")
        with second, called("the rest"), waiting(True, "a part") as show:
            show(0.5, "other words")
    assert told == [(0.375, "begun"), (0.75, ""), (0.875, "the rest"), (1.0, "")]


def test_stages_of_nothing_are_quiet():
    for part in stages([1, 1]):
        with part:
            pass
    assert stages([]) == []


@pytest.mark.parametrize("wanted", [True, None, False])
def test_nothing_is_drawn_elsewhere_than_on_a_terminal(wanted, capsys, monkeypatch):
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    with waiting(wanted, "fit", plan="much") as show:
        show(0.5, "half")
    assert capsys.readouterr() == ("", "")


SCRIPT = """
from unmix import _waiting
clock = iter(range(0, 10**6, 37))
_waiting.Pace.__init__.__defaults__ = (None, lambda: next(clock))
with _waiting.waiting(None, "fit", plan="5 restarts") as show:
    for step in range(20):
        show(step / 20, "8 restarts  kl 0.04968  reconstruction 0.3981  penalty 0.06764")
"""


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("columns", [50, 80, 120])
def test_the_time_left_has_room_on_a_terminal(columns):
    ours, theirs = pty.openpty()
    env = os.environ | {"COLUMNS": str(columns), "TERM": "xterm"}
    subprocess.run([sys.executable, "-c", SCRIPT], stderr=theirs, env=env, check=True, timeout=60)
    os.close(theirs)
    shown = b""
    while chunk := _read(ours):
        shown += chunk
    os.close(ours)
    lines = re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode()))
    bars = [line for line in lines if line.startswith("fit ")]
    assert bars and max(map(len, bars)) <= columns
    last = bars[-1]
    assert "95%" in last and re.search(r"(\d+ s|\d+ min \d+ s) left", last)
    assert ("penalty" in last) == (columns == 120) and ("8 rest" in last) == (columns >= 80)
    assert any(re.fullmatch(r"unmix: about \d+ min \d+ s: 5 restarts", line.strip()) for line in lines)


def _read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other end has gone
        return b""


def test_durations_are_written_for_people():
    assert [duration(seconds) for seconds in (0.2, 59.6, 3600)] == ["under 1 s", "1 min 0 s", "1 h 0 min"]
