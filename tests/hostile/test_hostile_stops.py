"""Commands that are stopped, killed, run twice at one place, or lose their disk lose nothing, and say so.

`make test-slow` kills a few fits, and `make test-all` a thousand (UNMIX_KILLS).
"""

import errno
import os
import random
import resource
import shutil
import signal
import time

import numpy as np
import pytest

from hostile.stops import ended, forked, stopped, stopping
from unmix import _files
from unmix._locks import leave, take
from unmix.cli._stops import stoppable
from unmix.training import _checkpoint

KILLS = int(os.environ.get("UNMIX_KILLS", "0"))
FIT = [
    *["fit", "x.npy", "--method", "ddl", "--n-components", "2", "--max-iter", "30", "--n-restarts", "1"],
    *["--device", "cpu"],  # forked processes can't use CUDA
    "--out",
    "m",
]
STOPS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", np.random.default_rng(0).laplace(size=(300, 4)))
    return tmp_path


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "no progress"
        time.sleep(0.001)


@pytest.mark.parametrize(
    "signum", [pytest.param(s, marks=[pytest.mark.slow] * (s != signal.SIGTERM)) for s in STOPS]
)
def test_a_fit_that_is_stopped_goes_on_by_the_command_it_names(signum, folder, unmix):
    assert unmix(*FIT, "--out", "whole").code == 0
    process = forked(FIT, folder)
    wait_for((folder / "m.checkpoint" / "round-0").exists)
    time.sleep(0.1)
    os.kill(process, signum)
    assert ended(process) == STOPS[signum]
    said = [line for line in (folder / "said").read_text().splitlines() if "interrupted" in line]
    assert len(said) == 1 and "To go on: unmix fit x.npy" in said[0]
    assert ended(forked(FIT, folder)) == 0
    assert (folder / "m").read_bytes() == (folder / "whole").read_bytes() or same(folder)
    assert not [name for name in os.listdir(folder) if name.startswith(".") or "checkpoint" in name]


def same(folder):
    """Whether two models agree in every bit but for the seconds that their fits took."""
    import unmix

    one, two = unmix.load(folder / "m"), unmix.load(folder / "whole")
    x = np.load(folder / "x.npy")
    return np.array_equal(one.transform(x), two.transform(x)) and one.restarts_ == two.restarts_


COMMANDS = (
    "fit {w}/x.npy --method ica --n-components 2 --out m",
    "fit {w}/x.npy --method ddl --n-components 2 --out m",
    "choose {w}/x.npz --most 3 --out c.html",
    "trust {w}/ica {w}/x.npy --effort quick --out t.json",
    "transform {w}/ica {w}/x.csv --out z.csv",
    "deconfound {w}/x.csv --batch batch --out d.csv",
    "evaluate {w}/x.npy {w}/x.npy --metrics all --out s.json",
    "certify {w}/ica --data {w}/x.npy --out c.json",
    "certify {w}/mask.csv --out c.html",
    "compare {w}/x.npy {w}/x.npy --out c.html",
    "report {w}/ica --data {w}/x.npy --out r.html",
    "report {w}/results --out r.md",
    "convert {w}/sae c --to sae_lens",
    "simulate --n-samples 300 --out s.npz",
    "show {w}/ica --data {w}/x.npy --out p",
    "reproduce floor.scores --budget smoke --seeds 1 --workers 1 --out r",
    "activations {w}/sets.csv --model {w} --out a",
    "demo --out demo",
)


@pytest.mark.parametrize("signum", STOPS)
@pytest.mark.parametrize("command", COMMANDS, ids=lambda line: "-".join(line.split()[:2]).replace("{w}/", ""))
def test_every_command_that_is_stopped_says_so_in_one_line(command, signum, folder, whole_files):
    """After some of its first calls, on the way into its work, whatever that is."""
    line = [word.format(w=whole_files) for word in command.split()]
    after = random.Random(command + signum.name).randrange(300, 3000)
    assert ended(forked(line, folder, before=lambda: stopping(signum, after))) == STOPS[signum]
    said = (folder / "said").read_text()
    told = [line for line in said.splitlines() if "interrupted" in line]
    assert len(told) == 1 and f": unmix {line[0]} " in told[0] and "Traceback" not in said
    assert "To start again" in told[0] or "To go on" in told[0]
    assert not set(os.listdir(folder)) - {"x.npy", "said", "m.checkpoint", "r", "demo", "a"}


@pytest.mark.parametrize("signum", STOPS)
def test_what_has_no_checkpoint_says_how_to_start_again(signum, folder):
    line = ["evaluate", "x.npy", "x.npy", "--metrics", "all", "--out", "s.json"]
    code, said = stopped(line, folder, signum, 0.3)
    if code:  # else it was done first
        assert code == STOPS[signum] and "To start again: unmix evaluate x.npy" in said
        assert "Traceback" not in said and not (folder / "s.json").exists()


def test_kill_stops_a_job_that_a_script_put_in_the_background():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as shells do for such jobs
    try:
        with stoppable() as code_of:
            signal.raise_signal(signal.SIGINT)
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGTERM)
            assert code_of(130) == 143
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.slow
@pytest.mark.timeout(0)
@pytest.mark.parametrize("part", range(max(KILLS, 10) // 10))
def test_fits_killed_at_any_moment_end_with_the_same_bits(part, folder, unmix):
    assert unmix(*FIT, "--out", "whole").code == 0
    moments, killed = random.Random(part), 0
    while killed < 10:
        process = forked(FIT, folder)
        time.sleep(moments.uniform(0.0, 0.6))
        os.kill(process, signal.SIGKILL)
        code = ended(process)
        killed += code == -signal.SIGKILL
        if code == 0 or killed % 4 == 0:
            if not (folder / "m").exists():
                assert ended(forked(FIT, folder)) == 0, (folder / "said").read_text()
            assert same(folder)
            assert not [name for name in os.listdir(folder) if name.startswith(".m.") and "lock" not in name]
            (folder / "m").unlink()
            shutil.rmtree(folder / "m.checkpoint", ignore_errors=True)


def test_a_temporary_file_of_a_killed_process_is_removed_and_no_other(tmp_path, monkeypatch):
    dead, own, other = (
        tmp_path / f".m.{who}_{'0' * 12}.npz" for who in (f"{host()}_999999999", _files._ours(), "ffffffff_1")
    )
    for file in (dead, own, other):
        file.touch()
    _files.atomic_write(tmp_path / "m.npz", b"x")
    assert not dead.exists() and own.exists() and other.exists()


def host():
    return _files._ours().partition("_")[0]


def test_two_commands_at_one_place_do_not_meet(folder, unmix):
    lock = take(folder / ".m.lock", wait=False)
    result = unmix(*FIT)
    assert result.code == 2 and f"is taken by process {os.getpid()} on" in result.err
    leave(folder / ".m.lock", lock)
    assert unmix(*FIT).code == 0 and not (folder / ".m.lock").exists()


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("how", ["removed", "a file", "full"])
def test_a_fit_outlives_its_checkpoints(how, folder, unmix, monkeypatch):
    write, times = _checkpoint.write, []

    def broken(place, state, config):
        times.append(1)
        if how == "full":
            raise OSError(errno.ENOSPC, "No space left on device")
        shutil.rmtree(folder / "m.checkpoint", ignore_errors=True)
        (folder / "m.checkpoint").unlink(missing_ok=True) if how == "a file" else None
        (folder / "m.checkpoint").touch() if how == "a file" else None
        write(place, state, config)

    monkeypatch.setattr(_checkpoint, "write", broken)
    result = unmix(*FIT)
    assert result.code == 0 and times and (folder / "m").exists()
    assert "the checkpoint could not be written; the fit goes on without" in result.err


def test_what_others_put_beside_checkpoints_stays_and_is_named(folder, unmix, monkeypatch):
    write = _checkpoint.write

    def beside(place, state, config):
        write(place, state, config)
        (folder / "m.checkpoint" / "thesis.tex").write_text("mine")

    monkeypatch.setattr(_checkpoint, "write", beside)
    result = unmix(*FIT)
    assert result.code == 0 and result.err.count("thesis.tex' is not ours, and was left") == 1
    assert os.listdir(folder / "m.checkpoint") == ["thesis.tex"]


@pytest.mark.parametrize(
    "line",
    [
        "simulate --n-samples 5000 --out o.npz",
        "evaluate x.npy x.npy --metrics mcc --out o.html",
        "compare x.npy x.npy --out o.html",
    ],
)
def test_a_result_that_finds_no_room_names_its_place_and_leaves_nothing(line, folder):
    """As on a full disk: no file may be longer than what is said."""

    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))

    before = sorted(os.listdir(folder))
    process = forked(line.split(), folder, before=small)
    assert ended(process) == 2
    said = (folder / "said").read_text().splitlines()[-1]
    assert said.startswith("unmix: error: ") and "make room: 'o." in said
    assert sorted(set(os.listdir(folder)) - {"said"}) == before


def test_a_model_that_finds_no_room_is_kept_elsewhere(folder, unmix, monkeypatch):
    replace, spare = os.replace, folder / "spare"
    spare.mkdir()
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(spare))

    def full(source, target):
        if os.fspath(target) == "m":
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    result = unmix(*FIT)
    (kept,) = spare.iterdir()
    assert result.code == 2 and "No space left" in result.err and kept.name in result.err
    assert not (folder / "m").exists() and not list(folder.glob(".m*"))
    kept.rename(folder / "m")
    monkeypatch.undo()
    import unmix as library

    assert library.load(folder / "m").transform(np.load(folder / "x.npy")).shape == (300, 2)
