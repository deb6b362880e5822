"""Atomic writing: a file is there in full or not at all."""

import os
import stat
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from unmix import _locks
from unmix._files import atomic_path, atomic_write
from unmix._untrusted import read_json, require_regular


@pytest.mark.parametrize("data", ["ü and β", b"\x00\x01"])
def test_text_and_bytes_arrive(tmp_path, data):
    path = atomic_write(tmp_path / "a.bin", data)
    assert path.read_bytes() == (data.encode() if isinstance(data, str) else data)


def test_an_existing_file_is_replaced_and_nothing_else_left(tmp_path):
    path = tmp_path / "a.txt"
    atomic_write(path, "old")
    atomic_write(str(path), "new")
    assert path.read_text() == "new" and list(tmp_path.iterdir()) == [path]


def test_a_failure_keeps_the_old_file_and_leaves_nothing_behind(tmp_path):
    path = atomic_write(tmp_path / "a.txt", "old")
    with pytest.raises(RuntimeError), atomic_path(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_a_reader_sees_the_old_file_until_the_end(tmp_path):
    path = atomic_write(tmp_path / "a.txt", "old")
    with atomic_path(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
        assert temporary.parent == path.parent and temporary.suffix == ".txt"
    assert path.read_text() == "new"


def test_the_usual_permissions_hold(tmp_path):
    plain = tmp_path / "plain"
    plain.write_text("")
    atomic = atomic_write(tmp_path / "atomic", "")
    assert stat.S_IMODE(os.stat(atomic).st_mode) == stat.S_IMODE(os.stat(plain).st_mode)


def test_a_folder_or_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match="must be a file"):
        atomic_write(tmp_path, "x")
    with pytest.raises(FileNotFoundError):
        atomic_write(tmp_path / "none" / "a.txt", "x")


def test_a_file_that_is_removed_while_it_is_looked_at_is_never_called_a_device(tmp_path):
    path, stop = tmp_path / "one.json", threading.Event()

    def come_and_go():
        while not stop.is_set():
            path.write_text("[1]")
            path.unlink()

    with ThreadPoolExecutor(1) as threads:
        other = threads.submit(come_and_go)
        try:
            for _ in range(5000):
                require_regular(path)
        finally:
            stop.set()
        other.result()
    with pytest.raises(FileNotFoundError):
        read_json(path)


def test_a_full_disk_keeps_locks_and_no_file_of_theirs(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_locks.os, "write", full)
    file = _locks.take(tmp_path / ".a.lock", wait=False)
    assert _locks.take(tmp_path / ".a.lock", wait=False) is None
    assert _locks.owner(tmp_path / ".a.lock") == "another process"
    _locks.leave(tmp_path / ".a.lock", file)
    assert list(tmp_path.iterdir()) == []
