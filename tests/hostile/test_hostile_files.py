"""Files that were made to break a reader end every command with one line, soon and in little memory.

Each file meets some of the commands in `make test`, and all of them in `make test-slow`.
"""

import os
import shutil
import socket
import time
from pathlib import Path

import numpy as np
import pytest

from hostile import commands, crafted, guard
from unmix.cli import _app

KINDS = {
    "npy": (crafted.npy, commands.TABLE + commands.MASK + commands.IMAGES),
    "npz": (crafted.npz, commands.TABLE + commands.MASK[:1]),
    "csv": (crafted.csv, commands.TABLE + commands.MASK + commands.SETS[:1]),
    "json": (crafted.documents, commands.MASK + commands.SETS),
    "parquet": (crafted.arrow, commands.TABLE),
    "safetensors": (crafted.safetensors, commands.TABLE + commands.MODEL + commands.SAE),
}
CASES = [(kind, name, content) for kind, (files, _) in KINDS.items() for name, content in files()]
IDS = [f"{kind}-{name}" for kind, name, _ in CASES]
FAST = 2  # commands of a file in `make test`


@pytest.mark.parametrize(("kind", "name", "content"), CASES, ids=IDS)
def test_a_crafted_file_breaks_nothing(kind, name, content, tried, tmp_path):
    check(kind, name, content, tried, tmp_path, FAST)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name", "content"), CASES, ids=IDS)
def test_a_crafted_file_breaks_no_command(kind, name, content, tried, tmp_path):
    check(kind, name, content, tried, tmp_path, None)


def check(kind, name, content, tried, folder, most):
    """Let some commands, or all, read the file."""
    file = folder / f"x.{kind}"
    file.write_bytes(content)
    every = KINDS[kind][1]
    start = IDS.index(f"{kind}-{name}")
    wanted = every if most is None else [every[(start * FAST + k) % len(every)] for k in range(most)]
    assert [bad for command in wanted if (bad := tried(command, file))] == []


REFUSED = {
    "npy": (
        "absurd",
        "overflow",
        "negative",
        "wide",
        "huge items",
        "objects",
        "half a header",
        "long header",
    ),
    "npz": ("encrypted", "unknown compression", "bad crc", "a directory", "no array", "thousands", "absurd"),
    "csv": ("enormous name", "enormous field", "no closing quote", "empty", "ragged", "same names"),
    "json": ("deep", "deep objects", "rather deep", "number", "long number", "no text"),
    "parquet": ("cut", "long footer", "no columns", "deep pandas"),
    "safetensors": ("long header", "deep", "negative", "absurd", "overflow", "beyond", "unknown type"),
}


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, names in REFUSED.items() for name in names]
)
def test_what_can_be_no_table_is_refused(kind, name, tried, tmp_path):
    file = tmp_path / f"x.{kind}"
    file.write_bytes(dict(KINDS[kind][0]())[name])
    command = "certify {f}" if kind == "json" else "transform {w}/ica {f} --out {o}/z.csv"
    assert not tried(command, file, refuse=True)


@pytest.fixture(scope="module")
def bombs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bombs")
    return {
        name: (folder / name, (folder / name).write_bytes(content))[0] for name, content in crafted.bombs()
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["bomb.npz", "bomb.csv.gz", "line.csv.gz", "bomb.parquet", "bomb.feather", "bomb.h5ad"]
)
@pytest.mark.parametrize("command", [c for c in commands.TABLE if " {f}" in c and "{w}/sae" not in c][::3])
def test_a_small_file_that_holds_gigabytes_is_not_unpacked(name, command, bombs, tried):
    assert not tried(command, bombs[name], refuse=True)


@pytest.mark.parametrize("suffix", [".csv", ".npy", ".npz", ".parquet", ".json", ".h5ad", ".safetensors", ""])
@pytest.mark.parametrize("what", ["pipe", "device", "socket", "folder"])
def test_what_is_no_file_is_not_waited_for(what, suffix, tried, tmp_path):
    place = tmp_path / f"x{suffix}"
    if what == "pipe":
        os.mkfifo(place)
    elif what == "device":
        place.symlink_to("/dev/zero")
    elif what == "socket":
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(os.path.relpath(place))
    else:
        place.mkdir()
    for command in (
        "certify {f}",
        "transform {w}/ica {f} --out {o}/z.csv",
        "trust {f} {w}/x.npy",
        "convert {f} {o}/c",
    ):
        assert not tried(command, place, refuse=True)


@pytest.mark.parametrize("name", ["cfg.json", "sae_weights.safetensors", "sparsity.safetensors"])
@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"5", b'{"k": [[]], "architecture": "topk"}', b"[" * 9999],
    ids=lambda c: c[:9].decode(),
)
def test_a_damaged_part_of_a_foreign_dictionary_is_named(name, content, tried, whole_files, tmp_path):
    shutil.copytree(whole_files / "lens", tmp_path / "lens")
    (tmp_path / "lens" / name).write_bytes(content)
    for command in commands.SAE:
        assert not tried(command, tmp_path / "lens", refuse=True)


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"5", b"{}", b'{"format": "unmix-activations-1"}', b"[" * 9999]
)
def test_a_damaged_store_of_activations_is_refused(content, tried, whole_files, tmp_path):
    shutil.copytree(whole_files / "store", tmp_path / "store")
    (tmp_path / "store" / "index.json").write_bytes(content)
    for command in commands.STORE[:3]:
        assert not tried(command, tmp_path / "store", refuse=True)


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (lambda: _raised(FloatingPointError("broken")), "exit code 1"),
        (lambda: np.empty(1 << 40, dtype=np.uint8), "want of memory"),
        (lambda: {}["x"], "KeyError"),
        (lambda: time.sleep(9), "no end within"),
        (lambda: Path("left").touch() or int("x"), "files were left"),
    ],
    ids=["breakdown", "memory", "traceback", "hang", "files"],
)
def test_a_command_that_breaks_is_seen_to(broken, words, tmp_path, monkeypatch):
    monkeypatch.setattr(guard, "SECONDS", 1)
    monkeypatch.setattr(guard, "main", lambda arguments: _door(broken))
    monkeypatch.chdir(tmp_path)
    assert words in guard.faults([], tmp_path)


def _raised(error):
    raise error


def _door(broken):
    """Leave as the command line does."""
    monkey = pytest.MonkeyPatch()
    with monkey.context() as patch:
        patch.setattr(_app, "app", lambda **_: broken())
        _app.main([])


@pytest.mark.slow
def test_a_line_of_very_many_columns_is_read_within_bounds(tried, tmp_path):
    file, n = tmp_path / "wide.csv", 100_000
    lines = [",".join(f"c{j}" for j in range(n)), *[",".join(["1.5"] * n)] * 5]
    file.write_text("\n".join(lines))
    assert not tried("transform {w}/ica {f} --out {o}/z.csv", file, refuse=True)


@pytest.mark.parametrize(
    "command",
    [
        "transform {w}/ica {w}/x.npy --out /proc/self/z.npy",
        "transform {w}/ica {w}/x.npy --out {f}/z.npy",
        "transform {w}/ica {w}/x.npy --out {o}/" + "n" * 300 + ".npy",
        "fit {w}/x.npy --method ica --n-components 2 --out {f}/m",
        "report {w}/ica --data {w}/x.npy --out {f}/r.html",
        "reproduce floor.scores --budget smoke --dry-run --out {f}/results",
        "reproduce floor.scores --budget smoke --dry-run --out {f}/deep/results",
    ],
)
def test_a_place_that_takes_no_file_is_refused(command, tried, tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    assert not tried(command, file, refuse=True)
    assert file.read_text() == "mine"
